// RFC 9535, sections 2.2, 2.3, 2.5 and 2.7: the root, selectors but filters, segments, normalized
// paths.

#include <gtest/gtest.h>

#include <optional>

#include "tests/expr/jsonpath_table.h"

namespace detent {
namespace {

using testing::ExpectPaths;

TEST(JsonPathRoot, IsTheWholeDocument) {
  ExpectPaths(R"({"a":1})", {{"$", "$", "an object"}});
  ExpectPaths("[1]", {{"$", "$", "an array"}});
  ExpectPaths("null", {{"$", "$", "null is a value"}, {"$.a", "", "null has no members"}});
  ExpectPaths("\"a\"", {{"$", "$", "a string"}, {"$[0]", "", "a string has no elements"}});
}

TEST(JsonPathNames, SelectAMemberOfAnObject) {
  ExpectPaths(R"({"a":{"b":1},"a b":2,"":3,"A":4,"_x1":5,"é":6,"😀":7,"0":8,"$":9})",
              {
                  {"$.a", "$['a']", "after a dot"},
                  {"$.a.b", "$['a']['b']", "twice"},
                  {"$['a']", "$['a']", "in single quotes"},
                  {"$[\"a\"]", "$['a']", "in double quotes"},
                  {"$['a']['b']", "$['a']['b']", "both in brackets"},
                  {"$['a'].b", "$['a']['b']", "a dot after a bracket"},
                  {"$['a b']", "$['a b']", "space in a name"},
                  {"$['']", "$['']", "the empty name"},
                  {"$.A", "$['A']", "case matters"},
                  {"$._x1", "$['_x1']", "an underscore first, a digit later"},
                  {"$.é", "$['é']", "beyond ASCII, two bytes"},
                  {"$.😀", "$['😀']", "beyond ASCII, four bytes"},
                  {"$['0']", "$['0']", "a digit is a name if it is quoted"},
                  {"$['$']", "$['$']", "a dollar is a name if it is quoted"},
                  {"$[0]", "", "an index is not a name"},
                  {"$.none", "", "no such member"},
                  {"$.a.b.c", "", "a number has no members"},
                  {"$.none.b", "", "nothing below nothing"},
                  {"$['a','A']", "$['a'] $['A']", "two names"},
                  {"$['A','a']", "$['A'] $['a']", "in the order of the query"},
                  {"$['a','a']", "$['a'] $['a']", "as often as it is named"},
                  {"$['a','none']", "$['a']", "what is missing is left out"},
              });
  ExpectPaths("[1,2]", {{"$.a", "", "an array has no names"}, {"$['0']", "", "nor digits"}});
  ExpectPaths(R"({"\u00e9":1,"e\u0301":2})",
              {{R"($['\u00e9'])", "$['\xC3\xA9']", "names are not normalized: composed"},
               {R"($['e\u0301'])", "$['e\xCC\x81']", "and decomposed"}});
}

TEST(JsonPathNames, AreUnescapedAsInJson) {
  ExpectPaths(R"({"a\"b":1,"a'b":2,"a\\b":3,"a/b":4,"\b\f\n\r\t":5,"☺":6,"𝄞":7,"\u0000":8})",
              {
                  {R"($["a\"b"])", "$['a\"b']", "an escaped double quote"},
                  {R"($['a"b'])", "$['a\"b']", "a double quote within single ones"},
                  {R"($["a'b"])", "$['a\\'b']", "a single quote within double ones"},
                  {R"($['a\'b'])", "$['a\\'b']", "an escaped single quote"},
                  {R"($['a\\b'])", "$['a\\\\b']", "a backslash"},
                  {R"($["a\\b"])", "$['a\\\\b']", "a backslash in double quotes"},
                  {R"($['a\/b'])", "$['a/b']", "a slash may be escaped"},
                  {R"($['a/b'])", "$['a/b']", "and need not be"},
                  {R"($['\b\f\n\r\t'])", R"($['\b\f\n\r\t'])", "control characters by letter"},
                  {R"($['\u0008\u000c\u000A\u000d\u0009'])", R"($['\b\f\n\r\t'])", "by number"},
                  {R"($['\u263A'])", "$['☺']", "upper-case digits"},
                  {R"($['\u263a'])", "$['☺']", "lower-case digits"},
                  {R"($['\uD834\uDD1E'])", "$['𝄞']", "a pair of surrogates"},
                  {R"($["\ud834\udd1e"])", "$['𝄞']", "the same in lower case"},
                  {"$['𝄞']", "$['𝄞']", "the character itself"},
                  {R"($['\u0000'])", R"($['\u0000'])", "even NUL"},
                  {R"($['\u0061\u0022b'])", "$['a\"b']", "letters by number"},
              });
}

