// What the API server checks and what admission checks is the same: a bound or a rule that one of
// them has and the other has not would be a Job that runs in one home and not in the other.

#include "core/crd/constraints.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "core/api/admission.h"
#include "tests/api/examples.h"

namespace detent {
namespace {

using testing::Context;
using testing::FromYaml;
using testing::GoodJob;
using testing::GoodJobConfig;
using testing::Sentences;
using testing::With;

constexpr Kind kWritten[] = {Kind::kJobConfig, Kind::kJob};  // By people; a Task is not.

// A good object in which `pointer` may be set.
Json GoodFor(Kind kind, const std::string& pointer) {
  Json good = kind == Kind::kJob ? GoodJob() : GoodJobConfig();
  if (pointer == "/metadata/generateName") return With(good, "/metadata/name", "");
  if (pointer == "/spec/configName") return With(good, "/spec/template", "");
  if (pointer.starts_with("/spec/schedule/cron/expressions")) {
    return With(good, "/spec/schedule/cron/expression", "");
  }
  if (pointer.ends_with("/parallelism/completionStrategy")) {
    const size_t cut = pointer.rfind('/');
    return With(good, pointer.substr(0, cut), "{withCount: 2}");
  }
  return good;
}

struct Probe {
  std::string good, bad;  // YAML; empty: not probed.
};

Probe ProbeOf(const FieldBound& bound) {
  const auto text = [](int64_t length) {
    return "'" + std::string(static_cast<size_t>(length), 'a') + "'";
  };
  const int64_t value = bound.value.is_int() ? bound.value.as_int() : 0;
  if (bound.keyword == "minimum") return {std::to_string(value), std::to_string(value - 1)};
  if (bound.keyword == "maximum") return {std::to_string(value), std::to_string(value + 1)};
  if (bound.keyword == "maxLength") return {text(value), text(value + 1)};
  if (bound.keyword == "minLength") return {"", "''"};
  if (bound.keyword == "minItems") return {"['* * * * *']", "[]"};
  if (bound.keyword == "minProperties") return {"{http: {}}", "{}"};
  if (bound.keyword == "maxProperties") return {"{http: {}}", "{http: {}, exec: {command: [a]}}"};
  if (bound.keyword == "pattern") return {"a-b.c", "'-a'"};
  return {};
}

std::string Admitted(Kind kind, const FieldBound& bound, const std::string& yaml) {
  std::string pointer = bound.pointer;
  std::string value = yaml;
  if (pointer == "/spec/schedule/cron/expressions/*") {
    value = "[" + yaml + "]";
    pointer.resize(pointer.size() - 2);
  } else if (pointer.ends_with("/*")) {
    pointer.back() = 'x';
  }
  return Sentences(AdmitNew(kind, With(GoodFor(kind, pointer), pointer, value), Context()));
}

TEST(Constraints, AdmissionHasTheSameBounds) {
  for (const Kind kind : kWritten) {
    for (const FieldBound& bound : BoundsOf(kind)) {
      if (bound.keyword == "default") continue;
      const std::string here = bound.pointer + " " + bound.keyword;
      const Probe probe = ProbeOf(bound);
      ASSERT_NE(probe.bad, "") << here << ": say here what is refused";
      const std::string path = FieldPath(bound.pointer.substr(0, bound.pointer.find("/*")));
      const std::string refusal = Admitted(kind, bound, probe.bad);
      EXPECT_NE(refusal.find(path), std::string::npos) << here << ": " << refusal;
      if (probe.good.empty()) continue;
      EXPECT_EQ(Admitted(kind, bound, probe.good), "") << here;
    }
  }
}

// What admission puts in, but for what needs a clock or metadata.
void Added(const Json& before, const Json& after, const std::string& pointer,
           std::map<std::string, Json>& added) {
  if (!after.is_object()) return;
  for (const auto& [name, value] : after.as_object()) {
    const Json* was = before.Find(name);
    if (was == nullptr) {
      added.emplace(pointer + "/" + name, value);
    } else {
      Added(*was, value, pointer + "/" + name, added);
    }
  }
}

TEST(Constraints, AdmissionHasTheSameDefaults) {
  for (const Kind kind : kWritten) {
    const std::string job_template = kind == Kind::kJob ? "/spec/template" : "/spec/template/spec";
    Json bare = kind == Kind::kJob ? GoodJob() : GoodJobConfig();
    bare = With(With(bare, job_template + "/maxAttempts", ""), job_template + "/parallelism",
                "{withCount: 2}");
    const Admission admission = AdmitNew(kind, bare, Context());
    ASSERT_EQ(Sentences(admission), "");
    std::map<std::string, Json> added;
    Added(*bare.Find("spec"), *ParseJson(admission.object.spec), "/spec", added);
    added.erase("/spec/schedule/lastUpdated");
    std::map<std::string, Json> defaults;
    for (const FieldBound& bound : BoundsOf(kind)) {
      if (bound.keyword == "default") defaults.emplace(bound.pointer, bound.value);
    }
    EXPECT_EQ(added, defaults) << NameOf(kind);
  }
}

// How to break a rule: a change of a good object that is new, or stored and then changed.
struct Breach {
  std::string field;  // Where the rule says that the mistake is.
  std::string rule;   // A part of it, to tell rules of one field apart.
  std::string pointer, yaml;
  bool update = false;
};

std::vector<Breach> BreachesOf(Kind kind) {
  if (kind == Kind::kJobConfig) {
    const std::string parallelism = "/spec/template/spec/parallelism";
    return {{"/spec/concurrency/maxConcurrency", "", "/spec/concurrency",
             "{policy: Allow, maxConcurrency: 2}"},
            {"/spec/schedule/cron", "", "/spec/schedule/cron/expressions", "['* * * * *']"},
            {"/spec/schedule/cron/expression", "", "/spec/schedule/cron/expression", ""},
            {"/spec/schedule/constraints/notAfter", "", "/spec/schedule/constraints",
             "{notBefore: '2026-01-01T00:00:00+08:00', notAfter: '2025-12-31T15:59:59Z'}"},
            {parallelism + "/withCount", "", parallelism, "{}"}};
  }
  const std::string job_template = "/spec/template";
  return {
      {job_template, "", "/spec", "{}"},
      {"/spec/configName", "has(self.template)", "/spec/configName", "nightly"},
      {"/spec/configName", "oldSelf", "/spec/configName", "nightly", true},
      {"/spec/type", "", "/spec/type", "Scheduled", true},
      {"/spec/substitutions", "oldSelf", "/spec/substitutions", "{job.name: x}", true},
      {"/spec/substitutions", "startsWith", "/spec/substitutions", "{name: x}"},
      {job_template + "/taskTemplate", "", job_template + "/taskTemplate/exec/command", "[b]",
       true},
      {job_template + "/parallelism", "", job_template + "/parallelism", "", true},
      {job_template + "/maxAttempts", "", job_template + "/maxAttempts", "7", true},
      {job_template + "/retryDelaySeconds", "", job_template + "/retryDelaySeconds", "7", true},
      {"/spec/startPolicy", "", "/spec/startPolicy", "{concurrencyPolicy: Allow}", true},
      {job_template + "/parallelism/withCount", "", job_template + "/parallelism", "{}"},
  };
}

Diagnostics MistakesOf(Kind kind, const Breach& breach) {
  const Json good = kind == Kind::kJob ? GoodJob() : GoodJobConfig();
  const Json bad = With(good, breach.pointer, breach.yaml);
  if (!breach.update) return AdmitNew(kind, bad, Context()).mistakes;
  Object old = AdmitNew(kind, good, Context()).object;
  old.status = R"({"startTime":"2026-11-21T09:00:00Z"})";
  return AdmitUpdate(old, bad, Context()).mistakes;
}

TEST(Constraints, AdmissionHasTheSameRules) {
  for (const Kind kind : kWritten) {
    for (const FieldRule& rule : RulesOf(kind)) {
      std::string field = rule.pointer + rule.path;
      std::replace(field.begin(), field.end(), '.', '/');
      const auto breaches = BreachesOf(kind);
      const auto breach = std::find_if(breaches.begin(), breaches.end(), [&](const Breach& b) {
        return b.field == field && rule.rule.find(b.rule) != std::string::npos;
      });
      ASSERT_NE(breach, breaches.end()) << field << ": say here how " << rule.rule << " is broken";
      const bool by_member = breach->rule == "startsWith";  // Admission names the member itself.
      const Diagnostics mistakes = MistakesOf(kind, *breach);
      const bool found =
          std::any_of(mistakes.begin(), mistakes.end(), [&](const Diagnostic& mistake) {
            return by_member ? mistake.pointer == field + "/name"
                             : mistake.pointer == field &&
                                   mistake.message.find(rule.message) != std::string::npos;
          });
      EXPECT_TRUE(found) << field << ": " << rule.message;
    }
  }
}

TEST(Constraints, ATaskKeepsAllOfItsSpecButTheTimeToEndIt) {
  std::vector<std::string> kept;
  for (const FieldRule& rule : RulesOf(Kind::kTask)) kept.push_back(rule.path);
  EXPECT_EQ(kept, (std::vector<std::string>{".jobName", ".jobUID", ".index", ".attempt", ".exec",
                                            ".http", ".pod", ".workflow", ".customResource",
                                            ".podGroup", ".knative"}));
}

}  // namespace
}  // namespace detent
