#include "core/cli/apply_patch.h"

#include <gtest/gtest.h>

#include "core/api/labels.h"
#include "core/base/json_patch.h"

namespace detent {
namespace {

Json Of(const char* text) {
  const auto json = ParseJson(text);
  EXPECT_TRUE(json) << text;
  return json ? *json : Json();
}

TEST(ApplyPatch, ChangesWhatTheFileSaysAndNothingElse) {
  struct Row {
    const char* last;
    const char* wanted;
    const char* stored;
    const char* patch;
    const char* because;
  };
  const Row rows[] = {
      {"null", R"({"a":1})", R"({"a":1})", "{}", "there is nothing to do"},
      {R"({"a":1})", R"({"a":2})", R"({"a":1})", R"({"a":2})", "the file changed it"},
      {R"({"a":1})", R"({"a":1})", R"({"a":5})", R"({"a":1})", "somebody else changed it"},
      {R"({"a":1,"b":2})", R"({"a":1})", R"({"a":1,"b":2})", R"({"b":null})",
       "the file dropped it"},
      {R"({"a":1,"b":2})", R"({"a":1})", R"({"a":1})", "{}", "what was dropped is gone already"},
      {R"({"a":1})", R"({"a":1})", R"({"a":1,"b":2})", "{}", "b belongs to somebody else"},
      {"null", R"({"a":1})", R"({"a":1,"b":2})", "{}", "nothing is known of the last time"},
      {R"({"s":{"x":1,"y":1}})", R"({"s":{"x":2}})", R"({"s":{"x":1,"y":1,"z":1}})",
       R"({"s":{"x":2,"y":null}})", "inside objects it is the same"},
      {R"({"s":{"y":1}})", R"({"s":{}})", R"({"s":{"y":1}})", R"({"s":{"y":null}})",
       "an object that is left empty stays"},
      {R"({"s":{"y":1}})", "{}", R"({"s":{"y":1}})", R"({"s":null})", "a whole object is dropped"},
      {"null", R"({"l":[1,2]})", R"({"l":[1]})", R"({"l":[1,2]})", "arrays are replaced whole"},
      {"null", R"({"a":{"b":1}})", R"({"a":3})", R"({"a":{"b":1}})", "the type changed"},
      {R"({"a":1})", R"({"a":null})", R"({"a":1})", R"({"a":null})", "null says absent"},
      {"null", R"({"a":null})", R"({})", "{}", "and is no change where it is absent"},
      {"null", R"({"s":{"a":1,"b":null}})", "{}", R"({"s":{"a":1}})", "nor sent with its object"},
      {"null", R"({"a":1.0})", R"({"a":1})", "{}", "numbers compare by value"},
  };
  for (const Row& row : rows) {
    const Json patch = ThreeWayPatch(Of(row.last), Of(row.wanted), Of(row.stored));
    EXPECT_EQ(DumpJson(patch), DumpJson(Of(row.patch))) << row.because;
  }
}

TEST(ApplyPatch, WhatWasAppliedIsReadBack) {
  const Json document = WithLastApplied(Of(
      R"({"metadata":{"name":"x","uid":"u","annotations":{"a":"b"}},"spec":{"a":1},"status":{}})"));
  EXPECT_EQ(document.Find("status"), nullptr);
  EXPECT_EQ(document.At("/metadata/uid"), nullptr);
  const auto last = LastApplied(document);
  ASSERT_TRUE(last);
  EXPECT_EQ(DumpJson(*last), R"({"metadata":{"name":"x","annotations":{"a":"b"}},"spec":{"a":1}})");
  EXPECT_EQ(ThreeWayPatch(*last, WithLastApplied(document), document), Json(Json::Object()));
}

TEST(ApplyPatch, AnAnnotationThatIsNoJsonIsAnError) {
  Json annotations;
  annotations.Set(labels::kLastApplied, "{");
  Json metadata;
  metadata.Set("annotations", std::move(annotations));
  Json stored;
  stored.Set("metadata", std::move(metadata));
  EXPECT_FALSE(LastApplied(stored));
  EXPECT_TRUE(LastApplied(Of("{}"))->is_null());
}

}  // namespace
}  // namespace detent
