#include "core/base/text_position.h"

#include <gtest/gtest.h>

namespace detent {
namespace {

TEST(TextPosition, CountsAsAnEditorDoes) {
  const std::string_view text = "ab\n\xC3\xA9z\r\n\nq";
  struct Case {
    size_t offset;
    TextPosition position;
    const char* because;
  };
  const Case cases[] = {
      {0, {1, 1}, "the beginning"},
      {1, {1, 2}, "the second column"},
      {2, {1, 3}, "the line feed itself"},
      {3, {2, 1}, "the next line"},
      {5, {2, 2}, "two bytes are one character"},
      {8, {3, 1}, "an empty line"},
      {9, {4, 1}, "the last line"},
      {10, {4, 2}, "the end"},
      {99, {4, 2}, "beyond the end"},
  };
  for (const Case& c : cases) EXPECT_EQ(PositionAt(text, c.offset), c.position) << c.because;
  EXPECT_EQ(PositionAt("", 0), (TextPosition{1, 1}));
  EXPECT_EQ(Where({3, 7}), "line 3, column 7: ");
}

}  // namespace
}  // namespace detent
