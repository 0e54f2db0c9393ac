#include "plugins/exec/executor.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>

#include <algorithm>
#include <memory>

#include "plugins/exec/log_files.h"
#include "plugins/exec/outcome.h"

namespace detent::exec {
namespace {

constexpr std::chrono::milliseconds kReapPause(20);
constexpr std::chrono::seconds kDiscardPause(1);
constexpr uint32_t kLookAgainMs = 20;
constexpr int kLaunchesAtOnce = 4;
constexpr std::chrono::milliseconds kPoolPause(5);

std::string CurrentDirectory() {
  char buffer[4096];
  return getcwd(buffer, sizeof(buffer)) == nullptr ? "/" : buffer;
}

std::vector<std::string> Environment() {
  std::vector<std::string> out;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    out.emplace_back(*variable);
  }
  return out;
}

sdk::Result<ExecSpec> ParseFinal(const sdk::Host& host, std::string_view text) {
  auto doc = sdk::JsonDoc::Parse(host.table(), host.instance(), text);
  if (!doc) return doc.status();
  sdk::Diagnostics diag(host.table(), nullptr);
  ExecSpec spec;
  {
    // Unknown fields are found when it ends.
    sdk::Fields fields(doc->root(), "", sdk::Fields::Mode::kFinal, diag);
    spec = ReadSpec(fields);
  }
  if (!diag.ok()) return diag.status();
  return spec;
}

}  // namespace

sdk::Status ExecExecutor::Create(const sdk::InstanceInfo& info, sdk::Diagnostics& diag) {
  auto doc = sdk::JsonDoc::Parse(host().table(), instance(), info.config);
  if (!doc) return doc.status();
  {
    sdk::Fields fields(doc->root(), "", sdk::Fields::Mode::kFinal, diag);
    config_ = ReadConfig(fields);
  }
  state_dir_ = info.state_dir;
  tasks_dir_ = state_dir_ + "/tasks";
  return diag.status();
}

void ExecExecutor::Open(sdk::Op op) {
  struct Found {
    sdk::Op op;
    Placement placement;
    SupervisorImage image;
    sdk::Status status;
  };
  auto found = std::make_shared<Found>();
  found->op = std::move(op);
  auto work = [found, config = config_, state_dir = state_dir_, tasks_dir = tasks_dir_] {
    if (mkdir(tasks_dir.c_str(), 0700) != 0 && errno != EEXIST) {
      found->status = sdk::Unavailable("StateDirectoryFailed", tasks_dir + ": " + strerror(errno));
      return;
    }
    found->placement = Placement::Discover(config, Environment(), CurrentDirectory());
    auto image = SupervisorImage::Make(state_dir);
    if (image) found->image = std::move(*image);
    found->status = image.status();
  };
  auto done = [this, found] {
    placement_ = std::move(found->placement);
    image_ = std::move(found->image);
    for (const std::string& user : placement_.unknown_users()) {
      host().Warn("allowUsers names a user this machine does not know", {{"user", user}});
    }
    if (!placement_.cgroup_problem().empty()) {
      host().Warn("cgroupRoot cannot be used", {{"problem", placement_.cgroup_problem()}});
    }
    found->op.Finish(found->status);
  };
  if (!host().Offload(work, done)) {
    found->op.Fail(sdk::Unavailable("PoolFull", "the host's pool has no room now"));
  }
}

void ExecExecutor::Start(sdk::Op op, const sdk::TaskRef& ref) {
  auto spec = ParseFinal(host(), ref.spec);
  if (!spec) return op.Fail(sdk::Status(spec.status()).Retry(DETENT_HINT_NEVER));
  const TaskDirectory directory(tasks_dir_, ref.key);
  switch (directory.Examine()) {
    case TaskDirectory::State::kAbsent:
    case TaskDirectory::State::kNotStarted:
      return Launch(std::move(op), ref, directory, std::move(*spec));
    case TaskDirectory::State::kEnded: {
      auto& task = Follow<ExecTask>(ref, *this, directory, std::move(*spec));
      task.AnswerStartLater(std::move(op));
      return task.EndFromResult();
    }
    case TaskDirectory::State::kLost: {
      auto& task = Follow<ExecTask>(ref, *this, directory, std::move(*spec));
      task.AnswerStartLater(std::move(op));
      return task.EndAsLost();
    }
    case TaskDirectory::State::kAlive:
      break;
    case TaskDirectory::State::kUnreadable:
      return op.Fail(sdk::Internal("the task's directory cannot be read now"));
  }
  const int fd = directory.Connect();
  // Between two states: whether it runs is for recover to find out.
  if (fd < 0) return op.Fail(sdk::Internal("the task's supervisor does not answer yet"));
  Follow<ExecTask>(ref, *this, directory, std::move(*spec)).FollowStart(std::move(op), fd);
}