TEST(JsonPathWildcards, SelectAllChildren) {
  ExpectPaths(R"({"b":1,"a":[2,{"c":3}]})",
              {
                  {"$.*", "$['b'] $['a']", "members in the document's order"},
                  {"$[*]", "$['b'] $['a']", "the same in brackets"},
                  {"$.a.*", "$['a'][0] $['a'][1]", "elements"},
                  {"$.*.*", "$['a'][0] $['a'][1]", "twice; a number has no children"},
                  {"$.a[*].c", "$['a'][1]['c']", "what has no such member is left out"},
                  {"$[*,*]", "$['b'] $['a'] $['b'] $['a']", "two of them"},
                  {"$.a[*,0]", "$['a'][0] $['a'][1] $['a'][0]", "with an index"},
              });
  ExpectPaths("{}", {{"$.*", "", "an empty object"}});
  ExpectPaths("[]", {{"$[*]", "", "an empty array"}});
  ExpectPaths("\"abc\"", {{"$[*]", "", "characters are no children"}});
}

TEST(JsonPathIndexes, CountFromTheStartOrFromTheEnd) {
  ExpectPaths(R"(["a","b","c"])", {
                                      {"$[0]", "$[0]", "the first is 0"},
                                      {"$[2]", "$[2]", "the last"},
                                      {"$[3]", "", "beyond the end"},
                                      {"$[-1]", "$[2]", "the last from the end"},
                                      {"$[-3]", "$[0]", "the first from the end"},
                                      {"$[-4]", "", "before the start"},
                                      {"$[2,0]", "$[2] $[0]", "in the order of the query"},
                                      {"$[0,0,-3]", "$[0] $[0] $[0]", "as often as it is named"},
                                      {"$[0]['a']", "", "a string has no members"},
                                      {"$[9007199254740991]", "", "the largest there may be"},
                                      {"$[-9007199254740991]", "", "the smallest there may be"},
                                  });
  ExpectPaths("[]", {{"$[0]", "", "empty"}, {"$[-1]", "", "empty from the end"}});
  ExpectPaths(R"({"0":1,"a":2})", {{"$[0]", "", "members have no index"}});
}

TEST(JsonPathSlices, SelectRangesOfElements) {
  ExpectPaths("[0,1,2,3,4,5,6]",
              {
                  {"$[1:3]", "$[1] $[2]", "the end is excluded"},
                  {"$[5:]", "$[5] $[6]", "no end"},
                  {"$[:2]", "$[0] $[1]", "no start"},
                  {"$[::3]", "$[0] $[3] $[6]", "a step alone"},
                  {"$[1:5:2]", "$[1] $[3]", "all three"},
                  {"$[5:1:-2]", "$[5] $[3]", "backwards, the end still excluded"},
                  {"$[::-3]", "$[6] $[3] $[0]", "backwards from the last to the first"},
                  {"$[-2:]", "$[5] $[6]", "a start from the end"},
                  {"$[:-5]", "$[0] $[1]", "an end from the end"},
                  {"$[3:3]", "", "nothing between"},
                  {"$[4:2]", "", "forwards from behind"},
                  {"$[2:4:-1]", "", "backwards from before"},
                  {"$[1:5:0]", "", "a step of 0 selects nothing"},
                  {"$[5:100]", "$[5] $[6]", "an end beyond the end"},
                  {"$[-100:1]", "$[0]", "a start before the start"},
                  {"$[100:]", "", "a start beyond the end"},
                  {"$[100:4:-1]", "$[6] $[5]", "backwards from beyond the end"},
                  {"$[1:-100:-1]", "$[1] $[0]", "backwards to before the start"},
                  {"$[:]", "$[0] $[1] $[2] $[3] $[4] $[5] $[6]", "neither"},
                  {"$[::]", "$[0] $[1] $[2] $[3] $[4] $[5] $[6]", "a second colon alone"},
                  {"$[6:9007199254740991:9007199254740991]", "$[6]", "the largest numbers"},
                  {"$[0:-9007199254740991:-9007199254740991]", "$[0]", "the smallest numbers"},
                  {"$[0:2,1]", "$[0] $[1] $[1]", "beside an index"},
                  {"$[ 1 : 5 : 2 ]", "$[1] $[3]", "space is free"},
              });
  ExpectPaths(R"({"0":1})", {{"$[:]", "", "an object has no slices"}});
  ExpectPaths("\"abc\"", {{"$[:]", "", "nor has a string"}});
}

// Section 2.3.4.2.2, as it is written there.
std::string SliceByDefinition(int64_t length, const std::optional<int64_t>& first,
                              const std::optional<int64_t>& last, int64_t step) {
  std::string paths;
  if (step == 0) return paths;
  const auto normalize = [length](int64_t i) { return i >= 0 ? i : length + i; };
  const int64_t start = normalize(first.value_or(step > 0 ? 0 : length - 1));
  const int64_t end = normalize(last.value_or(step > 0 ? length : -length - 1));
  const auto add = [&paths](int64_t i) {
    paths += (paths.empty() ? "$[" : " $[") + std::to_string(i) + "]";
  };
  if (step > 0) {
    const int64_t lower = std::min(std::max<int64_t>(start, 0), length);
    const int64_t upper = std::min(std::max<int64_t>(end, 0), length);
    for (int64_t i = lower; i < upper; i += step) add(i);
  } else {
    const int64_t upper = std::min(std::max<int64_t>(start, -1), length - 1);
    const int64_t lower = std::min(std::max<int64_t>(end, -1), length - 1);
    for (int64_t i = upper; lower < i; i += step) add(i);
  }
  return paths;
}

