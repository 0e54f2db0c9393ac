// ExecExecutor: carries out tasks of kind `exec`, each a local process under a supervisor of its
// own. It keeps nothing that matters in memory: whatever a task is can be read from its directory
// below <state_dir>/tasks, so a restart of the host neither kills nor loses one. Strand only.

#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "detent/sdk/executor.h"
#include "detent/sdk/logs.h"
#include "plugins/exec/exec_task.h"
#include "plugins/exec/launch.h"
#include "plugins/exec/placement.h"

namespace detent::exec {

class ExecExecutor final : public sdk::Executor, public sdk::LogReader, public TaskOwner {
 public:
  static constexpr std::string_view kKind = "exec";
  static constexpr uint32_t kCaps = DETENT_CAP_KILL_GRACEFUL;
  static const std::string_view kSpecSchema;    // schema.cc
  static const std::string_view kConfigSchema;  // schema.cc

  static void Validate(sdk::Fields& fields) { ReadSpec(fields); }

  sdk::Status Create(const sdk::InstanceInfo& info, sdk::Diagnostics& diag) override;
  void Open(sdk::Op op) override;
  void Close(sdk::Op op) override;
  void Start(sdk::Op op, const sdk::TaskRef& ref) override;
  void Recover(sdk::Op op, const sdk::TaskRef& ref) override;
  void Kill(sdk::Op op, sdk::Task& task, const sdk::KillRequest& how) override;
  void ForceDelete(sdk::Op op, sdk::Task& task) override;
  void Cancel(detent_op op) override;

  void ReadLog(sdk::Op op, const sdk::LogRequest& request) override;
  void DiscardLog(std::string_view key) override;

 private:
  void ReapSoon(pid_t pid) override;
  std::string CgroupOf(const TaskDirectory& directory) const override;

  void Launch(sdk::Op op, const sdk::TaskRef& ref, const TaskDirectory& directory, ExecSpec spec);
  void RunLaunches();
  void Reap();
  void RetryDiscards();

  ExecConfig config_;
  std::string state_dir_;
  std::string tasks_dir_;
  Placement placement_;
  SupervisorImage image_;
  std::deque<std::pair<std::shared_ptr<LaunchJob>, detent_task>> launches_;  // not begun yet
  int launches_under_way_ = 0;
  sdk::Timer launch_timer_;
  std::vector<pid_t> to_reap_;
  sdk::Timer reap_timer_;
  std::vector<std::string> discards_;  // keys whose directory could not be removed yet
  sdk::Timer discard_timer_;
};

}  // namespace detent::exec
