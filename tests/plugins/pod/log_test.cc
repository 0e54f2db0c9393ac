// Reading a task's log, through the border.

#include "tests/plugins/pod/pod_fixture.h"

namespace detent::testing {
namespace {

class PodLog : public PodRun {
 protected:
  Answer Read(std::string_view key, uint64_t offset, uint32_t most = 1 << 20, uint32_t flags = 0) {
    return After(host().ReadLog(key, offset, most, 0, flags));
  }
  void Write(int lines) {
    for (int i = 0; i < lines; ++i) {
      server().Write("job-0-1", "main", "line " + std::to_string(written_++));
      server().now_ns += 300'000'000;
    }
  }
  // All that is there, read in pieces of that size from `offset` on.
  std::string All(uint64_t& offset, uint32_t most) {
    std::string text;
    for (int reads = 0; reads < 10'000; ++reads) {
      const detent_op op = host().ReadLog("job-0-1", offset, most);
      kube().Deliver();
      const Answer answer = host().answer(op);
      EXPECT_EQ(answer.code, DETENT_OK) << answer.message;
      if (answer.value == offset) break;
      text += answer.body;
      offset = answer.value;
    }
    return text;
  }
  int written_ = 0;
};

TEST_F(PodLog, IsReadWhileItGrowsAndToItsEnd) {
  const detent_task task = Started("job-0-1");
  Answer answer = Read("job-0-1", 0);
  EXPECT_EQ(answer.code, DETENT_OK);
  EXPECT_EQ(answer.body, "") << "nothing there now";
  EXPECT_EQ(kube().count(KubeAct::kLog), 0u);

  server().Run("job-0-1");
  Settle();
  Write(2);
  answer = Read("job-0-1", 0);
  EXPECT_EQ(answer.body,
            "2026-11-20T10:00:00.000000000Z stdout F line 0\n"
            "2026-11-20T10:00:00.300000000Z stdout F line 1\n");
  EXPECT_EQ(answer.flags, 0u);
  Write(3);
  const Answer more = Read("job-0-1", answer.value);
  EXPECT_EQ(more.body.find("line 2"), 40u);
  EXPECT_EQ(Read("job-0-1", more.value).body, "");
  EXPECT_EQ(Read("job-0-1", more.value).value, more.value);

  server().End("job-0-1", 0);
  Settle();
  EXPECT_EQ(Read("job-0-1", more.value).flags, DETENT_LOGS_END);
  Release(task);
  EXPECT_EQ(Read("job-0-1", 0).body.substr(40, 6), "line 0") << "as long as the Pod is there";
}

TEST_F(PodLog, IsTheSameInEachLifeAndInPiecesOfAnySize) {
  Started("job-0-1");
  server().Run("job-0-1");
  Settle();
  Write(60);
  uint64_t end = 0;
  const std::string whole = All(end, 1 << 20);
  NewHost();
  for (const uint32_t most : {1u, 47u, 48u, 100u, 1000u}) {
    uint64_t offset = 0;
    EXPECT_EQ(All(offset, most), whole) << most;
    EXPECT_EQ(offset, end);
  }
}

TEST_F(PodLog, SaysWhenTheNodeHasRotatedAPartAway) {
  Started("job-0-1");
  server().Run("job-0-1");
  Settle();
  Write(20);
  uint64_t offset = 0;
  All(offset, 1 << 20);
  Write(20);
  server().Rotate("job-0-1", "main", 30);
  const Answer answer = Read("job-0-1", offset);
  EXPECT_EQ(answer.flags, DETENT_LOGS_GAP);
  EXPECT_EQ(answer.body.substr(40, 7), "line 30");
  EXPECT_GT(answer.value2, offset);
}

TEST_F(PodLog, HasATail) {
  Started("job-0-1");
  server().Run("job-0-1");
  Settle();
  Write(50);
  uint64_t end = 0;
  const std::string whole = All(end, 1 << 20);
  const Answer tail = Read("job-0-1", 0, 200, DETENT_LOGS_TAIL);
  EXPECT_EQ(tail.body, whole.substr(whole.size() - tail.body.size()));
  EXPECT_GE(tail.body.size(), 48u);
  EXPECT_LE(tail.body.size(), 200u);
  EXPECT_EQ(tail.value, end) << "what comes is read on from there";
}

TEST_F(PodLog, HasATailWithinOneSecondToo) {
  Started("job-0-1");
  server().Run("job-0-1");
  Settle();
  for (int i = 0; i < 50; ++i) server().Write("job-0-1", "main", "line " + std::to_string(i));
  uint64_t end = 0;
  All(end, 1 << 20);
  const Answer tail = Read("job-0-1", 0, 200, DETENT_LOGS_TAIL);
  EXPECT_EQ(tail.value, end);
  EXPECT_NE(tail.body.find("line 49"), std::string::npos);
}

TEST_F(PodLog, KnowsNoStreams) {
  Started("job-0-1");
  server().Run("job-0-1");
  Settle();
  Write(2);
  const Answer out = After(host().ReadLog("job-0-1", 0, 1000, DETENT_LOGS_STDOUT));
  const Answer err = After(host().ReadLog("job-0-1", 0, 1000, DETENT_LOGS_STDERR));
  EXPECT_NE(out.body, "");
  EXPECT_EQ(err.body, "");
  EXPECT_EQ(err.value, out.value) << "lines of the other stream are skipped";
}

TEST_F(PodLog, IsThatOfTheDefaultContainer) {
  Started("job-0-1",
          R"({"metadata":{"annotations":{"kubectl.kubernetes.io/default-container":"b"}},)"
          R"("spec":{"containers":[{"name":"a","image":"i"},{"name":"b","image":"i"}]}})");
  server().Run("job-0-1");
  Settle();
  server().Write("job-0-1", "a", "of a");
  server().Write("job-0-1", "b", "of b");
  EXPECT_EQ(Read("job-0-1", 0).body.substr(40), "of b\n");
}

TEST_F(PodLog, IsThatOfTheInitContainerThatFailed) {
  Started("job-0-1", R"({"spec":{"initContainers":[{"name":"i","image":"i"}],)"
                     R"("containers":[{"name":"main","image":"i"}]}})");
  server().Write("job-0-1", "i", "no such host");
  server().SetStatus("job-0-1", R"({"phase":"Failed","initContainerStatuses":[{"name":"i",)"
                                R"("state":{"terminated":{"exitCode":1}}}]})");
  Settle();
  const Answer answer = Read("job-0-1", 0);
  EXPECT_EQ(answer.body.substr(40), "no such host\n");
  EXPECT_EQ(answer.flags, DETENT_LOGS_END);
}

TEST_F(PodLog, IsFoundByTheTasksKeyAlone) {
  const detent_task task = Started("job-0-1");
  server().Run("job-0-1");
  Write(1);
  server().End("job-0-1", 0);
  Settle();
  Release(task);
  NewHost();
  kube().ForgetAsked();
  host().names_logs = false;
  EXPECT_EQ(Read("job-0-1", 0).flags, DETENT_LOGS_END);
  EXPECT_EQ(Read("job-0-1", 0).flags, DETENT_LOGS_END);
  EXPECT_EQ(kube().count(KubeAct::kList), 1u) << "then it is remembered";
  server().Wipe("job-0-1");
  EXPECT_EQ(Read("job-0-1", 0).code, DETENT_E_NOT_FOUND);
  EXPECT_EQ(Read("job-0-1", 0).code, DETENT_E_NOT_FOUND);
}

TEST_F(PodLog, SaysWhyItCannotBeRead) {
  EXPECT_EQ(Read("unknown", 0).code, DETENT_E_NOT_FOUND);
  Started("job-0-1");
  server().Run("job-0-1");
  Settle();
  EXPECT_EQ(Read("job-0-1", 0).code, DETENT_OK) << "the container is not there yet";
  kube().Inject({KubeAct::kLog, DETENT_E_UNAVAILABLE, 502, "", "dial tcp: i/o timeout"});
  EXPECT_EQ(Read("job-0-1", 0).code, DETENT_E_UNAVAILABLE);
  kube().Inject({KubeAct::kLog, DETENT_E_DENIED, 403, "Forbidden", "cannot get pods/log"});
  EXPECT_EQ(Read("job-0-1", 0).reason, "GetPodLogsForbidden");
  const detent_op open = host().ReadLog("job-0-1", 0);
  host().Cancel(open);
  EXPECT_EQ(host().answer(open).code, DETENT_E_CANCELLED);
  const detent_op late = host().ReadLog("job-0-1", 0);
  host().Close();
  EXPECT_EQ(host().answer(late).code, DETENT_E_CLOSING);
}

}  // namespace
}  // namespace detent::testing
