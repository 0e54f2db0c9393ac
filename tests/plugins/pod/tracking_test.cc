// Kubernetes' rules of Job tracking (KEP-2307). Each test is named after its rule; those that the
// host keeps are in tests/control/tracking_rules_test.cc ("host" below).
//
//   rule  says                                              shown
//   ----  ------------------------------------------------ ----------------------------------------
//   J01   no list of what is to be counted: not tracked so  host: by a reservation in the Job
//   J02   two lists, of UIDs only                           host: two sets of indexes
//   J03   the finalizer costs no call of its own            here
//   J04   a Pod's end costs one call                        here; host: few writes of the Job
//   J05   what waits to be counted is bounded               host
//   J06   rounds repeat, partial progress is kept           host
//   J07   ends are gathered for a moment, and shown soon    host; here: nothing is held back
//   J08   a finalizer that stays does not stop the others   here
//   J09   nothing is lost or counted twice by a crash       here, between any two steps; host;
//                                                           chance_test.cc and tests/sim by seeds
//   J10   what others remove has failed                     here
//   J11   what we remove has not                            here
//   J12   what is adopted finished counts once              here
//   J13   one controller at a time                          here: another's Pod is left alone
//   J14   a deleted Job leaves no Pod behind                here: kill, release, discard
//   J15   a rollback still cleans up                        here: release takes what an earlier
//                                                           life made; there is no gate
//   J16   new Pods do not wait for old ones to be let go    here
//   J17   counters may lag while a Job runs                 host
//   J18   counters are the truth, and guarded               host; tests/install/permissions_test.cc
//   J19   two calls for each Pod                            here; host
//   J20   5,000 Pods a minute at 100 requests a second      follows from J19: pod_tracking of
//                                                           tests/bench says the rate
//   J21   100,000 in ten minutes                            pod_growth of tests/bench
//   J22   a slow server loses and doubles nothing           here, and chance_test.cc
//   J23   no sharding is needed                             pod_growth of tests/bench: one Job

#include "tests/plugins/pod/pod_fixture.h"

