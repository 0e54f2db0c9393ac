// RFC 9535, section 2.3.5: filters, but for functions.

#include <gtest/gtest.h>

#include "tests/expr/jsonpath_table.h"

namespace detent {
namespace {

using testing::ExpectPaths;

TEST(JsonPathFilters, SelectChildrenOfArraysAndObjects) {
  ExpectPaths(R"({"x":{"a":1},"y":{"b":2},"z":[{"a":3},{"a":null},4,"a",[0]]})",
              {
                  {"$[?@.a]", "$['x']", "members of an object"},
                  {"$.z[?@.a]", "$['z'][0] $['z'][1]", "elements; null is there"},
                  {"$.z[?@['a']]", "$['z'][0] $['z'][1]", "in brackets"},
                  {"$.z[?@[0]]", "$['z'][4]", "by index"},
                  {"$.z[?@]", "$['z'][0] $['z'][1] $['z'][2] $['z'][3] $['z'][4]", "all"},
                  {"$.z[?$.x]", "$['z'][0] $['z'][1] $['z'][2] $['z'][3] $['z'][4]",
                   "the root's member is there for each"},
                  {"$.z[?$.none]", "", "or for none"},
                  {"$.z[?@.*]", "$['z'][0] $['z'][1] $['z'][4]", "any child"},
                  {"$[?@[?@.a]]", "$['z']", "a filter within a filter"},
                  {"$[?@..a]", "$['x'] $['z']", "a descendant"},
                  {"$..[?@.a]", "$['x'] $['z'][0] $['z'][1]", "everywhere"},
                  {"$.z[?@.a,?@[0]]", "$['z'][0] $['z'][1] $['z'][4]", "two filters"},
                  {"$.z[?@.a,?@.a]", "$['z'][0] $['z'][1] $['z'][0] $['z'][1]", "the same twice"},
                  {"$.z[?@.a,0]", "$['z'][0] $['z'][1] $['z'][0]", "beside an index"},
                  {"$.x[?@]", "$['x']['a']", "a member that is a number"},
                  {"$.x.a[?@]", "", "a number has no children"},
                  {"$.z[3][?@]", "", "nor has a string"},
                  {"$.z[?(@.a)]", "$['z'][0] $['z'][1]", "parentheses"},
                  {"$.z[?((@.a))]", "$['z'][0] $['z'][1]", "twice"},
                  {"$.z[?@.a].a", "$['z'][0]['a'] $['z'][1]['a']", "and on from there"},
              });
}

TEST(JsonPathFilters, CompareNumbersByValue) {
  ExpectPaths(
      R"([0,-0.0,1,1.0,10e-1,-1,2,"1",true,null,[1],{"a":1}])",
      {
          {"$[?@==1]", "$[2] $[3] $[4]", "however it is written"},
          {"$[?@==1.0]", "$[2] $[3] $[4]", "on this side, too"},
          {"$[?@==0.1e1]", "$[2] $[3] $[4]", "with an exponent"},
          {"$[?@==1E0]", "$[2] $[3] $[4]", "an upper-case one"},
          {"$[?@==10e-1]", "$[2] $[3] $[4]", "a negative one"},
          {"$[?@==1e+0]", "$[2] $[3] $[4]", "a positive one"},
          {"$[?@==0]", "$[0] $[1]", "zero is zero"},
          {"$[?@==-0]", "$[0] $[1]", "with a sign, too"},
          {"$[?@==-0.0]", "$[0] $[1]", "and a fraction"},
          {"$[?@==-1]", "$[5]", "a negative number"},
          {"$[?1==@]", "$[2] $[3] $[4]", "the other way round"},
          {"$[?@!=1]", "$[0] $[1] $[5] $[6] $[7] $[8] $[9] $[10] $[11]", "other kinds are unequal"},
          {"$[?@<1]", "$[0] $[1] $[5]", "other kinds are not less"},
          {"$[?@<=1]", "$[0] $[1] $[2] $[3] $[4] $[5]", "or equal"},
          {"$[?@>1]", "$[6]", "nor greater"},
          {"$[?@>=1]", "$[2] $[3] $[4] $[6]", "or equal"},
          {"$[?1<@]", "$[6]", "the other way round"},
          {"$[?@<0.5]", "$[0] $[1] $[5]", "zero is less than a half"},
          {"$[?@>0.5]", "$[2] $[3] $[4] $[6]", "and one is not"},
          {"$[?0.5<@]", "$[2] $[3] $[4] $[6]", "the other way round"},
          {"$[?@>-1.5]", "$[0] $[1] $[2] $[3] $[4] $[5] $[6]", "below them all"},
      });
}

TEST(JsonPathFilters, CompareLargeNumbersExactly) {
  ExpectPaths(
      "[9007199254740992,9007199254740993,9007199254740992.0,9223372036854775807,"
      "9223372036854775808,-9223372036854775808,1e300,-1e300]",
      {
          {"$[?@==9007199254740992]", "$[0] $[2]", "2^53"},
          {"$[?@==9007199254740993]", "$[1]", "2^53+1 is no double"},
          {"$[?@==9007199254740992.0]", "$[0] $[2]", "2^53 as a double"},
          {"$[?@>9007199254740992.0]", "$[1] $[3] $[4] $[6]", "the next is greater"},
          {"$[?@==9223372036854775807]", "$[3]", "the largest of 64 bits"},
          {"$[?@==9223372036854775808]", "$[4]", "the next one"},
          {"$[?@<9223372036854775808]", "$[0] $[1] $[2] $[3] $[5] $[7]", "below it"},
          {"$[?@<=-9223372036854775808]", "$[5] $[7]", "the smallest of 64 bits"},
          {"$[?@>1e299]", "$[6]", "beyond all integers"},
          {"$[?@<-1e299]", "$[7]", "below all integers"},
          {"$[?@<0.5]", "$[5] $[7]", "a fraction"},
      });
}

TEST(JsonPathFilters, CompareTextByCodePoints) {
  ExpectPaths(R"(["","a","ab","b","B","é","😀","\uffff",1,null])",
              {
                  {"$[?@=='a']", "$[1]", "equal"},
                  {"$[?@==\"a\"]", "$[1]", "in double quotes"},
                  {R"($[?@=='\u0061'])", "$[1]", "escaped"},
                  {"$[?@=='']", "$[0]", "empty"},
                  {"$[?@<'ab']", "$[0] $[1] $[4]", "a prefix is less; upper case comes first"},
                  {"$[?@<='ab']", "$[0] $[1] $[2] $[4]", "or equal"},
                  {"$[?@>'b']", "$[5] $[6] $[7]", "beyond ASCII"},
                  {"$[?@>'é']", "$[6] $[7]", "further"},
                  {"$[?@>'\xEF\xBF\xBF']", "$[6]",
                   "a surrogate pair is more than U+FFFF, unlike in UTF-16"},
                  {"$[?@>='a' && @<'b']", "$[1] $[2]", "a range"},
                  {"$[?@!='a']", "$[0] $[2] $[3] $[4] $[5] $[6] $[7] $[8] $[9]", "unequal"},
              });
}

TEST(JsonPathFilters, CompareOtherValuesForEqualityOnly) {
  ExpectPaths(R"([null,true,false,[],[1],[1.0],[1,2],[2,1],{},{"a":1,"b":2},{"b":2,"a":1},
                  {"a":1},{"a":[1,{"x":null}]},{"a":[1,{"x":null}]}])",
              {
                  {"$[?@==null]", "$[0]", "null"},
                  {"$[?@==true]", "$[1]", "true"},
                  {"$[?@==false]", "$[2]", "false"},
                  {"$[?@==$[3]]", "$[3]", "an empty array"},
                  {"$[?@==$[4]]", "$[4] $[5]", "numbers within, by value"},
                  {"$[?@==$[6]]", "$[6]", "order matters in an array"},
                  {"$[?@==$[8]]", "$[8]", "an empty object"},
                  {"$[?@==$[9]]", "$[9] $[10]", "but not in an object"},
                  {"$[?@==$[10]]", "$[9] $[10]", "the other way round"},
                  {"$[?@==$[11]]", "$[11]", "with all its members"},
                  {"$[?@==$[12]]", "$[12] $[13]", "at any depth"},
                  {"$[?@!=$[12]]", "$[0] $[1] $[2] $[3] $[4] $[5] $[6] $[7] $[8] $[9] $[10] $[11]",
                   "unequal"},
                  {"$[?@<=true]", "$[1]", "less or equal holds of what is equal"},
                  {"$[?@>=null]", "$[0]", "as does greater or equal"},
                  {"$[?@<=$[9]]", "$[9] $[10]", "of objects, too"},
                  {"$[?@<true]", "", "but nothing is less than true"},
                  {"$[?@>false]", "", "or greater than false"},
                  {"$[?@<$[6]]", "", "or less than an array"},
              });
}

