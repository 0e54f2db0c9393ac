// ExecTask: the host's view of one local process: the connection to its supervisor, and the
// questions of the host that wait for what the supervisor says. Dropping it leaves the task alone:
// the supervisor goes on, and a later ExecTask finds it by its directory. Strand only.

#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "detent/sdk/executor.h"
#include "detent/sdk/io.h"
#include "plugins/exec/launch.h"
#include "plugins/exec/placement.h"
#include "plugins/exec/spec.h"
#include "plugins/exec/supervisor_protocol.h"
#include "plugins/exec/task_directory.h"

namespace detent::exec {

// What tasks need of their executor. Outlives them.
class TaskOwner {
 public:
  // A supervisor that is about to end, or has; it may be a child of this process.
  virtual void ReapSoon(pid_t pid) = 0;
  virtual std::string CgroupOf(const TaskDirectory& directory) const = 0;

 protected:
  ~TaskOwner() = default;
};

class ExecTask final : public sdk::Task {
 public:
  ExecTask(const sdk::Host& host, const sdk::TaskRef& ref, TaskOwner& owner,
           TaskDirectory directory, ExecSpec spec);
  ~ExecTask() override;

  // Waits for the job that starts the supervisor, and is told how it went.
  std::shared_ptr<LaunchJob> AwaitLaunch(sdk::Op op, std::string supervisor_spec);
  void LaunchDone();

  // Follows the supervisor behind fd, which becomes the task's; answers op once it is known how the
  // task stands.
  void FollowStart(sdk::Op op, int fd);
  void FollowRecover(sdk::Op op, int fd);

  // Tells the end that is on disk, and answers.
  void EndFromResult();
  // Ends what is left of a task whose supervisor is gone, tells the loss, and answers.
  void EndAsLost();

  void AnswerStartLater(sdk::Op op) { start_ = std::move(op); }
  void AnswerRecoverLater(sdk::Op op) { recover_ = std::move(op); }

  // Passes a request to end on. OK: the supervisor has it, or there is none any more.
  sdk::Status Stop(const sdk::KillRequest& how);

  // The host no longer waits for op; 0: for none of this task's.
  void CancelOp(detent_op op, const sdk::Status& answer);

  bool following() const { return fd_ >= 0; }
  bool launching() const { return launch_ != nullptr; }
  const TaskDirectory& directory() const { return directory_; }

 private:
  void Watch(int fd);
  void Ready();
  void HandleState(const Message& state);
  void Closed();
  void LookAfterClose();
  void Disconnect();
  void ReapSupervisor();
  void AnswerAlive();
  void AnswerEnded(sdk::Recovered answer);

  TaskOwner& owner_;
  TaskDirectory directory_;
  ExecSpec spec_;
  std::shared_ptr<LaunchJob> launch_;  // while it is under way
  int fd_ = -1;
  sdk::FdWatch watch_;
  sdk::Timer look_again_;
  std::chrono::milliseconds look_pause_{2};
  pid_t supervisor_ = 0;
  bool stop_while_starting_ = false;
  sdk::Op start_;
  sdk::Op recover_;
};

}  // namespace detent::exec