namespace detent::testing {
namespace {

class PodTracking : public PodRun {
 protected:
  std::vector<detent_task> StartedMany(int count) {
    std::vector<detent_task> tasks;
    for (int i = 0; i < count; ++i) {
      tasks.push_back(host().NewTask("job-" + std::to_string(i) + "-1", kPlain));
      host().Start(tasks.back());
    }
    Settle();
    return tasks;
  }
};

TEST_F(PodTracking, J03_ThePodIsBornWithTheFinalizer) {
  Started("job-0-1");
  EXPECT_EQ(kube().asked().size(), 1u);
  EXPECT_EQ(Marks("job-0-1"), "tracked held");
}

TEST_F(PodTracking, J04_J19_EachPodCostsTwoCalls) {
  const auto tasks = StartedMany(100);
  for (int i = 0; i < 100; ++i) {
    const std::string name = "job-" + std::to_string(i) + "-1";
    server().Run(name);
    Settle();
    server().End(name, i % 3 == 0 ? 1 : 0);
  }
  Settle();
  for (const detent_task task : tasks) host().Release(task);
  Settle();
  EXPECT_EQ(kube().count(KubeAct::kCreate), 100u);
  EXPECT_EQ(kube().count(KubeAct::kLetGo), 100u);
  EXPECT_TRUE(kube().asked().back().ended) << "which makes the second one cheap";
  EXPECT_EQ(kube().asked().size(), 200u);
}

TEST_F(PodTracking, J07_AnEndIsToldAtOnce) {
  const auto tasks = StartedMany(3);
  server().End("job-1-1", 0);
  kube().DeliverEvents();
  EXPECT_EQ(Is(tasks[1]), "Succeeded") << "without a turn of any clock";
}

TEST_F(PodTracking, J08_AFinalizerThatStaysDoesNotHoldUpTheOthers) {
  const auto tasks = StartedMany(3);
  kube().Hold(KubeAct::kLetGo);
  server().End("job-0-1", 0);
  Settle();
  host().Release(tasks[0]);
  server().End("job-1-1", 0);
  Settle();
  EXPECT_EQ(Is(tasks[1]), "Succeeded");
  host().Release(tasks[1]);
  EXPECT_EQ(Marks("job-0-1"), "tracked held");
  kube().Arrive();
  EXPECT_EQ(Marks("job-0-1"), "free");
  EXPECT_EQ(Marks("job-1-1"), "free");
}

TEST_F(PodTracking, J09_NothingIsLostOrCountedTwiceWhereverTheHostStops) {
  // It stops: after the creation; while it runs; after the end, not recorded; recorded, not let go
  // of; let go of, and nobody has noted that down.
  Started("job-0-1");
  NewHost();
  detent_task task = Recovered("job-0-1", DETENT_PHASE_STARTING, DETENT_ADOPTED);
  server().Run("job-0-1");
  NewHost();
  task = Recovered("job-0-1", DETENT_PHASE_RUNNING, DETENT_ADOPTED);
  server().End("job-0-1", 0, "42");
  Settle();
  const Update end = last(task);
  NewHost();
  task = Recovered("job-0-1", DETENT_PHASE_RUNNING, DETENT_TERMINATED);
  EXPECT_EQ(last(task).result, end.result);
  EXPECT_EQ(last(task).output, end.output);
  EXPECT_EQ(last(task).finished_ns, end.finished_ns);
  NewHost();
  task = Recovered("job-0-1", DETENT_PHASE_TERMINATED, DETENT_TERMINATED);
  Release(task);
  NewHost();
  task = Recovered("job-0-1", DETENT_PHASE_TERMINATED, DETENT_TERMINATED);
  EXPECT_EQ(Is(task), "Succeeded") << "its marks are gone, and it is still there";
  Release(task);
  EXPECT_EQ(Marks("job-0-1"), "free");
  server().Wipe("job-0-1");
  NewHost();
  task = Recovered("job-0-1", DETENT_PHASE_TERMINATED, DETENT_NOT_FOUND);
  Release(task);
  EXPECT_EQ(kube().count(KubeAct::kCreate), 1u);
}

TEST_F(PodTracking, J10_WhatOthersRemoveHasFailed) {
  struct Row {
    const char* because;
    std::function<void(const std::string& name)> remove;
    const char* is;
  };
  const Row rows[] = {
      {"kubectl delete, before it had a node",
       [&](const std::string& name) { server().DeleteByOthers(name); }, "Failed PodDeleted"},
      {"kubectl delete, while it ran",
       [&](const std::string& name) {
         server().Run(name);
         server().DeleteByOthers(name);
         server().Advance(5);
         server().ConfirmDeletion(name, 143);
       },
       "Failed PodDeleted"},
      {"kubectl delete --force",
       [&](const std::string& name) {
         server().Run(name);
         server().DeleteByOthers(name, 0);
       },
       "Failed PodDeleted"},
      {"its finalizer was taken off as well",
       [&](const std::string& name) {
         server().Run(name);
         server().Wipe(name);
       },
       "Failed PodDeleted"},
      {"its node was lost, and Pod garbage collection came by",
       [&](const std::string& name) {
         server().Run(name);
         server().SetStatus(name, R"({"phase":"Failed","conditions":[{"type":"DisruptionTarget",)"
                                  R"("status":"True","reason":"DeletionByPodGC","message":"m"}]})");
         server().DeleteByOthers(name, 0);
       },
       "Failed DeletionByPodGC"},
      {"the taint manager deleted it, and its node came back",
       [&](const std::string& name) {
         server().Run(name);
         server().Edit(name, [](Json& pod) {
           pod.Find("status")->Set("conditions",
                                   *ParseJson(R"([{"type":"DisruptionTarget","status":"True",)"
                                              R"("reason":"DeletionByTaintManager"}])"));
         });
         server().DeleteByOthers(name);
         server().DeleteByOthers(name, 0);
       },
       "Failed DeletionByTaintManager"},
      {"the node evicted it",
       [&](const std::string& name) {
         server().SetStatus(name, R"({"phase":"Failed","reason":"Evicted","message":"disk"})");
       },
       "Failed Evicted"},
  };
  int number = 0;
  for (const Row& row : rows) {
    const std::string name = "job-" + std::to_string(number++) + "-1";
    const detent_task task = Started(name);
    row.remove(name);
    Settle();
    EXPECT_EQ(Is(task), row.is) << row.because;
    Release(task);
    EXPECT_TRUE(Marks(name) == "gone" || Marks(name) == "free") << row.because << Marks(name);
  }
}

TEST_F(PodTracking, J10_WhatOthersDeleteIsWaitedFor) {
  const detent_task task = Started("job-0-1");
  server().Run("job-0-1");
  server().DeleteByOthers("job-0-1");
  Settle();
  EXPECT_EQ(Is(task), "Killing PodDeleted") << "it may still do its work";
  server().Advance(1);
  server().End("job-0-1", 0);
  Settle();
  EXPECT_EQ(Is(task), "Succeeded") << "which it did";
}

TEST_F(PodTracking, J11_WhatWeRemoveHasNotFailed) {
  const detent_task task = Started("job-0-1");
  server().Run("job-0-1");
  Settle();
  host().Kill(task, 0, "JobDeleted");
  Settle();
  server().Advance(5);
  server().ConfirmDeletion("job-0-1");
  Settle();
  EXPECT_EQ(Is(task), "Killed JobDeleted");
}

TEST_F(PodTracking, J12_WhatIsAdoptedFinishedCountsOnce) {
  Started("job-0-1");
  server().End("job-0-1", 0);
  kube().syncs = false;
  NewHost();
  kube().RestartWatch();
  Settle();
  const detent_task task = host().NewTask("job-0-1", kPlain, DETENT_REF_MAYBE_STARTED);
  EXPECT_EQ(After(host().Start(task)).code, DETENT_OK);
  EXPECT_EQ(Is(task), "Succeeded");
  EXPECT_EQ(host().updates(task).size(), 1u);
  EXPECT_EQ(After(host().Start(task)).code, DETENT_OK);
  EXPECT_EQ(host().updates(task).size(), 1u);
}

TEST_F(PodTracking, J13_AnothersPodIsLeftAlone) {
  server().Create("default",
                  *ParseJson(R"({"metadata":{"name":"job-0-1","labels":{"detent.dev/task":"x"}},)"
                             R"("spec":{"containers":[{"name":"c","image":"i"}]}})"));
  const detent_task task = host().NewTask("job-0-1", kPlain);
  EXPECT_EQ(After(host().Start(task)).reason, "NameTaken");
  EXPECT_EQ(After(host().Kill(task, 0)).code, DETENT_OK);
  Release(task);
  host().Discard("job-0-1");
  Settle();
  EXPECT_EQ(Marks("job-0-1"), "free");
}

TEST_F(PodTracking, J14_ADeletedJobLeavesNoPodBehind) {
  const auto tasks = StartedMany(4);
  server().Run("job-1-1");
  server().End("job-2-1", 0);
  server().End("job-3-1", 1);
  Settle();
  for (const detent_task task : tasks) host().Kill(task, 0, "JobDeleted");
  Settle();
  server().ConfirmDeletion("job-1-1");
  Settle();
  for (const detent_task task : tasks) {
    EXPECT_EQ(last(task).phase, DETENT_PHASE_TERMINATED);
    host().Release(task);
  }
  for (int i = 0; i < 4; ++i) host().Discard("job-" + std::to_string(i) + "-1");
  Settle();
  FakeHost::SkipTime(1);
  Settle();
  EXPECT_TRUE(server().pods().empty());
  EXPECT_EQ(kube().count(KubeAct::kList), 1u) << "keys are gathered";
}

TEST_F(PodTracking, J14_WhatCouldNotBeRemovedIsTriedAgain) {
  const detent_task task = Started("job-0-1");
  server().End("job-0-1", 0);
  Settle();
  Release(task);
  kube().Inject({KubeAct::kList, DETENT_E_UNAVAILABLE, 503, "", "down"});
  kube().Inject({KubeAct::kDelete, DETENT_E_UNAVAILABLE, 503, "", "down"});
  host().Discard("job-0-1");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Marks("job-0-1"), "free");
    FakeHost::SkipTime(20);
    Settle();
  }
  EXPECT_EQ(Marks("job-0-1"), "gone");
}