TEST(JsonPathFilters, TakeNothingForWhatIsNotThere) {
  ExpectPaths(R"([{"a":1},{"b":1},{"a":null},{"a":0,"b":0}])",
              {
                  {"$[?@.a==@.b]", "$[3]", "equal values"},
                  {"$[?@.x==@.y]", "$[0] $[1] $[2] $[3]", "nothing is equal to nothing"},
                  {"$[?@.x!=@.y]", "", "and not unequal"},
                  {"$[?@.x<=@.y]", "$[0] $[1] $[2] $[3]", "so it is less or equal"},
                  {"$[?@.x>=@.y]", "$[0] $[1] $[2] $[3]", "and greater or equal"},
                  {"$[?@.x<@.y]", "", "but not less"},
                  {"$[?@.a!=1]", "$[1] $[2] $[3]", "nothing is unequal to something"},
                  {"$[?@.a<1]", "$[3]", "and not less"},
                  {"$[?@.a==null]", "$[2]", "null is something"},
                  {"$[?@.a!=null]", "$[0] $[1] $[3]", "and nothing is not null"},
                  {"$[?!@.a]", "$[1]", "not there"},
                  {"$[?@.a[0]==@.b[0]]", "$[0] $[1] $[2] $[3]", "nothing below a number"},
                  {"$[?$.x==@.x]", "$[0] $[1] $[2] $[3]", "from the root"},
              });
}

