#include "core/base/names.h"

#include <gtest/gtest.h>

#include <set>

#include "core/base/limits.h"

namespace detent {
namespace {

constexpr std::string_view kUid = "0f8fad5b-d9cb-469f-a165-70867728950e";

struct NameCase {
  std::string name;
  bool label, subdomain, qualified, value;
  const char* because;
};

const NameCase kNames[] = {
    {"a", true, true, true, true, "one letter"},
    {"a-b-9", true, true, true, true, "dashes inside"},
    {"9a", true, true, true, true, "a digit first"},
    {"", false, false, false, true, "only a label's value may be empty"},
    {"-a", false, false, false, false, "a dash first"},
    {"a-", false, false, false, false, "a dash last"},
    {"A", false, false, true, true, "capitals are for labels"},
    {"a_b", false, false, true, true, "so are underscores"},
    {"a.b", false, true, true, true, "a dot"},
    {"a..b", false, false, true, true, "nothing between two dots"},
    {".a", false, false, false, false, "a dot first"},
    {"a.", false, false, false, false, "a dot last"},
    {"a.-b", false, false, true, true, "a part with a dash first"},
    {"a b", false, false, false, false, "a space"},
    {"caf\xC3\xA9", false, false, false, false, "letters beyond ASCII"},
    {"example.com/a", false, false, true, false, "a prefix"},
    {"example.com/", false, false, false, false, "a prefix alone"},
    {"/a", false, false, false, false, "an empty prefix"},
    {"a/b/c", false, false, false, false, "two slashes"},
    {"Example.com/a", false, false, false, false, "a prefix is a subdomain"},
    {std::string(63, 'x'), true, true, true, true, "63 characters"},
    {std::string(64, 'x'), false, true, false, false, "64 characters"},
    {std::string(253, 'x'), false, true, false, false, "253 characters"},
    {std::string(254, 'x'), false, false, false, false, "254 characters"},
    {"x/" + std::string(63, 'x'), false, false, true, false, "the prefix counts by itself"},
};

TEST(Names, FollowKubernetesRules) {
  for (const NameCase& c : kNames) {
    EXPECT_EQ(CheckDns1123Label(c.name).has_value(), c.label) << c.name << ": " << c.because;
    EXPECT_EQ(CheckDns1123Subdomain(c.name).has_value(), c.subdomain)
        << c.name << ": " << c.because;
    EXPECT_EQ(CheckQualifiedName(c.name).has_value(), c.qualified) << c.name << ": " << c.because;
    EXPECT_EQ(CheckLabelValue(c.name).has_value(), c.value) << c.name << ": " << c.because;
  }
}

TEST(Names, SayWhatTheyMustBe) {
  EXPECT_EQ(CheckDns1123Label("").error(), Error(Code::kInvalid, "must not be empty"));
  EXPECT_EQ(CheckDns1123Label(std::string(70, 'x')).error().message(),
            "must be at most 63 characters, not 70");
  EXPECT_EQ(CheckDns1123Label("A").error().message(),
            "must be lower case letters, digits or '-', and begin and end with a letter or digit");
  EXPECT_EQ(CheckQualifiedName("/a").error().message(),
            "its part before the '/' must not be empty");
}

TEST(Names, OfSlotsFitIntoALabel) {
  EXPECT_EQ(SlotJobName("hello", 1795255200), "hello-1795255200");
  const std::string longest(limits::kJobConfigNameLength, 'x');
  const std::string name = SlotJobName(longest, 99'999'999'999);
  EXPECT_LE(name.size(), 63u);
  EXPECT_TRUE(CheckDns1123Subdomain(name));
}

TEST(Names, OfJobsAreCutToBeALabelsValue) {
  EXPECT_EQ(JobLabelValue("hello"), "hello");
  EXPECT_EQ(JobLabelValue(std::string(63, 'x')), std::string(63, 'x'));
  const std::string longest = JobLabelValue(std::string(64, 'x'));
  EXPECT_EQ(longest.size(), 63u);
  EXPECT_EQ(longest.substr(0, 55), std::string(54, 'x') + "-");
  EXPECT_NE(longest, JobLabelValue(std::string(65, 'x'))) << "all of the name counts";
  const std::string dotted = JobLabelValue(std::string(50, 'x') + ".-.-" + std::string(50, 'y'));
  EXPECT_EQ(dotted.size(), 59u) << dotted;
  EXPECT_TRUE(CheckLabelValue(longest) && CheckLabelValue(dotted));
}

TEST(TaskNames, AreTheJobsIfThatFits) {
  EXPECT_EQ(TaskName("hello", kUid, 0, 0), "hello-0-0");
  EXPECT_EQ(TaskName("hello", kUid, 12, 3), "hello-12-3");
  const std::string job(59, 'x');
  EXPECT_EQ(TaskName(job, kUid, 1, 2), job + "-1-2");
}

TEST(TaskNames, AreCutToFit) {
  const std::string job(60, 'x');
  EXPECT_EQ(TaskName(job, kUid, 1, 2), std::string(50, 'x') + "-0f8fad5b-1-2");
  EXPECT_EQ(TaskName(std::string(49, 'x') + ".aaaaaaaaaa", kUid, 1, 2),
            std::string(49, 'x') + "-0f8fad5b-1-2");
  const std::string other = TaskName(job, "not a uuid", 1, 2);
  EXPECT_EQ(other.size(), 63u);
  EXPECT_NE(other, TaskName(job, "nor this", 1, 2));
}

TEST(TaskNames, AreValidAndDifferForEveryIndexAndAttempt) {
  for (const size_t length : {1u, 49u, 55u, 58u, 60u}) {
    const std::string job(length, 'j');
    std::set<std::string> names;
    for (int64_t index = 0; index < limits::kIndexesPerJob; ++index) {
      names.insert(TaskName(job, kUid, index, 0));
    }
    for (int64_t attempt = 1; attempt < limits::kAttemptsPerIndex; ++attempt) {
      names.insert(TaskName(job, kUid, limits::kIndexesPerJob - 1, attempt));
    }
    EXPECT_EQ(names.size(),
              static_cast<size_t>(limits::kIndexesPerJob + limits::kAttemptsPerIndex - 1));
    for (const std::string& name : names) ASSERT_TRUE(CheckDns1123Label(name)) << name;
  }
}

TEST(TaskNames, OfJobsThatAreCutAlikeDiffer) {
  const std::string job(60, 'x');
  EXPECT_NE(TaskName(job + "a", "11111111-0000", 0, 0), TaskName(job + "b", "22222222-0000", 0, 0));
}

TEST(TaskNames, GoWithAKey) {
  EXPECT_EQ(TaskKey("u-1", 7, 2), "u-1/7/2");
}

TEST(DerivedUids, AreUuidsOfVersionEightThatDoNotChange) {
  const std::string uid = DerivedUid("default/hello/1795255200");
  ASSERT_EQ(uid.size(), 36u);
  EXPECT_EQ(uid, DerivedUid("default/hello/1795255200"));
  for (const size_t dash : {8u, 13u, 18u, 23u}) EXPECT_EQ(uid[dash], '-');
  EXPECT_EQ(uid[14], '8');
  EXPECT_NE(std::string("89ab").find(uid[19]), std::string::npos);
  EXPECT_EQ(uid.find_first_not_of("0123456789abcdef-"), std::string::npos);
}

TEST(DerivedUids, DifferInTheirFirstDigitsToo) {
  std::set<std::string> uids, heads;
  for (int i = 0; i < 20'000; ++i) {
    const std::string uid = DerivedUid("job-" + std::to_string(i));
    uids.insert(uid);
    heads.insert(uid.substr(0, 8));
  }
  EXPECT_EQ(uids.size(), 20'000u);
  // Of 20,000 random 32-bit numbers about one pair in twenty runs is equal.
  EXPECT_GE(heads.size(), 19'998u);
}

}  // namespace
}  // namespace detent
