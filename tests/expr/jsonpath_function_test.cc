// RFC 9535, section 2.4: functions.

#include <gtest/gtest.h>

#include "tests/expr/jsonpath_table.h"

namespace detent {
namespace {

using testing::ExpectPaths;

TEST(JsonPathLength, CountsCharactersElementsAndMembers) {
  ExpectPaths(
      R"(["","ab","é☺😀",[],[1,2],{},{"a":1,"b":2},12,true,null])",
      {
          {"$[?length(@)==0]", "$[0] $[3] $[5]", "empty ones"},
          {"$[?length(@)==2]", "$[1] $[4] $[6]", "two of each kind"},
          {"$[?length(@)==3]", "$[2]", "characters, not bytes"},
          {"$[?length(@)>=0]", "$[0] $[1] $[2] $[3] $[4] $[5] $[6]", "other kinds have no length"},
          {"$[?length(@)==length($[1])]", "$[1] $[4] $[6]", "on both sides"},
          {"$[?length(@.none)==length(@.nor)]", "$[0] $[1] $[2] $[3] $[4] $[5] $[6] $[7] $[8] $[9]",
           "what has no length is nothing, and nothing equals nothing"},
          {"$[?length(@)==length(@.none)]", "$[7] $[8] $[9]",
           "the length of a number is nothing, too"},
          {"$[?length('abc')==3]", "$[0] $[1] $[2] $[3] $[4] $[5] $[6] $[7] $[8] $[9]",
           "of a literal"},
          {"$[?length(1)==1]", "", "a literal number has none"},
          {"$[?length(length(@))==1]", "", "nor has a length"},
          {"$[?length(value($..b))==1]", "", "a number found by value()"},
          {"$[?length(@)<2]", "$[0] $[3] $[5]", "compared by order"},
          {"$[?2==length(@)]", "$[1] $[4] $[6]", "on the right"},
      });
}

TEST(JsonPathCount, CountsWhatAPathSelects) {
  ExpectPaths(R"([[],[1],[1,[2]],{"a":1,"b":[2]},3])",
              {
                  {"$[?count(@.*)==0]", "$[0] $[4]", "none"},
                  {"$[?count(@.*)==1]", "$[1]", "one"},
                  {"$[?count(@.*)==2]", "$[2] $[3]", "two"},
                  {"$[?count(@..*)==3]", "$[2] $[3]", "descendants"},
                  {"$[?count(@.a)==1]", "$[3]", "a path to one"},
                  {"$[?count(@)==1]", "$[0] $[1] $[2] $[3] $[4]", "the node itself"},
                  {"$[?count(@[0,0])==2]", "$[1] $[2]", "as often as it is selected"},
                  {"$[?count($.*)==5]", "$[0] $[1] $[2] $[3] $[4]", "of the root"},
                  {"$[?count(@[?@>1])==1]", "", "a filter, within an array of one array"},
                  {"$[?count(@.*)>count(@[0:1])]", "$[2] $[3]", "on both sides"},
                  {"$[?count(@.none)==0]", "$[0] $[1] $[2] $[3] $[4]", "nothing counts as 0"},
              });
}

TEST(JsonPathValue, IsTheOnlyValueThatAPathSelects) {
  ExpectPaths(R"([{"a":{"c":1}},{"a":{"c":1},"b":{"c":1}},{},{"c":2},[1]])",
              {
                  {"$[?value(@..c)==1]", "$[0]", "one; several are none"},
                  {"$[?value(@..c)==2]", "$[3]", "another one"},
                  {"$[?value(@.*)==1]", "$[4]", "an element"},
                  {"$[?value(@..c)==value(@..none)]", "$[1] $[2] $[4]", "several are nothing"},
                  {"$[?value(@.*)==$[0].a]", "$[0]", "an object"},
                  {"$[?value(@..c)!=1]", "$[1] $[2] $[3] $[4]", "nothing is unequal"},
              });
}

TEST(JsonPathMatch, ComparesTheWholeText) {
  ExpectPaths(R"([{"t":"ab"},{"t":"abc"},{"t":"xab"},{"t":"a\nb"},{"t":1},{},{"t":null},{"t":""}])",
              {
                  {"$[?match(@.t,'ab')]", "$[0]", "not a part"},
                  {"$[?match(@.t,\"ab\")]", "$[0]", "in double quotes"},
                  {"$[?match(@.t,'ab.*')]", "$[0] $[1]", "with what follows"},
                  {"$[?match(@.t,'.*ab')]", "$[0] $[2]", "with what precedes"},
                  {"$[?match(@.t,'a.b')]", "", "a dot is no line break"},
                  {R"($[?match(@.t,'a\\nb')])", "$[3]", "an escape of the pattern"},
                  {"$[?match(@.t,'')]", "$[7]", "an empty pattern"},
                  {"$[?!match(@.t,'ab')]", "$[1] $[2] $[3] $[4] $[5] $[6] $[7]",
                   "what is no text does not match"},
                  {"$[?match(@.t,'a|b|ab')]", "$[0]", "alternatives belong to the whole"},
                  {"$[?match(@.t,'^ab$')]", "$[0]", "anchors change nothing"},
                  {"$[?match(@.t,'ab')&&@.t=='ab']", "$[0]", "beside a comparison"},
                  {"$[?(match(@.t,'ab'))]", "$[0]", "in parentheses"},
                  {"$[?match('ab',@.t)]", "$[0]", "the pattern from the document"},
                  {"$[?match(@.t,@.t)]", "$[0] $[1] $[2] $[3] $[7]", "by itself"},
                  {"$[?match(@.t,1)]", "", "a pattern that is no text"},
                  {"$[?match(@.t,null)]", "", "or null"},
                  {"$[?match(1,'1')]", "", "a text that is no text"},
                  {"$[?match(@.t,value($[0].*))]", "$[0]", "the value of a path"},
                  {"$[?match(@.t,$[0].t)]", "$[0]", "from the root"},
                  {"$[?match(@.t,@.none)]", "", "a pattern that is not there"},
              });
}

TEST(JsonPathSearch, LooksForAPart) {
  ExpectPaths(R"(["ab","abc","xab","x","",1,"a.b","A"])",
              {
                  {"$[?search(@,'ab')]", "$[0] $[1] $[2]", "anywhere"},
                  {"$[?search(@,'^ab')]", "$[0] $[1]", "at the beginning"},
                  {"$[?search(@,'ab$')]", "$[0] $[2]", "at the end"},
                  {"$[?search(@,'')]", "$[0] $[1] $[2] $[3] $[4] $[6] $[7]", "nothing is anywhere"},
                  {R"($[?search(@,'\\.')])", "$[6]", "an escaped dot"},
                  {"$[?search(@,'[.]')]", "$[6]", "a dot in a class"},
                  {"$[?search(@,'[b-x]')]", "$[0] $[1] $[2] $[3] $[6]", "a class"},
                  {"$[?search(@,'\\\\p{Lu}')]", "$[7]", "a category"},
                  {"$[?!search(@,'a')]", "$[3] $[4] $[5] $[7]", "not"},
                  {"$[?search('xaby',@)]", "$[0] $[2] $[3] $[4]", "each as a pattern"},
              });
}

TEST(JsonPathMatch, TakesWhatIsNoPatternForOneThatMatchesNothing) {
  const auto document = ParseJson(R"([{"t":"a","p":"a"},{"t":"(","p":"("},{"t":"1","p":"\\d"}])");
  for (const auto& [query, count] :
       {std::pair("$[?match(@.t,@.p)]", 1), std::pair("$[?match(@.t,'(')]", 0),
        std::pair(R"($[?search(@.t,'\\d')])", 0), std::pair(R"($[?!search(@.t,'\\d')])", 3)}) {
    const auto expression = Expression::Compile(query, ExprDialect::kJsonPath);
    ASSERT_TRUE(expression) << query;
    EXPECT_EQ(expression->Select(*document)->size(), count) << query;
  }
}

}  // namespace
}  // namespace detent
