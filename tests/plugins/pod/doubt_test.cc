// Lost replies, slow servers and repeated starts: one Pod for each task, and none that nobody
// knows of.

#include "tests/plugins/pod/pod_fixture.h"

namespace detent::testing {
namespace {

class PodDoubt : public PodRun {};

KubeFault Lost(KubeAct act, bool with_effect) {
  return {act, DETENT_E_UNAVAILABLE, 0, "", "connection reset", with_effect};
}

TEST_F(PodDoubt, IsResolvedByALookWhenTheReplyWasLost) {
  kube().Inject(Lost(KubeAct::kCreate, true));
  const detent_task task = Started("job-0-1");
  EXPECT_EQ(kube().count(KubeAct::kCreate), 1u);
  EXPECT_EQ(Is(task), "Starting");
  EXPECT_EQ(Marks("job-0-1"), "tracked held");
}

TEST_F(PodDoubt, PromisesThatNothingRunsOnlyWhereThatIsSo) {
  kube().Inject(Lost(KubeAct::kCreate, false));
  const detent_task task = Started("job-0-1", kPlain, DETENT_E_UNAVAILABLE);
  EXPECT_EQ(Marks("job-0-1"), "gone");
  EXPECT_EQ(After(host().Start(task)).code, DETENT_OK);
  EXPECT_EQ(Marks("job-0-1"), "tracked held");
}

TEST_F(PodDoubt, LeavesItToRecoverWhereTheServerCannotBeAsked) {
  kube().Inject(Lost(KubeAct::kCreate, true));
  kube().Inject(Lost(KubeAct::kGet, false));
  kube().Inject(Lost(KubeAct::kGet, false));
  kube().Hold(KubeAct::kLog);
  // The watch would tell; without it nobody can.
  const detent_task task = host().NewTask("job-0-1", kPlain);
  const detent_op start = host().Start(task);
  kube().DeliverAnswers();
  EXPECT_EQ(host().answer(start).code, DETENT_E_DEADLINE);
  EXPECT_EQ(host().answer(start).reason, "StartUnknown");
  detent_op recover = host().Recover(task);
  kube().DeliverAnswers();
  EXPECT_EQ(host().answer(recover).code, DETENT_RETRY_LATER);
  recover = host().Recover(task);
  kube().DeliverAnswers();
  EXPECT_EQ(host().answer(recover).code, DETENT_ADOPTED);
  EXPECT_EQ(kube().count(KubeAct::kCreate), 1u);
}

TEST_F(PodDoubt, EndsWhenTheWatchShowsThePodFirst) {
  kube().Inject(Lost(KubeAct::kCreate, true));
  const detent_task task = host().NewTask("job-0-1", kPlain);
  const detent_op start = host().Start(task);
  kube().DeliverEvents();
  EXPECT_EQ(Is(task), "Starting");
  EXPECT_EQ(After(start).code, DETENT_OK);
  EXPECT_EQ(kube().count(KubeAct::kGet), 0u) << "there is nothing to look for any more";
}

TEST_F(PodDoubt, DoesNotTakeARefusalForAbsence) {
  // A quota that our own Pod has used up refuses it when it is asked for again.
  server().quota["default"] = 1;
  Started("job-0-1");
  NewHost();
  kube().syncs = false;
  NewHost();
  const detent_task task = host().NewTask("job-0-1", kPlain, DETENT_REF_MAYBE_STARTED);
  kube().RestartWatch();
  kube().Inject({KubeAct::kCreate, DETENT_E_DENIED, 403, "", "exceeded quota"});
  EXPECT_EQ(After(host().Start(task)).code, DETENT_OK);
  EXPECT_EQ(Is(task), "Starting");
}

TEST_F(PodDoubt, MakesOnePodHoweverOftenItIsStarted) {
  const detent_task task = host().NewTask("job-0-1", kPlain);
  const detent_op first = host().Start(task);
  const detent_op second = host().Start(task);
  EXPECT_EQ(After(first).code, DETENT_OK);
  EXPECT_EQ(host().answer(second).code, DETENT_OK);
  EXPECT_EQ(After(host().Start(task)).code, DETENT_OK);
  EXPECT_EQ(kube().count(KubeAct::kCreate), 1u);
  server().End("job-0-1", 0);
  Settle();
  EXPECT_EQ(After(host().Start(task)).code, DETENT_OK);
  EXPECT_EQ(kube().count(KubeAct::kCreate), 1u);
}

TEST_F(PodDoubt, AdoptsWhatAnEarlierLifeMade) {
  Started("job-0-1");
  server().Run("job-0-1");
  NewHost();
  kube().ForgetAsked();
  const detent_task task = host().NewTask("job-0-1", kPlain, DETENT_REF_MAYBE_STARTED);
  EXPECT_EQ(After(host().Start(task)).code, DETENT_OK);
  EXPECT_EQ(Is(task), "Running");
  EXPECT_TRUE(kube().asked().empty()) << "the list has shown it";
}

TEST_F(PodDoubt, IsEndedByAKillThatOvertakesTheStart) {
  kube().Hold(KubeAct::kCreate);
  const detent_task task = host().NewTask("job-0-1", kPlain);
  const detent_op start = host().Start(task);
  const detent_op kill = host().Kill(task, 0);
  Settle();
  EXPECT_FALSE(host().answer(start).given);
  EXPECT_FALSE(host().answer(kill).given) << "nobody knows yet what there is to kill";
  kube().Arrive();
  EXPECT_EQ(After(start).code, DETENT_OK);
  EXPECT_EQ(host().answer(kill).code, DETENT_OK);
  EXPECT_EQ(Is(task), "Killed UserRequested") << "it had no node, so it ends at once";
  Release(task);
  EXPECT_EQ(Marks("job-0-1"), "gone");
}

TEST_F(PodDoubt, IsEndedByAKillWhateverTheStartComesTo) {
  struct Row {
    KubeFault fault;
    const char* because;
  };
  const Row rows[] = {{Lost(KubeAct::kCreate, true), "the reply was lost"},
                      {Lost(KubeAct::kCreate, false), "the request was lost"},
                      {{KubeAct::kCreate, DETENT_E_DENIED, 403, "", "exceeded quota"}, "quota"},
                      {{KubeAct::kCreate, DETENT_E_BUSY, 429, "", "slow down"}, "too busy"},
                      {{KubeAct::kCreate, DETENT_E_INVALID, 422, "", "invalid"}, "invalid"}};
  int number = 0;
  for (const Row& row : rows) {
    kube().Inject(row.fault);
    const std::string name = "job-" + std::to_string(number++) + "-1";
    const detent_task task = host().NewTask(name, kPlain);
    const detent_op start = host().Start(task);
    const detent_op kill = host().Kill(task, 0);
    EXPECT_EQ(After(kill).code, DETENT_OK) << row.because;
    EXPECT_EQ(host().answer(start).code, DETENT_OK) << row.because;
    EXPECT_EQ(Is(task), "Killed UserRequested") << row.because;
    Release(task);
    EXPECT_EQ(Marks(name), "gone") << row.because;
  }
}

TEST_F(PodDoubt, IsNotForgottenWhenTheServerActsAfterTheEnd) {
  // The request is on its way when the host stops waiting; the task is killed, and let go of; and
  // then the Pod comes up.
  kube().Hold(KubeAct::kCreate);
  const detent_task task = host().NewTask("job-0-1", kPlain);
  const detent_op start = host().Start(task);
  host().Cancel(start);
  EXPECT_EQ(host().answer(start).code, DETENT_E_CANCELLED);
  EXPECT_EQ(After(host().Recover(task)).code, DETENT_RETRY_LATER) << "it is still under way";
  EXPECT_EQ(After(host().ForceDelete(task)).code, DETENT_OK);
  EXPECT_EQ(Is(task), "Killed ForceDeleted");
  Release(task);
  kube().Arrive();
  Settle();
  EXPECT_EQ(Marks("job-0-1"), "gone");
}

TEST_F(PodDoubt, IsRememberedForATaskThatWasLetGoOfUnstarted) {
  kube().Inject(Lost(KubeAct::kCreate, true));
  kube().Inject({KubeAct::kGet, DETENT_E_NOT_FOUND, 404, "NotFound", "not seen yet"});
  const detent_task task = host().NewTask("job-0-1", kPlain);
  const detent_op start = host().Start(task);
  kube().DeliverAnswers();
  EXPECT_EQ(host().answer(start).code, DETENT_E_UNAVAILABLE);
  // The host ends it without asking, for nothing was said to run.
  host().Release(task);
  Settle();
  EXPECT_EQ(Marks("job-0-1"), "gone");
}

TEST_F(PodDoubt, DoesNotTakeALaterPodOfThatNameForAGhost) {
  kube().Inject(Lost(KubeAct::kCreate, true));
  const detent_task task = Started("job-0-1");
  server().End("job-0-1", 0);
  Settle();
  Release(task);
  EXPECT_EQ(Marks("job-0-1"), "free") << "it was found, so it is no ghost";
  server().Edit("job-0-1", [](Json& pod) { pod.Find("metadata")->Set("annotations", Json()); });
  Settle();
  EXPECT_EQ(Marks("job-0-1"), "free");
}

TEST_F(PodDoubt, AnswersWhatIsOpenWhenTheInstanceCloses) {
  kube().Hold(KubeAct::kCreate);
  const detent_task task = host().NewTask("job-0-1", kPlain);
  const detent_op start = host().Start(task);
  const detent_op kill = host().Kill(task, 0);
  host().Close();
  EXPECT_EQ(host().answer(start).code, DETENT_E_CLOSING);
  EXPECT_EQ(host().answer(kill).code, DETENT_E_CLOSING);
  EXPECT_TRUE(host().updates(task).empty());
  // It arrives after all; the next life finds it.
  kube().Arrive();
  NewHost();
  const detent_task again = Recovered("job-0-1", DETENT_PHASE_STARTING, DETENT_ADOPTED);
  EXPECT_EQ(Is(again), "Starting");
}

}  // namespace
}  // namespace detent::testing
