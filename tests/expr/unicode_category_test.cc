#include "core/expr/unicode_category.h"

#include <gtest/gtest.h>

#include <map>

#include "core/base/json.h"

namespace detent {
namespace {

size_t CountOf(const char* name) {
  std::vector<CodeRange> ranges;
  EXPECT_TRUE(AppendCategory(name, ranges)) << name;
  size_t count = 0;
  for (const CodeRange& range : ranges) count += range.last - range.first + 1;
  return count;
}

TEST(UnicodeCategory, HasAsManyCharactersAsUnicodeSays) {
  const std::map<std::string, size_t> counts = {
      {"Lu", 1831}, {"Ll", 2233}, {"Lt", 31},  {"Lm", 397},   {"Lo", 132234}, {"Mn", 1985},
      {"Mc", 452},  {"Me", 13},   {"Nd", 680}, {"Nl", 236},   {"No", 915},    {"Pc", 10},
      {"Pd", 26},   {"Ps", 79},   {"Pe", 77},  {"Pi", 12},    {"Pf", 10},     {"Po", 628},
      {"Sm", 948},  {"Sc", 63},   {"Sk", 125}, {"So", 6639},  {"Zs", 17},     {"Zl", 1},
      {"Zp", 1},    {"Cc", 65},   {"Cf", 170}, {"Co", 137468}};
  size_t all = 0;
  for (const auto& [name, count] : counts) {
    EXPECT_EQ(CountOf(name.c_str()), count) << name;
    all += count;
  }
  EXPECT_EQ(all - 65 - 137468, 149'813u) << "but control and private ones, what 15.1 announces";
  constexpr size_t kSurrogates = 2048;
  EXPECT_EQ(CountOf("Cn") + all + kSurrogates, size_t{kCodePointMax} + 1) << "each is in one";
  EXPECT_EQ(CountOf("L"), 1831u + 2233 + 31 + 397 + 132234);
}

TEST(UnicodeCategory, KnowsItsNames) {
  std::vector<CodeRange> ranges;
  for (const char* name : {"", "X", "Lx", "lu", "LU", "Cs", "Letter"}) {
    EXPECT_FALSE(AppendCategory(name, ranges)) << name;
  }
  EXPECT_TRUE(ranges.empty());
  EXPECT_TRUE(AppendCategory("Zl", ranges));
  EXPECT_TRUE(AppendCategory("Zp", ranges));
  EXPECT_EQ(ranges, (std::vector<CodeRange>{{0x2028, 0x2029}})) << "neighbours are joined";
}

TEST(CodePoints, AreReadAndWritten) {
  for (const char32_t c :
       {U'\0', U'a', U'\x7F', U'\x80', U'\x7FF', U'\x800', U'\xFFFF', U'\x10000', U'\x10FFFF'}) {
    std::string text;
    AppendCodePoint(text, c);
    EXPECT_TRUE(IsUtf8(text));
    size_t at = 0;
    EXPECT_EQ(NextCodePoint(text, at), c);
    EXPECT_EQ(at, text.size());
  }
}

TEST(CodePoints, OfBytesThatAreNoUtf8AreReplacements) {
  for (const char* text : {"\x80", "\xFF", "\xC0\x80", "\xC3",
                           "\xC3"
                           "a",
                           "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF0\x9F\x98"}) {
    size_t at = 0;
    EXPECT_EQ(NextCodePoint(text, at), char32_t{0xFFFD}) << text;
    EXPECT_EQ(at, 1u) << "one byte at a time";
  }
}

}  // namespace
}  // namespace detent