TEST_F(PodTracking, J15_WhatAnEarlierLifeMadeIsLetGoOf) {
  Started("job-0-1");
  server().Run("job-0-1");
  NewHost();
  const detent_task task = Recovered("job-0-1", DETENT_PHASE_RUNNING, DETENT_ADOPTED);
  // The host has recorded an end that the Pod has not come to: nobody waits for it any more.
  Release(task);
  EXPECT_EQ(Marks("job-0-1"), "gone");
}

TEST_F(PodTracking, J16_NewPodsDoNotWaitForOldOnesToBeLetGoOf) {
  kube().Hold(KubeAct::kLetGo);
  const auto tasks = StartedMany(80);
  for (int i = 0; i < 80; ++i) server().End("job-" + std::to_string(i) + "-1", 0);
  Settle();
  for (const detent_task task : tasks) host().Release(task);
  kube().capacity = 90;  // Those that are let go of are not counted among them by a real host.
  Started("next-0-1");
}

TEST_F(PodTracking, J22_ASlowServerLosesAndDoublesNothing) {
  kube().Hold(KubeAct::kCreate);
  const detent_task task = host().NewTask("job-0-1", kPlain);
  detent_op start = host().Start(task);
  host().Cancel(start);
  EXPECT_EQ(host().answer(start).code, DETENT_E_CANCELLED) << "a minute has gone by";
  EXPECT_EQ(After(host().Recover(task)).code, DETENT_RETRY_LATER);
  start = host().Start(task);
  Settle();
  EXPECT_FALSE(host().answer(start).given) << "the first one answers this one, too";
  kube().Arrive();
  EXPECT_EQ(After(start).code, DETENT_OK);
  EXPECT_EQ(After(host().Recover(task)).code, DETENT_ADOPTED);
  EXPECT_EQ(kube().count(KubeAct::kCreate), 1u);
}

}  // namespace
}  // namespace detent::testing
