// What is read of a Pod.

#include "plugins/pod/pod.h"

#include <gtest/gtest.h>

#include "core/api/labels.h"
#include "plugins/pod/marks.h"
#include "plugins/pod/rfc3339.h"
#include "tests/plugins/pod/sample.h"

namespace detent::pod {
namespace {

TEST(PodReading, TakesWhatAStatusIsMadeOf) {
  const auto pod = ReadPod(kFinishedPod);
  ASSERT_TRUE(pod);
  EXPECT_EQ(pod->ns, "default");
  EXPECT_EQ(pod->name, "hello-0-1");
  EXPECT_EQ(pod->uid, "5f4dcc3b-5aa7-65d6-1d83-27deb882cf99");
  EXPECT_EQ(pod->version, 812734u);
  EXPECT_EQ(pod->task_key, "0b1c2d3e-4f50-6172-8394-a5b6c7d8e9f0.0.1");
  EXPECT_EQ(pod->node, "node-17.example.test");
  EXPECT_EQ(pod->phase, "Succeeded");
  EXPECT_EQ(pod->ip, "10.1.2.3");
  EXPECT_EQ(pod->created_ns, *ParseTime("2026-11-20T10:00:00Z"));
  EXPECT_FALSE(pod->deleting());
  EXPECT_EQ(pod->deletion_grace, std::nullopt);
  ASSERT_EQ(pod->containers.size(), 2u);
  EXPECT_EQ(pod->containers[0].kind, Container::Kind::kInit);
  const Container* const main = pod->main();
  ASSERT_NE(main, nullptr);
  EXPECT_EQ(main->name, "job-container");
  EXPECT_TRUE(main->ended.there);
  EXPECT_EQ(main->ended.message, R"({"rows":17,"files":["a","b"]})");
  EXPECT_EQ(main->ended.finished_ns, *ParseTime("2026-11-20T10:00:08Z"));
  ASSERT_NE(pod->condition("PodScheduled"), nullptr);
  EXPECT_TRUE(pod->condition("PodScheduled")->holds);
}

TEST(PodReading, TellsContainersApartWhateverComesFirst) {
  const auto pod = ReadPod(R"({"status":{"phase":"Running",
      "containerStatuses":[{"name":"b","state":{"running":{"startedAt":"2026-11-20T10:00:00Z"}}},
                           {"name":"a","restartCount":2,"state":{"waiting":{"reason":"R",
                            "message":"M"}},"lastState":{"terminated":{"exitCode":7,"signal":9}}}],
      "initContainerStatuses":[{"name":"s","state":{"running":{}}}]},
      "spec":{"containers":[{"name":"a"},{"name":"b"}],
              "initContainers":[{"name":"i"},{"name":"s","restartPolicy":"Always"}]},
      "metadata":{"annotations":{"kubectl.kubernetes.io/default-container":"b"},
                  "deletionTimestamp":"2026-11-20T10:00:30Z","deletionGracePeriodSeconds":30}})");
  ASSERT_TRUE(pod);
  ASSERT_EQ(pod->containers.size(), 4u);
  EXPECT_EQ(pod->containers[0].state, Container::State::kUnknown);
  EXPECT_EQ(pod->containers[1].kind, Container::Kind::kSidecar);
  EXPECT_EQ(pod->containers[1].state, Container::State::kRunning);
  EXPECT_EQ(pod->containers[2].waiting_reason, "R");
  EXPECT_EQ(pod->containers[2].last.exit_code, 7);
  EXPECT_EQ(pod->containers[2].restarts, 2);
  EXPECT_EQ(pod->main()->name, "b");
  EXPECT_EQ(pod->deletion_grace, 30);
}

TEST(PodReading, RefusesWhatIsNoPod) {
  EXPECT_FALSE(ReadPod(R"({"kind":"Status","metadata":{}})"));
  EXPECT_FALSE(ReadPod("[]"));
  EXPECT_TRUE(ReadPod("{}")) << "an object of a list says no kind";
}

TEST(PodReading, KnowsTheMarksByTheNamesThatTheHostGivesThem) {
  EXPECT_EQ(kTaskKeyLabel, labels::kTaskKey);
  for (const char* mark : {labels::kTaskKey, labels::kTrackedBy, labels::kTaskTracking,
                           labels::kJobUid, labels::kJobName, labels::kIndex, labels::kAttempt}) {
    EXPECT_TRUE(IsReserved(mark)) << mark;
  }
  for (const char* other : {"app", "example.org/detent.dev", "mydetent.dev/x", "detent.dev",
                            "fake.detent.dev/outcome"}) {
    EXPECT_FALSE(IsReserved(other)) << other;
  }
}

}  // namespace
}  // namespace detent::pod
