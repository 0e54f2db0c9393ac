// What a pod spec may be, and what is said of one that may not.

#include <gtest/gtest.h>

#include "core/base/json.h"
#include "core/plugin/host_table.h"
#include "detent/services/expr.h"
#include "tests/plugins/findings.h"

namespace detent::testing {
namespace {

const PluginUnderTest kPod = {DETENT_POD_PLUGIN, "pod"};

TEST(PodSpec, TakesWhatKubernetesTakes) {
  ExpectSpecs(
      kPod,
      {
          {R"({"spec":{"containers":[{"name":"c","image":"alpine"}]}})", "", "the least"},
          {R"({"metadata":{"labels":{"app":"x","example.org/y":""},"annotations":{"a/b":"any é"},)"
           R"("finalizers":["example.org/hold"]},"spec":{"containers":[{"name":"c","image":"i"}],)"
           R"("restartPolicy":"OnFailure"},"deletePods":"OnSuccess"})",
           "", "all of our own"},
          {R"({"spec":{"containers":[{"name":"c","image":"i","newField":{"x":[1]}}],)"
           R"("fieldOfANewerKubernetes":true,"priority":5}})",
           "", "what we do not know is the server's to judge"},
          {R"({"spec":{"containers":[{"name":"${job.name}","image":"a:${option.tag}","env":)"
           R"([{"name":"A","value":"${x}"},{"name":"B","valueFrom":{}}]}],)"
           R"("restartPolicy":"${option.policy}"},"metadata":{"labels":{"l":"${a b}"}},)"
           R"("deletePods":"${option.delete}"})",
           "", "what is filled in later is judged later"},
          {R"({"metadata":{"creationTimestamp":null},"spec":{"containers":)"
           R"([{"name":"c","image":"i","env":null}],"initContainers":null}})",
           "", "null is the same as nothing"},
      });
}

TEST(PodSpec, SaysWhatIsWrongAndWhere) {
  ExpectSpecs(
      kPod,
      {
          {"{}", "/spec Required", "nothing to run"},
          {R"({"spec":{}})", "/spec/containers Required", "nothing to run"},
          {R"({"spec":{"containers":[]}})", "/spec/containers Required", "nothing to run"},
          {R"({"spec":[]})", "/spec WrongType", "no PodSpec"},
          {R"({"spec":{"containers":{"name":"c"}}})", "/spec/containers WrongType", "no list"},
          {R"({"spec":{"containers":["c"]}})", "/spec/containers/0 WrongType", "no container"},
          {R"({"spec":{"containers":[{}]}})",
           "/spec/containers/0/name Required; /spec/containers/0/image Required",
           "all mistakes at once"},
          {R"({"spec":{"containers":[{"name":"C","image":""}]}})",
           "/spec/containers/0/image Required; /spec/containers/0/name BadName", "a DNS label"},
          {R"({"spec":{"containers":[{"name":"c","image":3}]}})",
           "/spec/containers/0/image WrongType (put it in quotes)", "YAML made it a number"},
          {R"({"spec":{"containers":[{"name":"c","image":"i"},{"name":"c","image":"i"}]}})",
           "/spec/containers/1/name NameTaken", "statuses are told apart by name"},
          {R"({"spec":{"initContainers":[{"name":"c","image":"i"}],)"
           R"("containers":[{"name":"c","image":"i"}]}})",
           "/spec/containers/0/name NameTaken", "init containers too"},
          {R"({"spec":{"containers":[{"name":"c","image":"i","env":{"A":"1"}}]}})",
           "/spec/containers/0/env WrongType", "a list"},
          {R"({"spec":{"containers":[{"name":"c","image":"i",)"
           R"("env":[{"name":"A","value":1},{},2]}]}})",
           "/spec/containers/0/env/0/value WrongType (put it in quotes); "
           "/spec/containers/0/env/1/name Required; /spec/containers/0/env/2 WrongType",
           "variables are texts"},
          {R"({"spec":{"containers":[{"name":"c","image":"i"}],"restartPolicy":"Always"}})",
           "/spec/restartPolicy UnknownValue (leave it out for Never, and let maxAttempts of the "
           "Job repeat it)",
           "it would never end"},
          {R"({"spec":{"containers":[{"name":"c","image":"i"}],"restartPolicy":"OnFailur"}})",
           "/spec/restartPolicy UnknownValue (did you mean `OnFailure`?)", "a slip"},
          {R"({"spec":{"containers":[{"name":"c","image":"i"}],"restartPolicy":1}})",
           "/spec/restartPolicy UnknownValue", "no text"},
          {R"({"spec":{"containers":[{"name":"c","image":"i"}]},"deletePod":"Always"})",
           "/deletePod UnknownField (did you mean `deletePods`?)", "a slip"},
          {R"({"spec":{"containers":[{"name":"c","image":"i"}]},"deletePods":"Alway"})",
           "/deletePods UnknownValue (did you mean `Always`?)", "a slip"},
      });
}

TEST(PodSpec, JudgesMetadataAsTheServerWould) {
  const std::string spec = R"("spec":{"containers":[{"name":"c","image":"i"}]}})";
  const auto with = [&](const char* metadata) {
    return "{\"metadata\":" + (metadata + ("," + spec));
  };
  struct Row {
    const char* metadata;
    const char* findings;
  };
  const Row rows[] = {
      {R"({"labels":{"a":1}})", "/metadata/labels/a WrongType (put it in quotes)"},
      {R"({"labels":["a"]})", "/metadata/labels WrongType"},
      {R"({"labels":{"-a":"x"}})", "/metadata/labels/-a BadName"},
      {R"({"labels":{"UPPER.example/a":"x"}})", "/metadata/labels/UPPER.example~1a BadName"},
      {R"({"labels":{"a":"two words"}})",
       "/metadata/labels/a BadValue (an annotation may have any text)"},
      {R"({"labels":{"detent.dev/task":"x"}})",
       "/metadata/labels/detent.dev~1task Reserved (take a prefix of your own)"},
      {R"({"annotations":{"execution.detent.dev/x":"y"}})",
       "/metadata/annotations/execution.detent.dev~1x Reserved (take a prefix of your own)"},
      {R"({"finalizers":["detent.dev/task-tracking",1]})",
       "/metadata/finalizers/0 Reserved (take a prefix of your own); /metadata/finalizers/1 "
       "WrongType"},
      {R"({"finalizers":{}})", "/metadata/finalizers WrongType"},
      {R"({"label":{}})", "/metadata/label UnknownField (did you mean `labels`?)"},
      {R"("x")", "/metadata WrongType"},
  };
  FakeHost host(kPod.path, kPod.kind);
  for (const Row& row : rows) {
    EXPECT_EQ(Findings(host.Validate(with(row.metadata))), row.findings) << row.metadata;
  }
}

TEST(PodSpec, WarnsOfWhatIsNotTheTemplatesToSay) {
  FakeHost host(kPod.path, kPod.kind);
  const auto findings = host.Validate(
      R"({"metadata":{"name":"x","generateName":"y-","ownerReferences":[],"namespace":"z"},)"
      R"("spec":{"containers":[{"name":"c","image":"i"}]}})");
  ASSERT_EQ(findings.size(), 4u);
  for (const Finding& finding : findings) {
    EXPECT_EQ(finding.severity, DETENT_DIAG_WARNING);
    EXPECT_EQ(finding.reason, "FieldIgnored");
  }
  EXPECT_EQ(findings[0].pointer, "/metadata/name");
}

TEST(PodSpec, OffersResultJsonPathWhereTheHostEvaluatesExpressions) {
  const std::string start =
      R"({"spec":{"containers":[{"name":"c","image":"i"}]},"resultJsonPath":)";
  FakeHost host(kPod.path, kPod.kind);
  EXPECT_EQ(Findings(host.Validate(start + "\".rows\"}")),
            "/resultJsonPath NotOffered (leave it out; the whole termination message is the "
            "output)");
  FakeHost::SetPureService(DETENT_SVC_EXPR, ExprService());
  EXPECT_EQ(Findings(host.Validate(start + "\".rows\"}")), "");
  EXPECT_EQ(Findings(host.Validate(start + "\"$.rows[0]\"}")), "");
  EXPECT_EQ(Findings(host.Validate(start + "\".rows[\"}")).substr(0, 29),
            "/resultJsonPath BadExpression")
      << "and in the host's words what it stumbled over";
  EXPECT_EQ(Findings(host.Validate(start + "\".rows == 1\"}")), "/resultJsonPath BadExpression");
  EXPECT_EQ(Findings(host.Validate(start + "\"${option.path}\"}")), "");
  EXPECT_EQ(Findings(host.Validate(start + "7}")),
            "/resultJsonPath WrongType (`.rows` selects the member `rows` of the termination "
            "message)");
  FakeHost::SetPureService(DETENT_SVC_EXPR, nullptr);
}

TEST(PodSpec, IsDescribedByASchema) {
  ExpectSchemaFields(kPod, DETENT_SCHEMA_SPEC,
                     {"metadata", "spec", "deletePods", "resultJsonPath"});
  FakeHost host(kPod.path, kPod.kind);
  EXPECT_TRUE(ParseJson(host.Schema(DETENT_SCHEMA_CONFIG)));
}

TEST(PodConfig, HasNothingToConfigure) {
  ExpectConfigs(kPod, {{"{}", "", "all there is"},
                       {R"({"kubeconfig":"/x"})", "/kubeconfig UnknownField", "that is the host's"},
                       {"[]", " WrongType", "no object"}});
}

}  // namespace
}  // namespace detent::testing
