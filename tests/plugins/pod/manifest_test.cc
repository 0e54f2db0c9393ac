// The Pod that is created, as the server gets it.

#include "tests/plugins/pod/pod_fixture.h"

namespace detent::testing {
namespace {

class PodManifest : public PodRun {
 protected:
  Json Created(const std::string& spec) {
    Started("job-0-1", spec);
    return *ParseJson(kube().asked().front().body);
  }
};

TEST_F(PodManifest, IsTheTemplateWithTheTasksName) {
  const Json pod = Created(
      R"({"metadata":{"name":"x","labels":{"app":"a"},"annotations":{"b":"c"},)"
      R"("finalizers":["example.org/hold"]},"spec":{"volumes":[{"name":"v","emptyDir":{}}],)"
      R"("containers":[{"name":"main","image":"i","args":["a \"b\""],"newField":1.50}],)"
      R"("priority":9007199254740993,"terminationGracePeriodSeconds":5},"deletePods":"Always"})");
  EXPECT_EQ(DumpJson(pod),
            R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"job-0-1","labels":{"app":"a"},)"
            R"("annotations":{"b":"c"},"finalizers":["example.org/hold"]},"spec":{)"
            R"("volumes":[{"name":"v","emptyDir":{}}],"containers":[{"name":"main","image":"i",)"
            R"("args":["a \"b\""],"newField":1.5,"env":[{"name":"DETENT_JOB_NAME","value":"job"},)"
            R"({"name":"DETENT_TASK_NAME","value":"job-0-1"},)"
            R"({"name":"DETENT_TASK_INDEX","value":"0"},)"
            R"({"name":"DETENT_TASK_ATTEMPT","value":"1"}]}],"priority":9007199254740993,)"
            R"("terminationGracePeriodSeconds":5,"restartPolicy":"Never"}})");
}

TEST_F(PodManifest, LeavesTheEnvironmentThatIsSetAlone) {
  const Json pod = Created(
      R"({"spec":{"restartPolicy":"OnFailure","initContainers":[{"name":"i","image":"i"}],)"
      R"j("containers":[{"name":"main","image":"i",)j"
      R"j("env":[{"name":"A","value":"$(DETENT_JOB_NAME)"},)j"
      R"({"name":"DETENT_TASK_INDEX","value":"mine"},{"name":"S","valueFrom":{"secretKeyRef":)"
      R"({"name":"s","key":"k"}}}]}]}})");
  EXPECT_EQ(TextAt(pod, "/spec/restartPolicy"), "OnFailure");
  const char* const environment =
      R"j([{"name":"DETENT_JOB_NAME","value":"job"},)j"
      R"j({"name":"DETENT_TASK_NAME","value":"job-0-1"},)j"
      R"j({"name":"DETENT_TASK_ATTEMPT","value":"1"},)j"
      R"j({"name":"A","value":"$(DETENT_JOB_NAME)"},)j"
      R"j({"name":"DETENT_TASK_INDEX","value":"mine"},{"name":"S","valueFrom":)j"
      R"j({"secretKeyRef":{"name":"s","key":"k"}}}])j";
  EXPECT_EQ(DumpJson(*pod.At("/spec/containers/0/env")), environment)
      << "ours come first, so that theirs may refer to them";
  EXPECT_EQ(TextAt(pod, "/spec/initContainers/0/env/0/name"), "DETENT_JOB_NAME");
}

}  // namespace
}  // namespace detent::testing
