// What is found again after a restart, and in the middle of trouble with the watch.

#include "tests/plugins/pod/pod_fixture.h"

namespace detent::testing {
namespace {

class PodRecover : public PodRun {};

TEST_F(PodRecover, FindsEachPodAsItIsNow) {
  Started("job-0-1");
  Started("job-1-1");
  Started("job-2-1");
  NewHost();
  server().Run("job-1-1");
  server().End("job-2-1", 3);
  NewHost();
  kube().ForgetAsked();
  EXPECT_EQ(Is(Recovered("job-0-1", DETENT_PHASE_STARTING, DETENT_ADOPTED)), "Starting");
  EXPECT_EQ(Is(Recovered("job-1-1", DETENT_PHASE_STARTING, DETENT_ADOPTED)), "Running");
  EXPECT_EQ(Is(Recovered("job-2-1", DETENT_PHASE_RUNNING, DETENT_TERMINATED)), "Failed ExitCode");
  EXPECT_TRUE(kube().asked().empty()) << "one list tells it all";
}

TEST_F(PodRecover, FollowsOnFromThere) {
  Started("job-0-1");
  NewHost();
  const detent_task task = Recovered("job-0-1", DETENT_PHASE_STARTING, DETENT_ADOPTED);
  server().End("job-0-1", 0);
  Settle();
  EXPECT_EQ(Is(task), "Succeeded");
  EXPECT_EQ(After(host().Recover(task)).code, DETENT_TERMINATED) << "again: the same answer";
  Release(task);
  EXPECT_EQ(Marks("job-0-1"), "free");
}

TEST_F(PodRecover, SaysThatThereIsNoneWhereTheListSaysSo) {
  Recovered("job-0-1", DETENT_PHASE_STARTING, DETENT_NOT_FOUND);
  EXPECT_EQ(kube().count(KubeAct::kGet), 0u) << "most that are asked about were never begun";
  Recovered("job-1-1", DETENT_PHASE_RUNNING, DETENT_NOT_FOUND);
  EXPECT_EQ(kube().count(KubeAct::kGet), 1u) << "it ran, so its absence is to be made sure of";
  kube().Inject({KubeAct::kGet, DETENT_E_UNAVAILABLE, 503, "", "down"});
  Recovered("job-2-1", DETENT_PHASE_RUNNING, DETENT_RETRY_LATER);
}

TEST_F(PodRecover, FindsWhatHasLostItsLabelWhileNobodyLooked) {
  Started("job-0-1");
  server().Run("job-0-1");
  server().Edit("job-0-1",
                [](Json& pod) { pod.Find("metadata")->Find("labels")->Remove(kTrackedLabel); });
  NewHost();
  const detent_task task = Recovered("job-0-1", DETENT_PHASE_RUNNING, DETENT_ADOPTED);
  server().End("job-0-1", 0);
  FakeHost::SkipTime(20);
  Settle();
  EXPECT_EQ(Is(task), "Succeeded");
}

TEST_F(PodRecover, StartsAfterwardsWhatWasNotThere) {
  const detent_task task = Recovered("job-0-1", DETENT_PHASE_STARTING, DETENT_NOT_FOUND);
  EXPECT_EQ(After(host().Start(task)).code, DETENT_OK);
  EXPECT_EQ(Is(task), "Starting");
}

TEST_F(PodRecover, WaitsForTheList) {
  Started("job-0-1");
  kube().syncs = false;
  NewHost();
  const detent_task there = host().NewTask("job-0-1", kPlain);
  const detent_task absent = host().NewTask("job-1-1", kPlain);
  EXPECT_EQ(After(host().Recover(there)).code, DETENT_ADOPTED) << "shown already";
  const detent_op waiting = host().Recover(absent);
  EXPECT_FALSE(After(waiting).given);
  EXPECT_EQ(kube().count(KubeAct::kGet), 0u);
  kube().Sync();
  EXPECT_EQ(After(waiting).code, DETENT_NOT_FOUND) << "as soon as it is there";
}

TEST_F(PodRecover, SaysWhyThereIsNoList) {
  kube().syncs = false;
  NewHost();
  const detent_task absent = host().NewTask("job-1-1", kPlain);
  const detent_op waiting = host().Recover(absent);
  Settle();
  kube().FailWatch("pods is forbidden");
  for (const detent_op op : {waiting, host().Recover(absent)}) {
    const Answer answer = After(op);
    EXPECT_EQ(answer.code, DETENT_RETRY_LATER);
    EXPECT_EQ(answer.message, "pods is forbidden");
  }
  kube().Sync();
  Settle();
  EXPECT_EQ(After(host().Recover(absent)).code, DETENT_NOT_FOUND);
}

TEST_F(PodRecover, AnswersWhatWaitsForTheListWhenNobodyWaitsForThat) {
  kube().syncs = false;
  NewHost();
  const detent_task first = host().NewTask("job-1-1", kPlain);
  const detent_op cancelled = host().Recover(first);
  const detent_op closed = host().Recover(host().NewTask("job-2-1", kPlain));
  Settle();
  host().Cancel(cancelled);
  EXPECT_EQ(After(cancelled).code, DETENT_E_CANCELLED);
  EXPECT_FALSE(host().answer(closed).given);
  host().Close();
  EXPECT_EQ(host().answer(closed).code, DETENT_E_CLOSING);
}

TEST_F(PodRecover, HearsOfAKillWhileItWaits) {
  Started("job-0-1");
  server().Run("job-0-1");
  kube().syncs = false;
  NewHost();
  const detent_task absent = host().NewTask("job-1-1", kPlain, DETENT_REF_START_ACKED);
  After(host().Recover(absent));
  EXPECT_EQ(After(host().Kill(absent, 0)).code, DETENT_OK);
  EXPECT_EQ(Is(absent), "Killed UserRequested");
}

TEST_F(PodRecover, DoesNotTakeAnothersPodForItsOwn) {
  server().Create("default",
                  *ParseJson(R"({"metadata":{"name":"job-0-1","labels":{)"
                             R"("detent.dev/task":"other","detent.dev/tracked-by":"h"}},)"
                             R"("spec":{"containers":[{"name":"c","image":"i"}]}})"));
  Settle();
  const detent_task task = Recovered("job-0-1", DETENT_PHASE_RUNNING, DETENT_NOT_FOUND);
  Release(task);
  EXPECT_EQ(Marks("job-0-1"), "tracked");
}

TEST_F(PodRecover, ReadsTheSpecOfAnotherVersionForWhatItCan) {
  Started("job-0-1");
  NewHost();
  const detent_task task =
      Recovered("job-0-1", DETENT_PHASE_RUNNING, DETENT_ADOPTED, R"({"unknown":1})");
  server().End("job-0-1", 0);
  Settle();
  EXPECT_EQ(Is(task), "Succeeded");
}

TEST_F(PodRecover, ReadsAnyCheckpointWithoutHarm) {
  Started("job-0-1");
  for (const std::string& blob : {std::string("{"), std::string("\0\xFF", 2)}) {
    NewHost();
    const detent_task task = host().NewTask("job-0-1", kPlain);
    host().Remember(task, blob, DETENT_PHASE_RUNNING);
    EXPECT_EQ(After(host().Recover(task)).code, DETENT_ADOPTED);
  }
}

TEST_F(PodRecover, SeesAfterAGapInTheWatchWhatHappenedInIt) {
  const detent_task ended = Started("job-0-1");
  const detent_task gone = Started("job-1-1");
  const detent_task same = Started("job-2-1");
  server().Run("job-1-1");
  server().Run("job-2-1");
  Settle();
  server().End("job-0-1", 0);
  server().Wipe("job-1-1");
  kube().RestartWatch();
  Settle();
  EXPECT_EQ(Is(ended), "Succeeded");
  EXPECT_EQ(Is(gone), "Failed PodDeleted");
  EXPECT_EQ(Is(same), "Running");
}

TEST_F(PodRecover, FollowsAPodWhoseLabelIsGone) {
  const detent_task task = Started("job-0-1");
  server().Run("job-0-1");
  Settle();
  server().Edit("job-0-1",
                [](Json& pod) { pod.Find("metadata")->Find("labels")->Remove(kTrackedLabel); });
  Settle();
  EXPECT_EQ(Is(task), "Running") << "it is there: a look has shown that";
  kube().ForgetAsked();
  server().End("job-0-1", 0);
  Settle();
  EXPECT_EQ(Is(task), "Running") << "the watch does not show it any more";
  FakeHost::SkipTime(20);
  Settle();
  EXPECT_EQ(Is(task), "Succeeded");
}

TEST_F(PodRecover, TakesTheNewestStateWhateverComesFirst) {
  const detent_task task = host().NewTask("job-0-1", kPlain);
  const detent_op start = host().Start(task);
  server().Run("job-0-1");
  server().End("job-0-1", 0);
  kube().DeliverEvents();
  EXPECT_EQ(Is(task), "Succeeded");
  EXPECT_EQ(After(start).code, DETENT_OK);
  EXPECT_EQ(Is(task), "Succeeded") << "the answer to the creation is older";
}

}  // namespace
}  // namespace detent::testing
