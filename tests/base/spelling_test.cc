#include "core/base/spelling.h"

#include <gtest/gtest.h>

namespace detent {
namespace {

TEST(Spelling, FindsTheWordThatWasMeant) {
  const std::vector<std::string> known = {"timezone", "expression", "retries", "id", "get", "set"};
  struct Case {
    const char* word;
    const char* nearest;
    const char* because;
  };
  const Case cases[] = {
      {"timezne", "timezone", "a letter is missing"},
      {"timezzone", "timezone", "a letter too many"},
      {"timesone", "timezone", "a wrong letter"},
      {"tiemzone", "timezone", "two letters swapped"},
      {"gte", "get", "swapped in a word that allows one slip only"},
      {"di", "id", "even where there is nothing else"},
      {"GTE", "get", "swapped letters have no case either"},
      {"tge", "", "a letter that moved two places is two slips"},
      {"timeZone", "timezone", "case is no difference"},
      {"EXPRESSION", "expression", "not even everywhere"},
      {"retries", "retries", "the word itself"},
      {"ie", "id", "one change is allowed however short"},
      {"ab", "", "two are too many for two letters"},
      {"bet", "get", "the first of equals"},
      {"zone", "", "too far"},
      {"", "", "nothing was written"},
  };
  for (const Case& c : cases) EXPECT_EQ(NearestWord(c.word, known), c.nearest) << c.because;
  EXPECT_EQ(NearestWord("a", {}), "");
  EXPECT_EQ(NearestWord(std::string(100'000, 'a'), {std::string(100'000, 'a')}), "");
}

TEST(Spelling, AsksPolitely) {
  EXPECT_EQ(DidYouMean("jbos", {"jobs"}), " (did you mean 'jobs'?)");
  EXPECT_EQ(DidYouMean("jbs", {"jobs"}), " (did you mean 'jobs'?)");
  EXPECT_EQ(DidYouMean("nothing", {"jobs"}), "");
}

}  // namespace
}  // namespace detent