TEST(JsonPathSlices, AgreeWithTheDefinitionForAllSmallNumbers) {
  const auto text = [](const std::optional<int64_t>& number) {
    return number ? std::to_string(*number) : std::string();
  };
  std::vector<std::optional<int64_t>> bounds{std::nullopt};
  for (int64_t i = -5; i <= 5; ++i) bounds.emplace_back(i);
  Json document = Json::Array();
  for (int64_t length = 0; length <= 4; ++length) {
    for (const auto& start : bounds) {
      for (const auto& end : bounds) {
        for (int64_t step = -3; step <= 3; ++step) {
          const std::string query =
              "$[" + text(start) + ":" + text(end) + ":" + std::to_string(step) + "]";
          const auto located = Expression::Compile(query, ExprDialect::kJsonPath)->Locate(document);
          std::string paths;
          for (const auto& each : *located) paths += (paths.empty() ? "" : " ") + each.path;
          ASSERT_EQ(paths, SliceByDefinition(length, start, end, step))
              << query << " of " << length;
        }
      }
    }
    document.Append(length);
  }
}

TEST(JsonPathDescendants, AreVisitedFromTheTopInOrder) {
  ExpectPaths(
      R"({"o":{"a":1,"b":[2,{"a":3}]},"a":[4,[5]]})",
      {
          {"$..a", "$['a'] $['o']['a'] $['o']['b'][1]['a']", "an object before its children"},
          {"$..[0]", "$['o']['b'][0] $['a'][0] $['a'][1][0]", "indexes"},
          {"$..*",
           "$['o'] $['a'] $['o']['a'] $['o']['b'] $['o']['b'][0] $['o']['b'][1] "
           "$['o']['b'][1]['a'] $['a'][0] $['a'][1] $['a'][1][0]",
           "everything but the root"},
          {"$..[*]",
           "$['o'] $['a'] $['o']['a'] $['o']['b'] $['o']['b'][0] $['o']['b'][1] "
           "$['o']['b'][1]['a'] $['a'][0] $['a'][1] $['a'][1][0]",
           "the same in brackets"},
          {"$..['a','b']", "$['a'] $['o']['a'] $['o']['b'] $['o']['b'][1]['a']",
           "two names at each"},
          {"$..[-1:]", "$['o']['b'][1] $['a'][1] $['a'][1][0]", "slices"},
          {"$.o..a", "$['o']['a'] $['o']['b'][1]['a']", "below a member"},
          {"$..b..a", "$['o']['b'][1]['a']", "twice"},
          {"$..b[1].a", "$['o']['b'][1]['a']", "and on from there"},
          {"$..none", "", "nowhere"},
          {"$.o.a..*", "", "a number has nothing below"},
      });
  ExpectPaths("[[[1]]]", {{"$..[0]", "$[0] $[0][0] $[0][0][0]", "at every depth"},
                          {"$..[0]..[0]", "$[0][0] $[0][0][0] $[0][0][0]", "each way counts"}});
  ExpectPaths(R"([{"a":{"a":1}}])", {{"$..a..a", "$[0]['a']['a']", "below, not itself"},
                                     {"$..a.a", "$[0]['a']['a']", "a child"}});
}

TEST(JsonPathSpace, IsFreeBetweenSegmentsAndWithinBrackets) {
  const char* const document = R"({"a":{"b":[1,2,3]}})";
  ExpectPaths(document,
              {
                  {"$ .a", "$['a']", "before a segment"},
                  {"$\n.a\t.b\r[0]", "$['a']['b'][0]", "every kind"},
                  {"$ ['a']", "$['a']", "before a bracket"},
                  {"$ ..b", "$['a']['b']", "before a descendant"},
                  {"$[ 'a' ]", "$['a']", "around a name"},
                  {"$[\n'a'\t,\r'a' ]", "$['a'] $['a']", "around a comma"},
                  {"$.a.b[ 0 ]", "$['a']['b'][0]", "around an index"},
                  {"$.a.b[ * ]", "$['a']['b'][0] $['a']['b'][1] $['a']['b'][2]", "around a star"},
                  {"$.a.b[1\n:\t3\r:1]", "$['a']['b'][1] $['a']['b'][2]", "around colons"},
                  {"$.a.b[: 1]", "$['a']['b'][0]", "after a colon"},
                  {"$.a.b[2 :]", "$['a']['b'][2]", "before a colon"},
                  {"$.a.b[ ? @ > 2 ]", "$['a']['b'][2]", "around a filter"},
              });
}

TEST(JsonPathPaths, AreNormalized) {
  ExpectPaths("{\"\\u0001\":1,\"\\u001f\":2,\"'\":3,\"\\\"\":4,\"\\u007f\":5,\"\\u000b\":6}",
              {{"$.*", "$['\\u0001'] $['\\u001f'] $['\\''] $['\"'] $['\x7f'] $['\\u000b']",
                "lower-case digits, and only what must be escaped"}});
}

}  // namespace
}  // namespace detent
