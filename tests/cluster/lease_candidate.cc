// One host that stands for leader, and says on standard output what it does, a line each with the
// time of the machine's monotonic clock in nanoseconds:
//
//   lease_candidate KUBECONFIG NAMESPACE LEASE IDENTITY DURATION_MS
//
//   123 elected 7 | 123 deposed 0 | 123 acts 7
//
// It acts whenever Fence() lets it, as often as it can without being a burden. The time of an act
// was read before Fence was asked: had it been stopped in between, it would not have acted.
// SIGTERM ends it in good order.

#include <unistd.h>
#include <csignal>

#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>

#include "core/kube/cluster_access.h"
#include "core/kube/lease.h"

namespace detent {
namespace {

void Say(MonoTime at, const char* what, int64_t epoch) {
  const std::string line = std::to_string(at.time_since_epoch().count()) + " " + what + " " +
                           std::to_string(epoch) + "\n";
  // In one piece, so that a kill leaves no half of it.
  if (write(STDOUT_FILENO, line.data(), line.size()) < 0) std::abort();
}

class Voice final : public LeadershipSink {
 public:
  explicit Voice(const Clock& clock) : clock_(clock) {}
  void OnElected(int64_t epoch) override { Say(clock_.Mono(), "elected", epoch); }
  void OnDeposed(const std::string&) override { Say(clock_.Mono(), "deposed", 0); }
  void OnLeader(const std::string&) override {}

 private:
  const Clock& clock_;
};

class Actor {
 public:
  Actor(const LeaseElector& elector, const Clock& clock)
      : elector_(elector), clock_(clock), thread_([this] { Run(); }) {}
  ~Actor() {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

 private:
  void Run() {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, std::chrono::milliseconds(2), [this] { return stop_; })) {
      const MonoTime before = clock_.Mono();
      if (const auto epoch = elector_.Fence()) Say(before, "acts", *epoch);
    }
  }

  const LeaseElector& elector_;
  const Clock& clock_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;  // Guarded by mutex_.
  std::thread thread_;
};

int Stand(char** args) {
  const SystemClock clock;
  Logger log(LogLevel::kInfo, StandardErrorSink());
  KubeEnvironment environment;
  environment.kubeconfig_flag = args[1];
  auto access = FindClusterAccess(environment);
  if (!access) {
    log.Error(access.error().message());
    return 1;
  }
  LeaseOptions options;
  options.ns = args[2];
  options.name = args[3];
  options.identity = args[4];
  options.duration = std::chrono::milliseconds(std::atoi(args[5]));
  options.renew_deadline = options.duration * 2 / 3;
  options.retry_period = options.duration * 2 / 15;
  if (const auto good = CheckLeaseOptions(options); !good) {
    log.Error(good.error().message());
    return 2;
  }
  KubeClient client(*std::move(access), {}, clock, log);
  Voice voice(clock);
  LeaseElector elector(client, options, voice);
  elector.Start();
  {
    const Actor actor(elector, clock);
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    int signal = 0;
    sigwait(&ends, &signal);
  }
  elector.Stop();
  return 0;
}

}  // namespace
}  // namespace detent

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  // Before any thread is made, so that all of them leave it to the wait.
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  return detent::Stand(argv);
}
