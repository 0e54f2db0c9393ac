#include "core/http/selectors.h"

#include <gtest/gtest.h>

namespace detent {
namespace {

TEST(LabelSelector, MatchesAsKubernetesDoes) {
  const StringMap labels = {{"app", "web"}, {"tier", ""}, {"x.io/y", "1"}};
  struct Row {
    const char* text;
    bool matches;
    const char* because;
  };
  const Row rows[] = {
      {"", true, "nothing is required"},
      {"app=web", true, "equal"},
      {"app==web", true, "the other spelling"},
      {" app = web , x.io/y=1 ", true, "blanks do not count"},
      {"app!=web", false, "it is"},
      {"none!=web", true, "what is not there is not equal"},
      {"app in (db,web)", true, "one of"},
      {"app in (db)", false, "none of"},
      {"app notin (db)", true, "outside"},
      {"none notin (db)", true, "what is not there is outside"},
      {"app", true, "exists"},
      {"none", false, "does not exist"},
      {"!none", true, "must not exist"},
      {"! app", false, "but does"},
      {"tier=", true, "an empty value is a value"},
      {"tier in (,a)", true, "in a set too"},
      {"app=web,tier=x", false, "all must hold"},
  };
  for (const Row& row : rows) {
    const Result<LabelSelector> selector = LabelSelector::Parse(row.text);
    ASSERT_TRUE(selector) << row.text << ": " << selector.error().message();
    EXPECT_EQ(selector->Matches(labels), row.matches) << row.text << ": " << row.because;
  }
}

TEST(LabelSelector, RefusesWhatItCannotRead) {
  for (const char* text : {"a b", "=", "a=b,", ",a", "a in b", "a in (b", "a in (b c)", "!a=b",
                           "a=b=c", "-a", "a=b/c", "a<1", "a!b", "()"}) {
    const Result<LabelSelector> selector = LabelSelector::Parse(text);
    EXPECT_FALSE(selector) << text;
  }
}

TEST(FieldSelector, ComparesTheFieldsOfAKind) {
  Object job;
  job.kind = Kind::kJob;
  job.meta.name = "a";
  job.meta.ns = "n";
  job.status = R"({"phase":"Running"})";
  struct Row {
    const char* text;
    bool matches;
  };
  for (const Row& row : {Row{"metadata.name=a", true}, Row{"metadata.name!=a", false},
                         Row{"metadata.namespace==n,status.phase=Running", true},
                         Row{"status.phase!=Running", false}, Row{"status.phase=", false},
                         Row{"metadata.name=\\a", true}, Row{"", true}}) {
    const Result<FieldSelector> selector = FieldSelector::Parse(Kind::kJob, row.text);
    ASSERT_TRUE(selector) << row.text;
    EXPECT_EQ(selector->Matches(job), row.matches) << row.text;
  }
  EXPECT_TRUE(FieldSelector::Parse(Kind::kJob, "status.phase=x")->SelectsMutable());
  EXPECT_FALSE(FieldSelector::Parse(Kind::kTask, "spec.jobName=x")->SelectsMutable());
  EXPECT_EQ(FieldSelector::Parse(Kind::kTask, "metadata.name=x")->RequiredName(), "x");
}

TEST(FieldSelector, RefusesFieldsThatAKindDoesNotOffer) {
  for (const char* text : {"status.phase=x", "spec=x", "metadata.name", "metadata.name>a"}) {
    EXPECT_FALSE(FieldSelector::Parse(Kind::kJobConfig, text)) << text;
  }
  EXPECT_EQ(FieldSelector::Parse(Kind::kJob, "spec.x=1").error().message(),
            "field label not supported: spec.x");
}

}  // namespace
}  // namespace detent
