#include "core/base/diagnostic.h"

#include <gtest/gtest.h>

namespace detent {
namespace {

TEST(Diagnostic, WritesPathsAsKubernetesDoes) {
  struct Case {
    const char* pointer;
    const char* path;
    const char* because;
  };
  const Case cases[] = {
      {"", "", "the whole object"},
      {"/spec", "spec", "one step"},
      {"/spec/a/0", "spec.a[0]", "an index"},
      {"/spec/a/0/1/b", "spec.a[0][1].b", "a list in a list"},
      {"/metadata/labels/app.example~1name", "metadata.labels[app.example/name]",
       "a key that could be misread stands in brackets"},
      {"/a/~0b", "a[~b]", "a tilde is unescaped"},
      {"/a/", "a[]", "an empty key"},
      {"spec", "spec", "no pointer is left as it is"},
  };
  for (const Case& c : cases) EXPECT_EQ(FieldPath(c.pointer), c.path) << c.because;
}

TEST(Diagnostic, SaysWhereWhatAndWhatToDo) {
  Diagnostic diagnostic{"/spec/timezne", Diagnostic::Reason::kUnknownField, "is no known field",
                        "did you mean 'timezone'?"};
  EXPECT_EQ(Sentence(diagnostic), "spec.timezne: is no known field (did you mean 'timezone'?)");
  diagnostic.hint.clear();
  EXPECT_EQ(Sentence(diagnostic), "spec.timezne: is no known field");
  diagnostic.pointer.clear();
  EXPECT_EQ(Sentence(diagnostic), "is no known field");
}

TEST(Diagnostic, HasACauseForEveryReason) {
  using Reason = Diagnostic::Reason;
  EXPECT_STREQ(CauseReason(Reason::kRequired), "FieldValueRequired");
  EXPECT_STREQ(CauseReason(Reason::kInvalid), "FieldValueInvalid");
  EXPECT_STREQ(CauseReason(Reason::kNotSupported), "FieldValueNotSupported");
  EXPECT_STREQ(CauseReason(Reason::kForbidden), "FieldValueForbidden");
  EXPECT_STREQ(CauseReason(Reason::kDuplicate), "FieldValueDuplicate");
  EXPECT_STREQ(CauseReason(Reason::kTooMany), "FieldValueTooMany");
  EXPECT_STREQ(CauseReason(Reason::kTooLong), "FieldValueTooLong");
  EXPECT_STREQ(CauseReason(Reason::kTypeInvalid), "FieldValueTypeInvalid");
  EXPECT_STREQ(CauseReason(Reason::kNotFound), "FieldValueNotFound");
  EXPECT_STREQ(CauseReason(Reason::kUnknownField), "FieldValueInvalid");
}

}  // namespace
}  // namespace detent
