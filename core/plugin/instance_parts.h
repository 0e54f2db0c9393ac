// The values that an instance is made of and speaks in. Plain values.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <variant>

#include "core/base/clock.h"
#include "core/plugin/executor.h"
#include "core/plugin/loader.h"
#include "core/plugin/plugin_info.h"
#include "detent/detent.h"

namespace detent {

class HttpTransport;
class KubeDoor;
class Logger;
class OffloadPool;

// How long an op may take before the host cancels it (executor.h names the defaults), and how long
// after that until its id goes stale.
struct OpDeadlines {
  std::chrono::milliseconds open{30'000};
  std::chrono::milliseconds start{60'000};
  std::chrono::milliseconds recover{60'000};
  std::chrono::milliseconds observe{30'000};
  std::chrono::milliseconds kill{60'000};
  std::chrono::milliseconds force_delete{60'000};
  std::chrono::milliseconds drain{10'000};
  std::chrono::milliseconds close{10'000};
  std::chrono::milliseconds logs{5'000};
  std::chrono::milliseconds check_live{2'000};
  std::chrono::milliseconds grace{5'000};
  std::chrono::milliseconds sweep{1'000};     // How often deadlines are looked at.
  std::chrono::milliseconds resync{600'000};  // Between two observes of a task.
};

struct InstanceOptions {
  std::string name;
  std::string kind;
  std::string state_dir;
  std::string config = "{}";
  PluginLimits limits;
  OpDeadlines deadlines;
};

// What the host lends to its instances. `logger`, `http` and `kube` may be null.
struct HostParts {
  const Clock* clock = nullptr;
  Logger* logger = nullptr;
  HttpTransport* http = nullptr;
  OffloadPool* offload = nullptr;
  ExecutorSink* sink = nullptr;
  KubeDoor* kube = nullptr;  // Null: there is no cluster.
};

enum class OpKind : uint8_t {
  kOpen,
  kStart,
  kRecover,
  kObserve,
  kKill,
  kForceDelete,
  kDrain,
  kClose,
  kReadLog,
  kCheckLive
};
const char* NameOf(OpKind kind);

// A detent_result that is complete, whatever its writer knew. Text and body are lent.
using OpResult = detent_result;
using OpDone = std::function<void(const OpResult&)>;

struct InstanceHealth {
  uint32_t state = DETENT_HEALTH_HEALTHY;
  std::string why;
};

struct FdCallback {
  detent_fd_cb cb = nullptr;
  void* ctx = nullptr;
};

struct LogReadOrder {
  std::string key;
  int64_t offset = 0;
  size_t bytes_max = 256 * 1024;
};

struct LiveCheckOrder {
  std::string ns;
  std::string spec;  // Filled in.
};

// 200 lines a second, 1000 at once. Any thread.
class LogBudget {
 public:
  // True if a line may be written now; `dropped` is how many were not since the last that was.
  bool Take(MonoTime now, int64_t& dropped);

 private:
  std::mutex mutex_;
  double tokens_ = 1000;
  MonoTime filled_{};
  int64_t dropped_ = 0;
};

// What the controllers ask about tasks, in the order in which they asked.
struct StartCommand {
  TaskOrder order;
};
struct RecoverCommand {
  TaskOrder order;
};
// Takes a task over from an earlier generation; nobody waits for an answer.
struct AdoptCommand {
  TaskOrder order;
};
struct ForceDeleteCommand {
  TaskId id = 0;
};
struct ReleaseCommand {
  TaskId id = 0;
};
struct DiscardCommand {
  std::string key;
};
// Objects of this key that belong to no task in hand.
struct LetGoCommand {
  std::string key;
  bool remove = false;
};
using TaskCommand = std::variant<StartCommand, RecoverCommand, AdoptCommand, KillOrder,
                                 ForceDeleteCommand, ReleaseCommand, DiscardCommand, LetGoCommand>;

}  // namespace detent
