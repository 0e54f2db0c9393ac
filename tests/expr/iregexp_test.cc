#include "core/expr/iregexp.h"

#include <gtest/gtest.h>

#include "core/expr/jsonpath.h"

namespace detent {
namespace {

std::string MistakeOf(const std::string& pattern) {
  const auto compiled = IRegexp::Compile(pattern);
  return compiled ? "" : compiled.error().message();
}

bool Matches(const std::string& pattern, std::string_view text, IRegexp::Extent extent) {
  const auto compiled = IRegexp::Compile(pattern);
  EXPECT_TRUE(compiled) << pattern << ": " << MistakeOf(pattern);
  int64_t steps = kExpressionStepsMax;
  return compiled && compiled->Matches(text, extent, steps).value_or(false);
}

struct PatternRow {
  const char* pattern;
  std::vector<std::string> whole;  // Texts that match as a whole.
  std::vector<std::string> not_whole;
};

void ExpectMatches(const std::vector<PatternRow>& rows) {
  for (const PatternRow& row : rows) {
    for (const std::string& text : row.whole) {
      EXPECT_TRUE(Matches(row.pattern, text, IRegexp::Extent::kWhole))
          << row.pattern << " " << text;
      EXPECT_TRUE(Matches(row.pattern, text, IRegexp::Extent::kSomewhere)) << row.pattern;
    }
    for (const std::string& text : row.not_whole) {
      EXPECT_FALSE(Matches(row.pattern, text, IRegexp::Extent::kWhole))
          << row.pattern << " " << text;
    }
  }
}

TEST(IRegexp, MatchesCharactersAndClasses) {
  ExpectMatches({
      {"", {""}, {"a"}},
      {"abc", {"abc"}, {"ab", "abcd", "ABC"}},
      {".",
       {"a", "é", "😀", "\xE2\x80\xA8", "\xC2\x85", std::string(1, '\0')},
       {"", "\n", "\r", "ab"}},
      {"[abc]", {"a", "c"}, {"", "d", "ab"}},
      {"[a-c]", {"a", "b", "c"}, {"d", "-"}},
      {"[^a-c]", {"d", "é", "\n"}, {"a", "", "dd"}},
      {"[-a]", {"-", "a"}, {"b"}},
      {"[a-]", {"-", "a"}, {"b"}},
      {"[-]", {"-"}, {"a"}},
      {"[--]", {"-"}, {"a"}},
      {"[^-a]", {"b"}, {"-", "a"}},
      {"[a-c-]", {"b", "-"}, {"d"}},
      {"[a-cx-z]", {"b", "y"}, {"m"}},
      {"[.*+?(){}|^$]", {".", "*", "+", "?", "(", ")", "{", "}", "|", "^", "$"}, {"a"}},
      {"[\\]\\[\\\\\\-]", {"]", "[", "\\", "-"}, {"a"}},
      {"[\\n\\t]", {"\n", "\t"}, {"n", "\\"}},
      {"[à-é]", {"à", "é"}, {"e", "ê"}},
      {"[😀-😂]", {"😁"}, {"😃"}},
      {"\\.\\*\\+\\?\\(\\)\\[\\]\\{\\}\\|\\^\\\\\\-", {".*+?()[]{}|^\\-"}, {"a"}},
      {"\\n\\r\\t", {"\n\r\t"}, {"nrt"}},
      {"a,-/:<=>@_`~!\"#%&';", {"a,-/:<=>@_`~!\"#%&';"}, {""}},
  });
}

TEST(IRegexp, RepeatsAndChooses) {
  ExpectMatches({
      {"a*", {"", "a", "aaaa"}, {"b", "aab"}},
      {"a+", {"a", "aaaa"}, {"", "b"}},
      {"a?", {"", "a"}, {"aa"}},
      {"a{3}", {"aaa"}, {"aa", "aaaa"}},
      {"a{0}", {""}, {"a"}},
      {"a{2,3}", {"aa", "aaa"}, {"a", "aaaa"}},
      {"a{2,}", {"aa", "aaaaaa"}, {"a"}},
      {"a{0,}", {"", "aa"}, {"b"}},
      {"a{0,2}", {"", "a", "aa"}, {"aaa"}},
      {"a{1}b", {"ab"}, {"b"}},
      {"a{02}", {"aa"}, {"a"}},
      {"(ab)*", {"", "ab", "abab"}, {"a", "aba"}},
      {"(ab){2}", {"abab"}, {"ab"}},
      {"a|b", {"a", "b"}, {"ab", ""}},
      {"a|bc|", {"a", "bc", ""}, {"b"}},
      {"(a|b)c", {"ac", "bc"}, {"c", "abc"}},
      {"a(|b)c", {"ac", "abc"}, {"abbc"}},
      {"()", {""}, {"a"}},
      {"()*", {""}, {"a"}},
      {"(a*)*", {"", "aaa"}, {"b"}},
      {"(a*)+b", {"b", "aab"}, {"a"}},
      {"(a|a)*", {"aaaa"}, {"b"}},
      {"((a{2}){2}){2}", {"aaaaaaaa"}, {"aaaaaaa", "aaaaaaaaa"}},
      {"x*y{1,2}z+", {"yz", "xxyyzz"}, {"xz"}},
      {"[0-9]{4}-[0-9]{2}", {"2026-01"}, {"26-01"}},
  });
}

TEST(IRegexp, TakesCaretAndDollarForTheEnds) {
  ExpectMatches({
      {"^ab$", {"ab"}, {"a"}},
      {"^*a", {"a"}, {"^a"}},
      {"(^a|b)c", {"ac", "bc"}, {"c"}},
      {"a$b", {}, {"ab", "a$b"}},
      {"a^b", {}, {"ab", "a^b"}},
      {"[$]\\^", {"$^"}, {""}},
  });
  EXPECT_TRUE(Matches("^b", "bab", IRegexp::Extent::kSomewhere));
  EXPECT_FALSE(Matches("^a", "ba", IRegexp::Extent::kSomewhere));
  EXPECT_TRUE(Matches("a$", "ba", IRegexp::Extent::kSomewhere));
  EXPECT_FALSE(Matches("b$", "ba", IRegexp::Extent::kSomewhere));
  EXPECT_FALSE(Matches("^b", "a\nb", IRegexp::Extent::kSomewhere)) << "of the text, not of a line";
}

TEST(IRegexp, KnowsCategories) {
  ExpectMatches({
      {"\\p{L}", {"a", "Z", "é", "ж", "字"}, {"1", " ", "_"}},
      {"\\p{Lu}", {"A", "Ж"}, {"a", "1"}},
      {"\\p{Ll}+", {"aéж"}, {"A"}},
      {"\\P{Lu}", {"a", "1", " "}, {"A"}},
      {"\\p{Nd}", {"0", "٣"}, {"a", "Ⅷ"}},
      {"\\p{N}", {"0", "Ⅷ", "½"}, {"a"}},
      {"\\p{Zs}", {" ", "\xC2\xA0"}, {"\t", "a"}},
      {"\\p{So}", {"🤣", "☺"}, {"a"}},
      {"\\p{Sc}", {"€", "$"}, {"a"}},
      {"\\p{Cn}", {"\xCD\xB8"}, {"a"}},
      {"\\p{C}", {std::string(1, '\0'), "\xCD\xB8", "\xEE\x80\x80"}, {"a"}},
      {"[\\p{L}\\p{N}_]+", {"aж9_"}, {"-", ""}},
      {"[^\\p{L}]", {"1"}, {"a"}},
      {"[\\P{L}a]", {"1", "a"}, {"b"}},
  });
  for (const char* name :
       {"L",  "Ll", "Lm", "Lo", "Lt", "Lu", "M",  "Mc", "Me", "Mn", "N",  "Nd",
        "Nl", "No", "P",  "Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "Z",  "Zl",
        "Zp", "Zs", "S",  "Sc", "Sk", "Sm", "So", "C",  "Cc", "Cf", "Cn", "Co"}) {
    EXPECT_EQ(MistakeOf("\\p{" + std::string(name) + "}"), "");
  }
}

TEST(IRegexp, LooksEverywhere) {
  EXPECT_TRUE(Matches("b+", "aabba", IRegexp::Extent::kSomewhere));
  EXPECT_TRUE(Matches("", "", IRegexp::Extent::kSomewhere));
  EXPECT_TRUE(Matches("x*", "aaa", IRegexp::Extent::kSomewhere));
  EXPECT_FALSE(Matches("x+", "aaa", IRegexp::Extent::kSomewhere));
  EXPECT_TRUE(Matches("aab", "aaaab", IRegexp::Extent::kSomewhere)) << "a beginning within another";
}

TEST(IRegexp, TakesBytesThatAreNoUtf8ForReplacementCharacters) {
  EXPECT_TRUE(Matches("a.b",
                      "a\xFF"
                      "b",
                      IRegexp::Extent::kWhole));
  EXPECT_TRUE(Matches("..", "\xE2\x82", IRegexp::Extent::kWhole));
  EXPECT_TRUE(Matches("\xEF\xBF\xBD", "\xC0", IRegexp::Extent::kWhole));
}

TEST(IRegexp, RefusesWhatRfc9485DoesNotHave) {
  const std::pair<const char*, const char*> rows[] = {
      {"\\d", "character 1: there is no \\d; write [0-9]"},
      {"a\\w", "character 2: there is no \\w; write [0-9A-Za-z_]"},
      {"\\s", "character 1: there is no \\s; write [ \\t\\n\\r]"},
      {"\\b", "character 1: there is no \\b; there are no word boundaries"},
      {"\\$", "character 1: there is no \\$; write [$]"},
      {"\\/", "character 1: there is no \\/; as itself the character needs no backslash"},
      {"(a)\\1", "character 4: there is no \\1; what a group matched cannot be referred to"},
      {"\\", "character 1: a backslash at the end"},
      {"\\p", "character 1: expected a category, as in \\p{Lu}"},
      {"\\pL", "character 1: expected a category, as in \\p{Lu}"},
      {"\\p{Lu", "character 1: expected a category, as in \\p{Lu}"},
      {"\\p{Latin}", "character 1: there is no category 'Latin'"},
      {"\\p{Cs}", "character 1: there is no category 'Cs'"},
      {"\\p{}", "character 1: there is no category ''"},
      {"\\p{lu}", "character 1: there is no category 'lu'"},
      {"(?:a)", "character 2: there are no groups but ( )"},
      {"(a", "character 1: this '(' is not closed"},
      {"a)", "character 2: unexpected ')'"},
      {"*a", "character 1: there is nothing to repeat; as itself write [*]"},
      {"(+)", "character 2: there is nothing to repeat; as itself write [+]"},
      {"a**", "character 3: there is nothing to repeat; as itself write [*]"},
      {"a*?", "character 3: there are no lazy quantifiers; leave the '?' out"},
      {"a{,2}", "character 3: expected a number of times"},
      {"a{1", "character 4: expected '}'"},
      {"a{1,2", "character 6: expected '}'"},
      {"a{2,1}", "character 6: the most is less than the least number of times"},
      {"a{x}", "character 3: expected a number of times"},
      {"{1}", "character 1: there is nothing to repeat; as itself write [{]"},
      {"a}", "character 2: as itself write \\}"},
      {"a]", "character 2: as itself write \\]"},
      {"[a", "character 1: this '[' is not closed"},
      {"[]", "character 2: a class has at least one character"},
      {"[^]", "character 3: a class has at least one character"},
      {"[[]", "character 2: within a class write \\["},
      {"[b-a]", "character 5: the range before this is backwards"},
      {"[a-b-c]", "character 5: a '-' within a class is written \\-"},
      {"[\\p{L}-x]", "character 7: a '-' within a class is written \\-"},
      {"[a-\\p{L}]", "character 4: a range ends with a character"},
      {"[a-[b]]", "character 4: within a class write \\["},
      {"[\\d]", "character 2: there is no \\d; write [0-9]"},
  };
  for (const auto& [pattern, mistake] : rows) EXPECT_EQ(MistakeOf(pattern), mistake) << pattern;
}

TEST(IRegexp, HasLimits) {
  EXPECT_EQ(MistakeOf(std::string(kPatternBytesMax, 'a')), "");
  EXPECT_EQ(MistakeOf(std::string(kPatternBytesMax + 1, 'a')), "a pattern has at most 1024 bytes");
  const std::string many = "a pattern may have at most 4096 states; {n,m} copies what it repeats";
  EXPECT_EQ(MistakeOf("a{4000}"), "");
  EXPECT_EQ(MistakeOf("a{4096}"), many);
  EXPECT_EQ(MistakeOf("a{0,4096}"), many);
  EXPECT_EQ(MistakeOf("a{99999999999999999999}"), many);
  EXPECT_EQ(MistakeOf("((a{100}){100}){100}"), many);
  EXPECT_EQ(MistakeOf("((((){999}){999}){999}){999}"), many) << "even of nothing";
  EXPECT_EQ(MistakeOf("(|||){2000}"), many);
  const auto nested = [](int depth) {
    return std::string(depth, '(') + "a" + std::string(depth, ')');
  };
  EXPECT_EQ(MistakeOf(nested(kPatternNestingMax)), "");
  EXPECT_EQ(MistakeOf(nested(kPatternNestingMax + 1)), "character 65: nested deeper than 64");
}

// What takes other engines exponential time takes steps in proportion to the text.
TEST(IRegexp, TakesTimeInProportionToTheText) {
  for (const char* pattern :
       {"(a*)*b", "(a|a)*b", "(a|aa)+b", "(a?){50}a{50}b", "(.*)(.*)(.*)b", "((a+)+)+b"}) {
    const auto compiled = IRegexp::Compile(pattern);
    ASSERT_TRUE(compiled) << pattern;
    for (const auto extent : {IRegexp::Extent::kWhole, IRegexp::Extent::kSomewhere}) {
      int64_t steps = kExpressionStepsMax;
      EXPECT_EQ(compiled->Matches(std::string(1000, 'a'), extent, steps), false) << pattern;
      const auto used = kExpressionStepsMax - steps;
      EXPECT_LT(used, static_cast<int64_t>(1000 * 4 * compiled->states())) << pattern;
    }
  }
}

TEST(IRegexp, StopsWhenItsStepsAreUsedUp) {
  const auto compiled = IRegexp::Compile("(a|b)*c");
  int64_t steps = 100;
  EXPECT_EQ(compiled->Matches(std::string(1000, 'a'), IRegexp::Extent::kWhole, steps),
            std::nullopt);
  EXPECT_LT(steps, 0);
}

}  // namespace
}  // namespace detent