void ExecExecutor::Launch(sdk::Op op, const sdk::TaskRef& ref, const TaskDirectory& directory,
                          ExecSpec spec) {
  // The time makes it unique: the key alone comes again in a copied state directory.
  const std::string mark = std::string(ref.key) + "~" + std::to_string(host().WallNs());
  const auto encoded = placement_.Encode(spec, directory.name(), mark);
  if (!encoded) return op.Fail(encoded.status());
  auto& task = Follow<ExecTask>(ref, *this, directory, std::move(spec));
  sdk::TaskStatus starting;
  starting.phase = DETENT_PHASE_STARTING;
  starting.created_ns = host().WallNs();
  task.Update(std::move(starting));
  launches_.emplace_back(task.AwaitLaunch(std::move(op), *encoded), ref.task);
  RunLaunches();
}

// A few at a time: more would only wait for each other, and the pool is for others, too.
void ExecExecutor::RunLaunches() {
  while (!launches_.empty() && launches_under_way_ < kLaunchesAtOnce) {
    const auto [job, handle] = launches_.front();
    const bool wanted = !job->task_alive.expired();
    auto work = [this, job = job] { job->Run(image_); };
    auto done = [this, job = job, handle = handle] {
      --launches_under_way_;
      const bool dropped = job->task_alive.expired();
      if (!dropped) static_cast<ExecTask*>(Find(handle))->LaunchDone();
      const int fd = job->launched.control_fd;
      // Killed, and let go of before it was there: the wish still holds.
      if (dropped && job->stop && fd >= 0) send(fd, &*job->stop, sizeof(Message), MSG_NOSIGNAL);
      RunLaunches();
    };
    if (wanted && !host().Offload(work, done)) {
      launch_timer_ = host().After(kPoolPause, [this] { RunLaunches(); });
      return;
    }
    launches_.pop_front();
    if (wanted) ++launches_under_way_;
  }
}

void ExecExecutor::Recover(sdk::Op op, const sdk::TaskRef& ref) {
  if (auto* known = static_cast<ExecTask*>(Find(ref.task)); known != nullptr) {
    if (known->launching()) {
      return op.Answer(sdk::Recovered::kRetryLater, "it is being started", kLookAgainMs);
    }
    const bool terminated = known->Terminated();
    if (terminated || (known->following() && known->status().phase >= DETENT_PHASE_RUNNING)) {
      known->Update(known->status());
      const bool lost = terminated && known->status().result == DETENT_RESULT_LOST;
      return op.Answer(lost         ? sdk::Recovered::kLost
                       : terminated ? sdk::Recovered::kTerminated
                                    : sdk::Recovered::kAdopted);
    }
  }
  const TaskDirectory directory(tasks_dir_, ref.key);
  const TaskDirectory::State state = directory.Examine();
  if (state == TaskDirectory::State::kAbsent || state == TaskDirectory::State::kNotStarted) {
    return op.Answer(sdk::Recovered::kNotFound);
  }
  const int fd = state == TaskDirectory::State::kAlive ? directory.Connect() : -1;
  if (state == TaskDirectory::State::kUnreadable ||
      (state == TaskDirectory::State::kAlive && fd < 0)) {
    return op.Answer(sdk::Recovered::kRetryLater, "the supervisor does not answer yet",
                     kLookAgainMs);
  }
  // A spec that this version cannot read any more is no reason to let go of what it started.
  auto spec = ParseFinal(host(), ref.spec);
  auto& task = Follow<ExecTask>(ref, *this, directory, spec ? std::move(*spec) : ExecSpec{});
  if (fd >= 0) return task.FollowRecover(std::move(op), fd);
  task.AnswerRecoverLater(std::move(op));
  return state == TaskDirectory::State::kEnded ? task.EndFromResult() : task.EndAsLost();
}

