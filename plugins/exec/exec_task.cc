#include "plugins/exec/exec_task.h"

#include <sys/socket.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>

#include <algorithm>

#include "plugins/exec/leftovers.h"
#include "plugins/exec/outcome.h"
#include "plugins/exec/process_tree.h"

namespace detent::exec {

ExecTask::ExecTask(const sdk::Host& host, const sdk::TaskRef& ref, TaskOwner& owner,
                   TaskDirectory directory, ExecSpec spec)
    : Task(host, ref), owner_(owner), directory_(std::move(directory)), spec_(std::move(spec)) {}

ExecTask::~ExecTask() {
  Disconnect();
}

std::shared_ptr<LaunchJob> ExecTask::AwaitLaunch(sdk::Op op, std::string supervisor_spec) {
  start_ = std::move(op);
  launch_ = std::make_shared<LaunchJob>(directory_, std::move(supervisor_spec));
  launch_->task_alive = Alive();
  return launch_;
}

void ExecTask::LaunchDone() {
  const std::shared_ptr<LaunchJob> job = std::move(launch_);
  launch_ = nullptr;
  if (!job->status.ok()) return start_.Fail(job->status);
  supervisor_ = job->launched.pid;
  const int fd = std::exchange(job->launched.control_fd, -1);
  // The first packet of a new socket always has room.
  if (job->stop) send(fd, &*job->stop, sizeof(Message), MSG_NOSIGNAL | MSG_DONTWAIT);
  Watch(fd);
}

void ExecTask::FollowStart(sdk::Op op, int fd) {
  start_ = std::move(op);
  Watch(fd);
}

void ExecTask::FollowRecover(sdk::Op op, int fd) {
  recover_ = std::move(op);
  Watch(fd);
}

void ExecTask::Watch(int fd) {
  fd_ = fd;
  auto watch = sdk::FdWatch::Start(host(), fd, DETENT_IO_READ, [this](uint32_t) { Ready(); });
  if (watch) {
    watch_ = std::move(*watch);
    return;
  }
  // Nothing is known to be wrong with the task; the host asks again.
  Disconnect();
  start_.Fail(watch.status());
  recover_.Answer(sdk::Recovered::kRetryLater, watch.status().message());
}

void ExecTask::Ready() {
  for (;;) {
    Message message;
    const ssize_t got = recv(fd_, &message, sizeof(message), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) return Closed();
    if (message.type != static_cast<uint32_t>(MessageType::kState)) continue;
    HandleState(message);
    if (fd_ < 0) return;
  }
}

void ExecTask::HandleState(const Message& state) {
  supervisor_ = state.supervisor_pid;
  const auto phase = static_cast<Phase>(state.phase);
  if (phase == Phase::kPreparing) return;
  if (phase == Phase::kEnded) return EndFromResult();
  sdk::TaskStatus next = status();
  next.phase = phase == Phase::kRunning ? DETENT_PHASE_RUNNING : DETENT_PHASE_KILLING;
  next.running_ns = state.started_ns;
  next.object_ref = ObjectRef(state.main_pid);
  Update(std::move(next));
  AnswerAlive();
}

void ExecTask::AnswerAlive() {
  recover_.Answer(sdk::Recovered::kAdopted);
  // A kill during the start: the host may rely on nothing being left once both are answered.
  if (!stop_while_starting_) start_.Succeed();
}

void ExecTask::AnswerEnded(sdk::Recovered answer) {
  recover_.Answer(answer);
  start_.Succeed();
}

void ExecTask::EndFromResult() {
  Disconnect();
  ReapSupervisor();
  const auto ending = directory_.ReadEnding();
  if (!ending) {
    look_again_ = host().After(look_pause_, [this] { LookAfterClose(); });
    return;
  }
  if (!Terminated()) Update(DescribeEnding(*ending, spec_));
  AnswerEnded(sdk::Recovered::kTerminated);
}

void ExecTask::Closed() {
  Disconnect();
  if (!Terminated()) LookAfterClose();
}

// The connection ended without the word that the task did: what does the directory say?
void ExecTask::LookAfterClose() {
  switch (directory_.Examine()) {
    case TaskDirectory::State::kEnded:
      return EndFromResult();
    case TaskDirectory::State::kLost:
      return EndAsLost();
    case TaskDirectory::State::kNotStarted:
    case TaskDirectory::State::kAbsent:
      ReapSupervisor();
      if (start_) {
        start_.Fail(
            sdk::Unavailable("SupervisorFailed", "the supervisor ended before it ran the command"));
        return;
      }
      return EndAsLost();
    default:
      break;
  }
  // It holds its lock still, so it is about to end, or only the connection was lost.
  const int fd = directory_.Connect();
  if (fd >= 0) return Watch(fd);
  look_pause_ = std::min(look_pause_ * 2, std::chrono::milliseconds(1000));
  look_again_ = host().After(look_pause_, [this] { LookAfterClose(); });
}

void ExecTask::EndAsLost() {
  ReapSupervisor();
  struct Sweep {
    std::optional<Started> started;
    std::string cgroup;
  };
  auto sweep =
      std::make_shared<Sweep>(Sweep{directory_.ReadStarted(), owner_.CgroupOf(directory_)});
  auto work = [sweep] {
    if (sweep->started) EndLeftovers(*sweep->started, sweep->cgroup);
  };
  auto done = [this, sweep, alive = Alive()] {
    if (alive.expired()) return;
    Update(DescribeLoss(sweep->started ? &*sweep->started : nullptr, spec_));
    AnswerEnded(sdk::Recovered::kLost);
  };
  if (host().Offload(work, done)) return;
  // The pool is full: later, because the sweep is too long for the strand.
  look_again_ = host().After(std::chrono::milliseconds(200), [this] { EndAsLost(); });
}

sdk::Status ExecTask::Stop(const sdk::KillRequest& how) {
  if (fd_ < 0 && !launching()) return {};
  Message message;
  message.type = static_cast<uint32_t>(MessageType::kKill);
  message.flags = how.immediate ? kMessageImmediate : 0;
  message.grace_ns = static_cast<uint64_t>(how.grace.count());
  const size_t length = std::min(how.reason.size(), sizeof(message.reason) - 1);
  std::memcpy(message.reason, how.reason.data(), length);
  if (start_) stop_while_starting_ = true;
  if (launching()) {
    // No grace once asked stays no grace.
    if (!launch_->stop || how.immediate) launch_->stop = message;
    return {};
  }
  const ssize_t sent = send(fd_, &message, sizeof(message), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent >= 0 || errno == EPIPE || errno == ECONNRESET) return {};
  return {DETENT_E_BUSY, "SupervisorBusy", "the supervisor has not read earlier requests yet"};
}

void ExecTask::CancelOp(detent_op op, const sdk::Status& answer) {
  for (sdk::Op* mine : {&start_, &recover_}) {
    if (op == 0 || mine->id() == op) mine->Fail(answer);
  }
}

void ExecTask::Disconnect() {
  watch_.Stop();
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

// It has ended, or is about to. One that ended in an earlier life of the instance, but in this
// process, is known from the record only; its start time tells it from a later process.
void ExecTask::ReapSupervisor() {
  if (supervisor_ == 0) {
    const auto started = directory_.ReadStarted();
    ProcessStat stat;
    if (started && ReadProcessStat(started->supervisor_pid, &stat) &&
        stat.start_ticks == started->supervisor_start && stat.parent == getpid()) {
      supervisor_ = started->supervisor_pid;
    }
  }
  if (supervisor_ > 0) owner_.ReapSoon(supervisor_);
  supervisor_ = 0;
}

}  // namespace detent::exec
