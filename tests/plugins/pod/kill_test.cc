// How a Pod is killed, and what is known of it then.

#include "tests/plugins/pod/pod_fixture.h"

namespace detent::testing {
namespace {

class PodKill : public PodRun {
 protected:
  detent_task Running(const std::string& name) {
    const detent_task task = Started(name);
    server().Run(name);
    Settle();
    return task;
  }
  std::string Deletion(size_t index) {
    size_t found = 0;
    for (const KubeAsked& asked : kube().asked()) {
      if (asked.act == KubeAct::kDelete && found++ == index) return asked.body;
    }
    return "";
  }
};

TEST_F(PodKill, DeletesThatVeryPodAndWaitsForTheNode) {
  const detent_task task = Running("job-0-1");
  EXPECT_EQ(After(host().Kill(task, 5'500'000'000)).code, DETENT_OK);
  EXPECT_EQ(Deletion(0), R"({"apiVersion":"v1","kind":"DeleteOptions",)"
                         R"("preconditions":{"uid":"uid-1"},"gracePeriodSeconds":6})")
      << "rounded up, for what is promised is not cut";
  EXPECT_EQ(Is(task), "Killing UserRequested");
  server().Advance(3);
  server().ConfirmDeletion("job-0-1", 143);
  Settle();
  EXPECT_EQ(Is(task), "Killed UserRequested");
  EXPECT_EQ(last(task).exit_code, 143);
  EXPECT_EQ(Marks("job-0-1"), "tracked held deleting");
  Release(task);
  EXPECT_EQ(Marks("job-0-1"), "gone");
}

TEST_F(PodKill, TakesThePodsOwnGraceWhereNoneIsGiven) {
  const detent_task task = Running("job-0-1");
  host().Kill(task, 0);
  Settle();
  EXPECT_EQ(Deletion(0).find("gracePeriodSeconds"), std::string::npos);
}

TEST_F(PodKill, ShortensTheGraceAndNeverLengthensIt) {
  const detent_task task = Running("job-0-1");
  host().Kill(task, 20'000'000'000);
  Settle();
  EXPECT_EQ(After(host().Kill(task, 0)).code, DETENT_OK);
  EXPECT_EQ(After(host().Kill(task, 25'000'000'000)).code, DETENT_OK);
  EXPECT_EQ(kube().count(KubeAct::kDelete), 1u) << "a longer one is no news";
  EXPECT_EQ(After(host().KillNow(task)).code, DETENT_OK);
  EXPECT_NE(Deletion(1).find(R"("gracePeriodSeconds":1)"), std::string::npos)
      << "by force, but confirmed by the node";
  EXPECT_EQ(After(host().KillNow(task)).code, DETENT_OK);
  EXPECT_EQ(kube().count(KubeAct::kDelete), 2u);
}

TEST_F(PodKill, SendsAShorterGraceThatCameWhileALongerOneWasUnderWay) {
  const detent_task task = Running("job-0-1");
  const detent_op graceful = host().Kill(task, 20'000'000'000);
  kube().DeliverOne();  // It is marked; now it is being deleted.
  EXPECT_EQ(kube().count(KubeAct::kDelete), 1u);
  const detent_op now = host().KillNow(task);
  EXPECT_EQ(After(graceful).code, DETENT_OK);
  EXPECT_EQ(host().answer(now).code, DETENT_OK);
  EXPECT_EQ(kube().count(KubeAct::kDelete), 2u);
}

TEST_F(PodKill, EndsAtOnceWhatHasNoNode) {
  const detent_task task = Started("job-0-1");
  host().Kill(task, 0);
  Settle();
  EXPECT_EQ(Is(task), "Killed UserRequested");
  EXPECT_NE(last(task).flags & DETENT_TASK_RERUN_SAFE, 0u);
}

TEST_F(PodKill, KeepsTheEndThatCameBefore) {
  const detent_task good = Running("job-0-1");
  const detent_task bad = Running("job-1-1");
  server().End("job-0-1", 0);
  server().End("job-1-1", 3);
  host().Kill(good, 0);
  host().Kill(bad, 0);
  Settle();
  EXPECT_EQ(Is(good), "Succeeded");
  EXPECT_EQ(Is(bad), "Failed ExitCode");
  EXPECT_EQ(After(host().Kill(good, 0)).code, DETENT_OK) << "again: harmless";
}

TEST_F(PodKill, IsWrittenIntoThePodBeforeItHasAnEffect) {
  const detent_task task = Running("job-0-1");
  host().Kill(task, 0, "DeadlineExceeded");
  EXPECT_EQ(kube().count(KubeAct::kPatch), 1u);
  EXPECT_EQ(kube().count(KubeAct::kDelete), 0u);
  Settle();
  EXPECT_EQ(kube().count(KubeAct::kDelete), 1u);
  EXPECT_EQ(TextAt(*server().Find("job-0-1"), "/metadata/annotations/detent.dev~1kill"),
            "DeadlineExceeded")
      << "for who looks at it, too";
  host().KillNow(task);
  Settle();
  EXPECT_EQ(kube().count(KubeAct::kPatch), 1u) << "once is enough";
}

TEST_F(PodKill, SaysWhyItCouldNotBeDone) {
  const detent_task task = Running("job-0-1");
  kube().Inject({KubeAct::kDelete, DETENT_E_DENIED, 403, "Forbidden", "cannot delete pods"});
  Answer answer = After(host().Kill(task, 0));
  EXPECT_EQ(answer.code, DETENT_E_UNAVAILABLE) << "asked again, for rights can be granted";
  EXPECT_EQ(answer.reason, "DeletePodsForbidden");
  kube().Inject({KubeAct::kDelete, DETENT_E_UNAVAILABLE, 503, "", "down"});
  EXPECT_EQ(After(host().Kill(task, 0)).code, DETENT_E_UNAVAILABLE);
  EXPECT_EQ(Is(task), "Running");
  EXPECT_EQ(kube().count(KubeAct::kPatch), 1u);
  EXPECT_EQ(After(host().Kill(task, 0)).code, DETENT_OK);
  EXPECT_EQ(Is(task), "Killing UserRequested");
}

TEST_F(PodKill, IsDoneWhenThePodIsGoneAlready) {
  const detent_task task = Running("job-0-1");
  server().Wipe("job-0-1");
  const detent_op kill = host().Kill(task, 0);
  kube().DeliverAnswers();
  EXPECT_EQ(host().answer(kill).code, DETENT_OK);
  EXPECT_EQ(Is(task), "Killed UserRequested");
}

TEST_F(PodKill, LeavesAPodAloneThatHasTheNameByNow) {
  const detent_task task = Running("job-0-1");
  server().Wipe("job-0-1");
  server().Create("default", *ParseJson(R"({"metadata":{"name":"job-0-1"},)"
                                        R"("spec":{"containers":[{"name":"c","image":"i"}]}})"));
  const detent_op kill = host().Kill(task, 0);
  kube().DeliverAnswers();
  EXPECT_EQ(host().answer(kill).code, DETENT_OK) << "409, and a look: it is gone";
  EXPECT_EQ(Is(task), "Killed UserRequested");
  Release(task);
  EXPECT_EQ(Marks("job-0-1"), "free");
}

TEST_F(PodKill, ByForceRemovesItWithoutTheNode) {
  const detent_task task = Running("job-0-1");
  host().Kill(task, 0);
  Settle();
  EXPECT_EQ(Is(task), "Killing UserRequested") << "its node does not answer";
  EXPECT_EQ(After(host().ForceDelete(task)).code, DETENT_OK);
  EXPECT_NE(Deletion(1).find(R"("gracePeriodSeconds":0)"), std::string::npos);
  EXPECT_EQ(Is(task), "Killed ForceDeleted");
  EXPECT_NE(last(task).message.find("may still be running"), std::string::npos);
  EXPECT_EQ(After(host().ForceDelete(task)).code, DETENT_OK) << "again: harmless";
  Release(task);
  EXPECT_EQ(Marks("job-0-1"), "gone");
}

TEST_F(PodKill, ByForceDoesNotWaitForTheServerEither) {
  const detent_task task = Running("job-0-1");
  kube().Inject({KubeAct::kDelete, DETENT_E_UNAVAILABLE, 0, "", "no route to host"});
  EXPECT_EQ(After(host().ForceDelete(task)).code, DETENT_OK);
  EXPECT_EQ(Is(task), "Killed ForceDeleted");
  EXPECT_NE(last(task).message.find("no route to host"), std::string::npos);
  Release(task);
  EXPECT_EQ(Marks("job-0-1"), "gone") << "removed with the release, which is repeated";
}

TEST_F(PodKill, ByForceOvertakesAGracefulOneThatIsUnderWay) {
  const detent_task task = Running("job-0-1");
  host().Kill(task, 30'000'000'000);
  const detent_op force = host().ForceDelete(task);
  EXPECT_EQ(After(force).code, DETENT_OK);
  EXPECT_EQ(Is(task), "Killed ForceDeleted");
}

TEST_F(PodKill, DoesNotClaimWhatOthersHaveDeletedBefore) {
  const detent_task task = Running("job-0-1");
  server().DeleteByOthers("job-0-1");
  const detent_op kill = host().Kill(task, 5'000'000'000);
  kube().DeliverAnswers();
  EXPECT_EQ(host().answer(kill).code, DETENT_OK);
  EXPECT_NE(Deletion(0).find(R"("gracePeriodSeconds":5)"), std::string::npos) << "sooner, though";
  server().Advance(3);
  server().ConfirmDeletion("job-0-1");
  Settle();
  EXPECT_EQ(Is(task), "Failed PodDeleted");
}

TEST_F(PodKill, GoesOnWhenThePodHasChangedMeanwhile) {
  const detent_task task = Started("job-0-1");
  server().Run("job-0-1");
  const detent_op kill = host().Kill(task, 0);
  kube().DeliverAnswers();
  EXPECT_EQ(host().answer(kill).code, DETENT_OK);
  EXPECT_EQ(kube().count(KubeAct::kPatch), 2u) << "what it had seen was out of date";
  Settle();
  EXPECT_EQ(Is(task), "Killing UserRequested");
}

TEST_F(PodKill, IsDoneWhenThePodGoesInTheMiddleOfIt) {
  const detent_task task = Running("job-0-1");
  const detent_op kill = host().Kill(task, 0);
  server().Wipe("job-0-1");
  kube().DeliverAnswers();
  EXPECT_EQ(host().answer(kill).code, DETENT_OK);
  EXPECT_EQ(Is(task), "Killed UserRequested");
}

TEST_F(PodKill, IsNotTakenForSomebodyElsesDeletionInTheNextLife) {
  const detent_task task = Running("job-0-1");
  host().Kill(task, 0, "JobDeleted");
  Settle();
  NewHost();
  server().Advance(10);
  server().ConfirmDeletion("job-0-1");
  NewHost();
  EXPECT_EQ(Is(Recovered("job-0-1", DETENT_PHASE_RUNNING, DETENT_TERMINATED)), "Killed JobDeleted");
}

}  // namespace
}  // namespace detent::testing