void ExecExecutor::Kill(sdk::Op op, sdk::Task& task, const sdk::KillRequest& how) {
  if (task.Terminated()) {
    return op.Fail({DETENT_E_NOT_FOUND, "AlreadyEnded", "the task has ended"});
  }
  op.Finish(static_cast<ExecTask&>(task).Stop(how));
}

void ExecExecutor::ForceDelete(sdk::Op op, sdk::Task& task) {
  if (!task.Terminated()) {
    // The supervisor kills on until nothing is left, which is all that can be done from outside.
    const sdk::Status asked = static_cast<ExecTask&>(task).Stop({true, {}, "ForceDeleted"});
    if (!asked.ok()) host().Warn("a supervisor could not be told", {{"task", task.key()}});
    task.Killed("ForceDeleted", "it may still be running: the kernel has not let go of it");
  }
  op.Succeed();
}

void ExecExecutor::Cancel(detent_op op) {
  const sdk::Status answer(DETENT_E_CANCELLED, "Cancelled", "the host stopped waiting");
  ForEachTask([&](sdk::Task& task) { static_cast<ExecTask&>(task).CancelOp(op, answer); });
}

void ExecExecutor::Close(sdk::Op op) {
  const sdk::Status answer(DETENT_E_CLOSING, "Closing", "the task goes on without the host");
  ForEachTask([&](sdk::Task& task) { static_cast<ExecTask&>(task).CancelOp(0, answer); });
  launches_.clear();  // never begun: the next life starts them
  launch_timer_.Cancel();
  reap_timer_.Cancel();
  discard_timer_.Cancel();
  op.Succeed();
}

void ExecExecutor::ReadLog(sdk::Op op, const sdk::LogRequest& request) {
  const TaskDirectory directory(tasks_dir_, request.key);
  // Looked at first: what is read afterwards is all there will be.
  const TaskDirectory::State state = directory.Examine();
  const bool over = state == TaskDirectory::State::kEnded || state == TaskDirectory::State::kLost;
  const LogRead read = ReadLogFiles(directory.path(), request);
  if (!read.found && state != TaskDirectory::State::kAlive) {
    return op.Fail({DETENT_E_NOT_FOUND, "NoLog", "there is no log of this task"});
  }
  sdk::LogPiece piece;
  piece.lines = read.lines;
  piece.next_offset = std::max(read.next, read.found ? 0 : request.offset);
  piece.oldest_offset = read.oldest;
  piece.gap = read.gap;
  piece.end = over && read.at_end;
  sdk::AnswerLog(std::move(op), host(), piece);
}

void ExecExecutor::DiscardLog(std::string_view key) {
  const TaskDirectory directory(tasks_dir_, key);
  const TaskDirectory::State state = directory.Examine();
  if (state == TaskDirectory::State::kAbsent) return;
  const bool alive = state == TaskDirectory::State::kAlive;
  if (!alive && directory.Remove()) return;
  if (alive) {
    // Only after a force_delete can it still be there; nobody will ask about it any more.
    const int fd = directory.Connect();
    Message message;
    message.type = static_cast<uint32_t>(MessageType::kKill);
    message.flags = kMessageImmediate;
    if (fd >= 0) send(fd, &message, sizeof(message), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (fd >= 0) close(fd);
  }
  discards_.emplace_back(key);
  if (!discard_timer_.active()) {
    discard_timer_ = host().After(kDiscardPause, [this] { RetryDiscards(); });
  }
}

void ExecExecutor::RetryDiscards() {
  const std::vector<std::string> again = std::move(discards_);
  discards_.clear();
  for (const std::string& key : again) DiscardLog(key);
}

std::string ExecExecutor::CgroupOf(const TaskDirectory& directory) const {
  return placement_.CgroupPath(directory.name());
}

void ExecExecutor::ReapSoon(pid_t pid) {
  to_reap_.push_back(pid);
  Reap();
}

void ExecExecutor::Reap() {
  // One that this process did not start, or that is reaped already, is answered with ECHILD.
  const auto done = [](pid_t pid) { return waitpid(pid, nullptr, WNOHANG) != 0; };
  to_reap_.erase(std::remove_if(to_reap_.begin(), to_reap_.end(), done), to_reap_.end());
  if (to_reap_.empty() || reap_timer_.active()) return;
  reap_timer_ = host().After(kReapPause, [this] { Reap(); });
}

}  // namespace detent::exec