TEST(JsonPathFilters, JoinConditions) {
  ExpectPaths(R"([{},{"a":1},{"b":1},{"a":1,"b":1},{"c":1},{"a":1,"c":1}])",
              {
                  {"$[?@.a&&@.b]", "$[3]", "both"},
                  {"$[?@.a||@.b]", "$[1] $[2] $[3] $[5]", "either"},
                  {"$[?!@.a]", "$[0] $[2] $[4]", "not"},
                  {"$[?!@.a&&!@.b]", "$[0] $[4]", "neither"},
                  {"$[?!(@.a||@.b)]", "$[0] $[4]", "the same"},
                  {"$[?@.a&&@.b||@.c]", "$[3] $[4] $[5]", "&& before ||"},
                  {"$[?@.c||@.a&&@.b]", "$[3] $[4] $[5]", "on either side"},
                  {"$[?@.a&&(@.b||@.c)]", "$[3] $[5]", "parentheses first"},
                  {"$[?(@.a||@.b)&&@.c]", "$[5]", "in front, too"},
                  {"$[?!(@.a&&@.b)]", "$[0] $[1] $[2] $[4] $[5]", "a negated conjunction"},
                  {"$[?!(!@.a)]", "$[1] $[3] $[5]", "twice negated"},
                  {"$[?@.a==1&&@.b==1]", "$[3]", "comparisons"},
                  {"$[?!(@.a==1)]", "$[0] $[2] $[4]", "a negated comparison"},
                  {"$[?@.a==1||@.b==1||@.c==1]", "$[1] $[2] $[3] $[4] $[5]", "three"},
                  {"$[?@.a && !@.b && !@.c]", "$[1]", "three with negations"},
                  {"$[?@.a==1 || @.b]", "$[1] $[2] $[3] $[5]", "a comparison and a test"},
                  {"$[?1==1]", "$[0] $[1] $[2] $[3] $[4] $[5]", "of literals, true"},
                  {"$[?'a'=='b']", "", "of literals, false"},
                  {"$[?1==1||@.none]", "$[0] $[1] $[2] $[3] $[4] $[5]", "the first decides"},
              });
}

TEST(JsonPathFilters, AllowSpaceAlmostEverywhere) {
  ExpectPaths(R"([{"a":1,"b":[2]}])",
              {
                  {"$[? @.a]", "$[0]", "after the question mark"},
                  {"$[?\n@.a\t]", "$[0]", "before the bracket"},
                  {"$[?@ .a]", "$[0]", "within a path"},
                  {"$[?@.a == 1]", "$[0]", "around an operator"},
                  {"$[?@.a\n==\r1]", "$[0]", "of every kind"},
                  {"$[?@.b [0]==2]", "$[0]", "before an index"},
                  {"$[?@[ 'a' ]]", "$[0]", "within brackets"},
                  {"$[?length(@[ 'b' ])==1]", "$[0]", "within those of an argument"},
                  {"$[?@.a==1 && @.b]", "$[0]", "around &&"},
                  {"$[?@.x\t||\t@.b]", "$[0]", "around ||"},
                  {"$[?! @.x]", "$[0]", "after !"},
                  {"$[?! ( @.x ) ]", "$[0]", "around parentheses"},
                  {"$[?( @.a )]", "$[0]", "within parentheses"},
                  {"$[?length( @.b ) == 1]", "$[0]", "within a call"},
                  {"$[?search( 'ab' , 'b' )]", "$[0]", "around a comma"},
                  {"$[ ?@.a , ?@.b ]", "$[0] $[0]", "around the comma of selectors"},
              });
}

// What the operators mean for each pair of values follows from == and <.
TEST(JsonPathFilters, AgreeAmongTheOperators) {
  const std::string values[] = {"@.none", "null", "true", "false", "0",       "1",  "-1.5",
                                "''",     "'a'",  "'b'",  "$.e",   "$.array", "$.o"};
  const auto document = ParseJson(R"({"e":[],"array":[1],"o":{"a":1},"one":[0]})");
  const auto holds = [&](const std::string& comparison) {
    const auto query = Expression::Compile("$.one[?" + comparison + "]", ExprDialect::kJsonPath);
    return query && query->Select(*document)->size() == 1;
  };
  for (const std::string& a : values) {
    for (const std::string& b : values) {
      const bool equal = holds(a + "==" + b);
      const bool less = holds(a + "<" + b);
      EXPECT_EQ(equal, a == b) << a << " " << b;
      EXPECT_EQ(holds(a + "!=" + b), !equal) << a << " " << b;
      EXPECT_EQ(holds(b + ">" + a), less) << a << " " << b;
      EXPECT_EQ(holds(a + "<=" + b), less || equal) << a << " " << b;
      EXPECT_EQ(holds(b + ">=" + a), less || equal) << a << " " << b;
      EXPECT_FALSE(less && (equal || holds(b + "<" + a))) << a << " " << b;
    }
  }
}

}  // namespace
}  // namespace detent
