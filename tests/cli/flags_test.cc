#include "core/cli/flags.h"

#include <gtest/gtest.h>

namespace detent {
namespace {

const std::vector<Flag> kKnown = {
    {"all", 'A', FlagType::kSwitch, "", "All."},
    {"watch", 'w', FlagType::kSwitch, "", "Watch."},
    {"namespace", 'n', FlagType::kText, "NAME", "Namespace."},
    {"filename", 'f', FlagType::kTexts, "FILE", "File."},
    {"count", 0, FlagType::kNumber, "N", "Count."},
    {"timeout", 0, FlagType::kDuration, "TIME", "Time."},
    {"output", 'o', FlagType::kText, "FORMAT", "Form.", {"json", "yaml"}},
};

// The flags and words as one line, or the error.
std::string Read(const std::vector<std::string>& args) {
  const auto reading = ReadFlags(kKnown, args);
  if (!reading) return reading.error().message();
  std::string text;
  for (const Flag& flag : kKnown) {
    for (const std::string& value : reading->flags.Texts(flag.name)) {
      text += flag.name + "=" + value + " ";
    }
  }
  for (const std::string& word : reading->words) text += "[" + word + "]";
  return text;
}

TEST(Flags, AreReadInEverySpelling) {
  struct Row {
    std::vector<std::string> args;
    const char* reading;
    const char* because;
  };
  const Row rows[] = {
      {{"--namespace", "a"}, "namespace=a ", "a value may be a word of its own"},
      {{"--namespace=a"}, "namespace=a ", "or stand behind ="},
      {{"-n", "a"}, "namespace=a ", "a letter will do"},
      {{"-na"}, "namespace=a ", "with its value"},
      {{"-n=a"}, "namespace=a ", "or ="},
      {{"-Aw"}, "all=true watch=true ", "letters stand together"},
      {{"-Awn", "a"}, "all=true watch=true namespace=a ", "the last may take a value"},
      {{"--all=false"}, "all=false ", "a switch can be turned off"},
      {{"-f", "a", "-f", "-"}, "filename=a filename=- ", "- is a value, and flags repeat"},
      {{"x", "-A", "y"}, "all=true [x][y]", "flags stand anywhere"},
      {{"--", "-A"}, "[-A]", "-- ends them"},
      {{"-"}, "[-]", "a lone - is a word"},
      {{"--timeout", "1h30m"}, "timeout=1h30m ", "durations are kept as written"},
  };
  for (const Row& row : rows) EXPECT_EQ(Read(row.args), row.reading) << row.because;
}

TEST(Flags, MistakesNameTheFlagAndTheWayOut) {
  struct Row {
    std::vector<std::string> args;
    const char* error;
  };
  const Row rows[] = {
      {{"--namespce", "a"}, "unknown flag --namespce (did you mean --namespace?)"},
      {{"--zzz"}, "unknown flag --zzz"},
      {{"-x"}, "unknown flag -x"},
      {{"-Ax"}, "unknown flag -x in '-Ax'"},
      {{"--namespace"}, "--namespace: needs a value (NAME)"},
      {{"--all=maybe"}, "--all: must be true or false, not 'maybe'"},
      {{"--count", "-1"}, "--count: must be a whole number, 0 or greater, not '-1'"},
      {{"--timeout", "soon"}, "--timeout: must be a duration such as 30s, 5m or 1h30m, not 'soon'"},
      {{"-o", "jsn"}, "--output: must be one of json, yaml, not 'jsn'"},
  };
  for (const Row& row : rows) EXPECT_EQ(Read(row.args), row.error);
}

TEST(Flags, DurationsHaveUnits) {
  using std::chrono::milliseconds;
  EXPECT_EQ(ParseDuration("500ms"), milliseconds(500));
  EXPECT_EQ(ParseDuration("90"), milliseconds(90'000));
  EXPECT_EQ(ParseDuration("1h30m"), milliseconds(5'400'000));
  EXPECT_EQ(ParseDuration("2d"), milliseconds(172'800'000));
  for (const char* bad : {"", "m", "1x", "1h30", "-5s", "99999999999999999999", "9999999d"}) {
    EXPECT_FALSE(ParseDuration(bad)) << bad;
  }
}

TEST(Flags, StopAtTheFirstWordWhereTheyAreToldTo) {
  const auto reading = ReadFlags(kKnown, {"-n", "a", "get", "--unknown"}, true);
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->consumed, 2u);
  EXPECT_EQ(reading->flags.Text("namespace"), "a");
}

}  // namespace
}  // namespace detent
