// Tasks in cgroups, for real: on a machine with a cgroup v2 tree that this user may write to.
//
// What needs a controller is skipped where the tree does not have it, as where cgroup v1 holds
// them.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <sstream>

#include "tests/plugins/exec/exec_fixture.h"

namespace detent::testing {
namespace {

namespace fs = std::filesystem;

// Where the machine has cgroup v2; empty if nowhere.
std::string UnifiedMount() {
  std::istringstream mounts(ReadFile("/proc/self/mounts"));
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string device, place, type;
    words >> device >> place >> type;
    if (type == "cgroup2") return place;
  }
  return {};
}

class ExecCgroupTest : public ExecTest {
 protected:
  void SetUp() override {
    ExecTest::SetUp();
    const std::string mount = UnifiedMount();
    if (mount.empty()) GTEST_SKIP() << "this machine has no cgroup v2 file system";
    const std::string root = mount + "/detent-test-" + Key("cgroups");
    if (mkdir(root.c_str(), 0755) != 0)
      GTEST_SKIP() << "this user may not make cgroups in " << mount;
    root_ = root;
    NewHost(R"({"cgroupRoot":)" + Quoted(root_) + "}");
  }
  void TearDown() override {
    ExecTest::TearDown();
    if (root_.empty()) return;
    EXPECT_EQ(Leaves().size(), 0u) << "a task's cgroup was left behind";
    EXPECT_EQ(rmdir(root_.c_str()), 0) << root_;
  }

  std::vector<std::string> Leaves() const {
    std::vector<std::string> leaves;
    for (const auto& entry : fs::directory_iterator(root_)) {
      if (entry.is_directory()) leaves.push_back(entry.path());
    }
    return leaves;
  }
  bool Has(const char* controller) const {
    const std::string enabled = " " + ReadFile(root_ + "/cgroup.controllers");
    return enabled.find(std::string(" ") + controller) != std::string::npos;
  }
  void ReleaseAndAwaitEmptiness(detent_task task) {
    host().Release(task);
    EXPECT_TRUE(host().RunUntil([&] { return Leaves().empty(); })) << Leaves()[0];
  }

  std::string root_;
};

TEST_F(ExecCgroupTest, PutsATaskAndItsChildrenIntoALeafThatGoesWithIt) {
  const detent_task task = Started(Script("sleep 300 & setsid sleep 300 & echo up; wait"));
  ASSERT_TRUE(AwaitLog("up"));
  ASSERT_EQ(Leaves().size(), 1u);
  std::istringstream pids(ReadFile(Leaves()[0] + "/cgroup.procs"));
  int members = 0;
  for (std::string pid; std::getline(pids, pid);) ++members;
  EXPECT_GE(members, 3) << "the shell and its two children";
  host().KillNow(task);
  ASSERT_TRUE(host().AwaitPhase(task, DETENT_PHASE_TERMINATED));
  EXPECT_EQ(host().last(task).result, DETENT_RESULT_KILLED);
  ReleaseAndAwaitEmptiness(task);
}

TEST_F(ExecCgroupTest, RefusesALimitWhoseControllerIsMissing) {
  if (Has("memory")) GTEST_SKIP() << "the memory controller is here";
  const std::string spec = Script("true", R"("resources":{"limits":{"memory":"16Mi"}})");
  const detent_task task = host().NewTask(Key(), spec);
  const Answer answer = host().Await(host().Start(task));
  EXPECT_EQ(answer.reason, "CgroupUnavailable");
  EXPECT_NE(answer.message.find("not enabled below " + root_), std::string::npos) << answer.message;
  host().Release(task);
}

TEST_F(ExecCgroupTest, KillsATaskThatTakesMoreMemoryThanItsLimit) {
  if (!Has("memory")) GTEST_SKIP() << "no memory controller in " << root_ << " (cgroup v1 has it?)";
  const std::string eat = "x=$(head -c 100000000 /dev/zero | tr '\\0' x); echo ${#x}";
  const detent_task task = Started(Script(eat, R"("resources":{"limits":{"memory":"16Mi"}})"));
  ASSERT_TRUE(host().AwaitPhase(task, DETENT_PHASE_TERMINATED));
  EXPECT_EQ(host().last(task).result, DETENT_RESULT_FAILED);
  EXPECT_EQ(host().last(task).reason, "OOMKilled");
  ReleaseAndAwaitEmptiness(task);
}

TEST_F(ExecCgroupTest, StopsATaskFromForkingMoreThanItsLimit) {
  if (!Has("pids")) GTEST_SKIP() << "no pids controller in " << root_ << " (cgroup v1 has it?)";
  const std::string fork_many = "for i in 1 2 3 4 5 6 7 8; do sleep 300 & done; wait";
  const detent_task task = Started(Script(fork_many, R"("resources":{"limits":{"pids":4}})"));
  EXPECT_TRUE(AwaitLog("fork")) << RawLog();
  host().KillNow(task);
  ASSERT_TRUE(host().AwaitPhase(task, DETENT_PHASE_TERMINATED));
  ReleaseAndAwaitEmptiness(task);
}

}  // namespace
}  // namespace detent::testing
