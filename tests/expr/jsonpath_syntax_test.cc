// What RFC 9535 does not allow.

#include <gtest/gtest.h>

#include "tests/expr/jsonpath_table.h"

namespace detent {
namespace {

using testing::ExpectRefused;
using testing::MistakeIn;

TEST(JsonPathSyntax, NeedsARootAndNothingAroundIt) {
  ExpectRefused({
      {"", "empty"},
      {" $", "space in front"},
      {"$ ", "space behind"},
      {"$\n", "a line break behind"},
      {"a", "no root"},
      {".a", "no root before a dot"},
      {"['a']", "no root before a bracket"},
      {"@.a", "the current node outside of a filter"},
      {"$$", "two roots"},
      {"$a", "no dot"},
      {"$.a b", "text behind"},
      {"$.a;", "a semicolon"},
      {"$.a == 1", "a comparison outside of a filter"},
      {"$.a && $.b", "a conjunction outside of a filter"},
      {"!$.a", "a negation outside of a filter"},
      {"($.a)", "parentheses outside of a filter"},
      {"count($.a)", "a function outside of a filter"},
      {"{$.a}", "braces"},
      {"\xEF\xBB\xBF$", "a byte order mark"},
  });
}

TEST(JsonPathSyntax, RefusesMalformedSegments) {
  ExpectRefused({
      {"$.", "nothing after a dot"},
      {"$..", "nothing after two"},
      {"$...a", "three dots"},
      {"$.a.", "a dot at the end"},
      {"$. a", "space after a dot"},
      {"$.. a", "space after two"},
      {"$. *", "space before a star"},
      {"$.'a'", "a quoted name after a dot"},
      {"$.1", "a digit first"},
      {"$.1a", "a digit first, then letters"},
      {"$.a-b", "a hyphen in a name"},
      {"$.-a", "a hyphen first"},
      {"$.a/b", "a slash in a name"},
      {"$.a\\.b", "a backslash in a name"},
      {"$.$", "a dollar as a name"},
      {"$.&", "punctuation as a name"},
      {"$.[0]", "a dot before a bracket"},
      {"$.**", "two stars"},
      {"$..**", "two stars after two dots"},
      {"$*", "a star without a dot"},
      {"$.(a)", "parentheses"},
      {"$.a()", "a call after a dot"},
      {"$[", "an open bracket"},
      {"$[]", "empty brackets"},
      {"$[ ]", "brackets around space"},
      {"$['a'", "brackets not closed"},
      {"$'a']", "brackets not opened"},
      {"$['a']]", "closed twice"},
      {"$[['a']]", "brackets within each other"},
      {"$[,]", "a comma alone"},
      {"$['a',]", "a comma behind"},
      {"$[,'a']", "a comma in front"},
      {"$['a',,'b']", "two commas"},
      {"$['a' 'b']", "no comma"},
      {"$[0 1]", "no comma between indexes"},
      {"$[a]", "a name without quotes"},
      {"$[**]", "two stars in brackets"},
      {"$[$]", "the root as a selector"},
      {"$[@.a]", "a path as a selector"},
      {"$[(@.length-1)]", "a script"},
      {"$[true]", "a word as a selector"},
      {"$[?]", "an empty filter"},
  });
}

TEST(JsonPathSyntax, RefusesMalformedNumbersInBrackets) {
  ExpectRefused({
      {"$[00]", "two zeros"},
      {"$[01]", "a leading zero"},
      {"$[-0]", "a negative zero"},
      {"$[-01]", "a negative leading zero"},
      {"$[+1]", "a plus"},
      {"$[1.0]", "a fraction"},
      {"$[1e0]", "an exponent"},
      {"$[0x1]", "hexadecimal"},
      {"$[1_000]", "an underscore"},
      {"$[-]", "a minus alone"},
      {"$[- 1]", "space after a minus"},
      {"$[--1]", "two minuses"},
      {"$[9007199254740992]", "beyond 2^53-1"},
      {"$[-9007199254740992]", "below -(2^53-1)"},
      {"$[18446744073709551617]", "beyond 64 bits"},
      {"$[1:2:3:4]", "four parts"},
      {"$[:::]", "three colons"},
      {"$[1:a]", "a letter as a bound"},
      {"$[01:2]", "a leading zero at the start"},
      {"$[1:02]", "a leading zero at the end"},
      {"$[1:2:03]", "a leading zero in the step"},
      {"$[-0:]", "a negative zero at the start"},
      {"$[:-0]", "a negative zero at the end"},
      {"$[::-0]", "a negative zero as the step"},
      {"$[1.5:]", "a fraction at the start"},
      {"$[:'1']", "a quoted end"},
      {"$[9007199254740992:]", "the start beyond 2^53-1"},
      {"$[:9007199254740992]", "the end beyond 2^53-1"},
      {"$[::9007199254740992]", "the step beyond 2^53-1"},
      {"$[1:2 3]", "no colon"},
  });
}

TEST(JsonPathSyntax, RefusesMalformedStrings) {
  ExpectRefused({
      {"$['a]", "not closed"},
      {"$[\"a]", "not closed, double"},
      {"$['a\"]", "closed by the other kind"},
      {"$['a\\']", "the closing quote is escaped"},
      {"$['", "cut off"},
      {"$['\\", "cut off in an escape"},
      {"$['\\u12", "cut off in digits"},
      {"$['a\nb']", "a line break"},
      {"$['a\tb']", "a tab"},
      {"$[\"\x01\"]", "a control character"},
      {"$[\"\x1f\"]", "the last of them"},
      {"$['\\a']", "an escape there is not"},
      {"$['\\0']", "an octal escape"},
      {"$['\\x41']", "a hexadecimal escape"},
      {"$['\\v']", "a vertical tab"},
      {"$['\\ ']", "an escaped space"},
      {"$['\\\n']", "an escaped line break"},
      {"$['\\\"']", "a double quote escaped within single ones"},
      {"$[\"\\'\"]", "a single quote escaped within double ones"},
      {"$['\\u']", "no digits"},
      {"$['\\u123']", "three digits"},
      {"$['\\u12g4']", "a letter that is no digit"},
      {"$['\\u{41}']", "braces"},
      {"$['\\u+041']", "a sign"},
      {"$['\\U0041']", "an upper-case U"},
      {"$['\\ud800']", "a high surrogate alone"},
      {"$['\\udc00']", "a low surrogate alone"},
      {"$['\\ud800\\ud800']", "two high surrogates"},
      {"$['\\udc00\\ud800']", "in the wrong order"},
      {"$['\\ud800x']", "a high surrogate before a letter"},
      {"$['\\ud800\\n']", "a high surrogate before an escape"},
      {"$['\\ud800\\u0041']", "a high surrogate before another character"},
  });
}

TEST(JsonPathSyntax, RefusesMalformedFilters) {
  ExpectRefused({
      {"$[?@.a", "not closed"},
      {"$[?(@.a]", "parentheses not closed"},
      {"$[?@.a)]", "parentheses not opened"},
      {"$[?()]", "empty parentheses"},
      {"$[? ]", "only space"},
      {"$[?@.a==]", "no right side"},
      {"$[?==1]", "no left side"},
      {"$[?@.a=1]", "one equals sign"},
      {"$[?@.a===1]", "three"},
      {"$[?@.a!1]", "half of !="},
      {"$[?@.a<>1]", "another language's !="},
      {"$[?@.a=>1]", "the wrong way round"},
      {"$[?@.a=~'x']", "another language's match"},
      {"$[?@.a&@.b]", "one ampersand"},
      {"$[?@.a|@.b]", "one bar"},
      {"$[?@.a&&]", "nothing after &&"},
      {"$[?||@.a]", "nothing before ||"},
      {"$[?@.a and @.b]", "a word for &&"},
      {"$[?not @.a]", "a word for !"},
      {"$[?!!@.a]", "! twice"},
      {"$[?!@.a==1]", "! before a comparison"},
      {"$[?1<@.a<3]", "two comparisons in a row"},
      {"$[?(@.a)==1]", "a comparison with parentheses"},
      {"$[?1==(@.a)]", "and on the right"},
      {"$[?@.a==!@.b]", "a negation on the right"},
      {"$[?@.a+1==2]", "arithmetic"},
      {"$[?@.a in [1,2]]", "a word of another language"},
      {"$[?@.a==[]]", "an array literal"},
      {"$[?@.a=={}]", "an object literal"},
      {"$[?@[ 'a']==1]", "space within the brackets of a compared path"},
      {"$[?@['a' ]==1]", "behind the name, too"},
      {"$[?1==@[ 0]]", "and on the right"},
      {"$[?a==1]", "a bare name"},
      {"$[?.a==1]", "a path without @"},
      {"$[?@a==1]", "no dot after @"},
      {"$[?@.a==@b]", "no dot after @ on the right"},
      {"$[?1]", "a number alone"},
      {"$[?'a']", "a string alone"},
      {"$[?true]", "true alone"},
      {"$[?!true]", "true negated"},
      {"$[?null]", "null alone"},
      {"$[?@.a && true]", "true beside a test"},
      {"$[?(1)]", "a number in parentheses"},
      {"$[?@.a==True]", "an upper-case letter"},
      {"$[?@.a==NULL]", "upper case"},
      {"$[?@.a==nul]", "half a word"},
      {"$[?@.a==nulll]", "more than a word"},
      {"$[?@.a==truefalse]", "two words"},
      {"$[?@.a==undefined]", "a word of another language"},
  });
}

TEST(JsonPathSyntax, RefusesMalformedNumbersInFilters) {
  ExpectRefused({
      {"$[?@==01]", "a leading zero"},
      {"$[?@==-01]", "a negative leading zero"},
      {"$[?@==+1]", "a plus"},
      {"$[?@==.5]", "no digit before the point"},
      {"$[?@==5.]", "no digit after the point"},
      {"$[?@==1e]", "no digit in the exponent"},
      {"$[?@==1e+]", "nor after its sign"},
      {"$[?@==1e1.5]", "a fraction in the exponent"},
      {"$[?@==1.2.3]", "two points"},
      {"$[?@==--1]", "two minuses"},
      {"$[?@==- 1]", "space after a minus"},
      {"$[?@==0x10]", "hexadecimal"},
      {"$[?@==1_0]", "an underscore"},
      {"$[?@==Infinity]", "infinity"},
      {"$[?@==NaN]", "no number"},
      {"$[?@==1e999]", "beyond what a number can be"},
  });
}

TEST(JsonPathSyntax, ComparesSingleValuesOnly) {
  ExpectRefused({
      {"$[?@.*==1]", "a wildcard"},
      {"$[?@[*]==1]", "a wildcard in brackets"},
      {"$[?@..a==1]", "a descendant"},
      {"$[?@['a','b']==1]", "two names"},
      {"$[?@[0,1]==1]", "two indexes"},
      {"$[?@[0,0]==1]", "one index twice"},
      {"$[?@[0:1]==1]", "a slice, though of one"},
      {"$[?@[?@.a]==1]", "a filter"},
      {"$[?1==@.*]", "on the right"},
      {"$[?$.*==1]", "from the root"},
      {"$[?$..a==1]", "a descendant of the root"},
      {"$[?@.a.*.b==1]", "in the middle"},
      {"$[?@.a<@.b[*]]", "with another operator"},
      {"$[?length(@.*)==1]", "as an argument that is a value"},
      {"$[?match(@.*,'a')]", "as the text"},
      {"$[?match(@.a,$..b)]", "as the pattern"},
  });
}

TEST(JsonPathSyntax, KnowsTheFunctionsAndTheirTypes) {
  ExpectRefused({
      {"$[?len(@.a)==1]", "an unknown function"},
      {"$[?LENGTH(@.a)==1]", "case matters"},
      {"$[?length (@.a)==1]", "space before the parenthesis"},
      {"$[?length\n(@.a)==1]", "a line break there"},
      {"$[?length(@.a]", "not closed"},
      {"$[?length()==1]", "too few"},
      {"$[?length(@.a,@.b)==1]", "too many"},
      {"$[?length(@.a,)==1]", "a comma behind"},
      {"$[?length(,@.a)==1]", "a comma in front"},
      {"$[?length(@.a @.b)==1]", "no comma"},
      {"$[?length(@.a)]", "a value is no test"},
      {"$[?!length(@.a)]", "nor when negated"},
      {"$[?length(@.a)&&@.b]", "nor beside another"},
      {"$[?count(@.*)]", "a number is no test"},
      {"$[?count()==1]", "too few"},
      {"$[?count(@.a,@.b)==1]", "too many"},
      {"$[?count(1)==1]", "a number has no nodes"},
      {"$[?count('a')==1]", "nor has a string"},
      {"$[?count(length(@.a))==1]", "nor has a value"},
      {"$[?value(@.*)]", "a value is no test"},
      {"$[?value(1)==1]", "a literal has no nodes"},
      {"$[?value()==1]", "too few"},
      {"$[?match(@.a)]", "too few"},
      {"$[?match(@.a,'b','c')]", "too many"},
      {"$[?match(@.a,'b')==true]", "true or false is no value"},
      {"$[?true==match(@.a,'b')]", "nor on the right"},
      {"$[?search(@.a,'b')!=false]", "nor for search"},
      {"$[?search(@.a)]", "too few"},
      {"$[?length(match(@.a,'b'))==1]", "nor as an argument"},
      {"$[?length(@.a==1)==1]", "a comparison is no argument"},
      {"$[?length(@.a&&@.b)==1]", "nor is a conjunction"},
      {"$[?length((@.a))==1]", "nor parentheses"},
      {"$[?length(!@.a)==1]", "nor a negation"},
      {"$[?@.length()==1]", "a function is no member"},
      {"$.a[length(@)]", "a function is no selector"},
  });
}

TEST(JsonPathSyntax, SaysWhereAndWhatToDoInstead) {
  struct Row {
    const char* query;
    const char* mistake;
  };
  const Row rows[] = {
      {"", "column 1: a JSONPath begins with $ (the document itself is $)"},
      {".a", "column 1: a JSONPath begins with $ (write $ in front)"},
      {"a.b", "column 1: a JSONPath begins with $ (write $.a)"},
      {"@.a", "column 1: a JSONPath begins with $ (outside of filters write $ for @)"},
      {" $.a", "column 1: a JSONPath begins with $ (leave the space in front out)"},
      {"{.a}", "column 1: a JSONPath begins with $ (leave the braces out)"},
      {"$.a ", "column 4: expected '.', '[' or the end, not space"},
      {"$.é.a ", "column 6: expected '.', '[' or the end, not space"},
      {"$.a == 1",
       "column 4: a JSONPath ends where its path ends (a comparison is a condition, or stands in a "
       "filter: [?@.a == 1])"},
      {"$.items.0", "column 9: expected a name or '*', not '0' (an element is written [0])"},
      {"$.a-b",
       "column 4: expected '.', '[' or the end, not '-' (such a name is written ['a-b'], and there "
       "is no arithmetic)"},
      {"$[a]",
       "column 3: expected a quoted name, an index, '*', ':' or '?', not 'a' (a name in brackets "
       "is quoted: ['a'])"},
      {"$[@.a]",
       "column 3: expected a quoted name, an index, '*', ':' or '?', not '@' (a filter begins with "
       "a question mark: [?@.a == 1])"},
      {"$[?.a == 1]",
       "column 4: expected a path, a value or a function, not '.' (the current value is @: "
       "@.name)"},
      {"$[?@.a = 1]", "column 8: expected a comparison, not '=' (equality is written ==)"},
      {"$[?@.* == 1]",
       "column 4: one value is needed, and this path may select several (use count() or value())"},
      {"$['a", "column 3: this string has no end (close it with ')"},
      {"$[0", "column 2: this '[' is not closed"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(MistakeIn(row.query, ExprDialect::kJsonPath), row.mistake);
  }
}

TEST(JsonPathSyntax, GivesAMistakeInItsParts) {
  ExpressionMistake mistake;
  ASSERT_FALSE(Expression::Compile("$[?@.a = 1]", ExprDialect::kJsonPath, &mistake));
  EXPECT_EQ(mistake.column, 8);
  EXPECT_EQ(mistake.message, "column 8: expected a comparison, not '='");
  EXPECT_EQ(mistake.hint, "equality is written ==");
  ASSERT_FALSE(Expression::Compile("$.\xff", ExprDialect::kJsonPath, &mistake));
  EXPECT_EQ(mistake.column, 0);
  EXPECT_EQ(mistake.message, "an expression is UTF-8, and this is not");
  EXPECT_EQ(mistake.hint, "");
}

}  // namespace
}  // namespace detent
