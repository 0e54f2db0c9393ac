// The bytes of the border: where every field of every struct lies on LP64, compared with
// layout.golden. A changed line there is a changed ABI: while the major is 0 that needs a new
// minor, afterwards only lines at the end of a struct may be new. UPDATE_GOLDEN=1 rewrites the
// file.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "detent/detent.h"
#include "detent/ext/gang.h"
#include "detent/ext/logs.h"
#include "detent/ext/permissions.h"
#include "detent/ext/validate_live.h"
#include "detent/services/expr.h"
#include "detent/services/kube.h"
#include "detent/services/kv.h"
#include "detent/services/metrics.h"
#include "detent/services/secrets.h"
#include "detent/services/tasks.h"
#include "detent/services/trace.h"
#include "detent/services/watch.h"

namespace {

struct FieldLayout {
  std::string name;
  size_t offset;
  size_t size;
  std::string kind;
};

struct StructLayout {
  std::string name;
  size_t size;
  std::vector<FieldLayout> fields;
};

// The word for a field's type, as far as the border's marshalling has to tell types apart.
template <typename T>
std::string KindOf() {
  if constexpr (std::is_same_v<T, detent_str>) return "str";
  if constexpr (std::is_same_v<T, detent_bytes>) return "bytes";
  if constexpr (std::is_same_v<T, double>) return "f64";
  if constexpr (std::is_pointer_v<T>) {
    return std::is_function_v<std::remove_pointer_t<T>> ? "function" : "pointer";
  }
  if constexpr (std::is_integral_v<T>) {
    return (std::is_signed_v<T> ? "i" : "u") + std::to_string(sizeof(T) * 8);
  }
  return "struct";  // not allowed across the border (D-SIZE-2)
}

std::vector<StructLayout> ActualLayout() {
  std::vector<StructLayout> all;
#define STRUCT(type) all.push_back({#type, sizeof(type), {}});
#define FIELD(type, field)                                                                        \
  all.back().fields.push_back({#field, offsetof(type, field), sizeof(std::declval<type>().field), \
                               KindOf<decltype(type::field)>()});
#define END(type)
#include "tests/abi/layout_fields.inc"
#undef STRUCT
#undef FIELD
#undef END
  return all;
}

std::string Text(const std::vector<StructLayout>& all) {
  std::ostringstream out;
  out << "# struct field offset size kind (LP64); a struct's own line: its size\n";
  for (const StructLayout& item : all) {
    out << item.name << " - - " << item.size << " struct\n";
    for (const FieldLayout& field : item.fields) {
      out << item.name << ' ' << field.name << ' ' << field.offset << ' ' << field.size << ' '
          << field.kind << '\n';
    }
  }
  return out.str();
}

std::string ReadFile(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Layout, IsTheGoldenOne) {
  const std::string actual = Text(ActualLayout());
  if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(DETENT_LAYOUT_GOLDEN) << actual;
  std::istringstream want(ReadFile(DETENT_LAYOUT_GOLDEN)), got(actual);
  std::string want_line, got_line;
  while (true) {
    const bool more_wanted = static_cast<bool>(std::getline(want, want_line));
    const bool more_got = static_cast<bool>(std::getline(got, got_line));
    ASSERT_EQ(more_wanted, more_got) << "a struct or field was added or removed: " << got_line;
    if (!more_wanted) break;
    ASSERT_EQ(want_line, got_line) << "the ABI changed here";
  }
}

TEST(Layout, HasNoHolesSoThatNoFieldIsForgotten) {
  for (const StructLayout& item : ActualLayout()) {
    size_t end = 0;
    for (const FieldLayout& field : item.fields) {
      EXPECT_EQ(field.offset, end) << item.name << "." << field.name
                                   << ": padding, or a field missing from layout_fields.inc";
      end = field.offset + field.size;
    }
    EXPECT_EQ(end, item.size) << item.name << ": padding or a missing field at its end";
  }
}

TEST(Layout, StartsEveryGrowingStructWithItsSize) {
  for (const StructLayout& item : ActualLayout()) {
    if (item.name == "detent_str" || item.name == "detent_bytes") continue;  // frozen
    if (item.name == "detent_permission") continue;  // frozen as well: it is in an array
    EXPECT_EQ(item.fields.front().name, "size") << item.name;
    EXPECT_EQ(item.fields.front().kind, "u32") << item.name;
  }
}

TEST(Layout, EmbedsNoStructThatMayGrow) {
  for (const StructLayout& item : ActualLayout()) {
    for (const FieldLayout& field : item.fields) {
      EXPECT_NE(field.kind, "struct") << item.name << "." << field.name;
    }
  }
}

TEST(Layout, KnowsEveryStructOfTheHeaders) {
  const std::string list = ReadFile(DETENT_LAYOUT_FIELDS);
  for (const char* header : {DETENT_PUBLIC_HEADERS}) {
    std::istringstream lines(ReadFile(header));
    const std::string start = "typedef struct ";
    for (std::string line; std::getline(lines, line);) {
      const size_t brace = line.find(" {");
      if (line.rfind(start, 0) != 0 || brace == std::string::npos) continue;
      const std::string name = line.substr(start.size(), brace - start.size());
      EXPECT_NE(list.find("STRUCT(" + name + ")"), std::string::npos)
          << header << ": add " << name << " to layout_fields.inc";
    }
  }
}

}  // namespace
