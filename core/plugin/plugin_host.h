// All configured plugins: loads them, keeps them going, and says of each how it stands.
//
// A plugin that cannot be used never stops the host, and never changes a task: it is shown with its
// reason, and tried again. Start, Reload and Stop block for a plugin's pleasure, within their
// deadlines; they are called by one thread at a time. The rest is for any thread, unless the
// inherited declaration says otherwise.

#pragma once

#include <condition_variable>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/api/admission.h"
#include "core/api/live_review.h"
#include "core/base/log.h"
#include "core/net/transport.h"
#include "core/plugin/executor.h"
#include "core/plugin/in_process_executor.h"
#include "core/plugin/loader.h"
#include "core/plugin/offload_pool.h"
#include "core/plugin/plugin_info.h"

namespace detent {

struct PluginHostOptions {
  std::string state_root;  // Absolute; each instance has a directory of its name in it.
  OpDeadlines deadlines;
  LoaderOptions loader;
  std::chrono::milliseconds retry_first{1'000};  // After a failed open; doubles up to a minute.
};

class PluginHost final : public ExecutorDirectory, public SpecValidator, public LiveValidator {
 public:
  // `clock` and `sink` are borrowed, as are `logger` and `http`, which may be null.
  PluginHost(std::vector<PluginConfig> plugins, PluginHostOptions options, HostParts parts);
  ~PluginHost() override;  // Stops.

  // Loads every plugin and opens none: what is known of kinds and specs is known from then on. May
  // be left out.
  void Load();
  // Makes those that can look at specs before they are open (CheckLive), for a host that waits to
  // lead. Between Load and Start; may be left out.
  void Prepare();
  // Begins to open every plugin; what becomes of it comes as ExecutorChange.
  void Start();
  // Loads the file of a kind anew, beside the old image, which stays mapped; live tasks move over.
  // kNotFound: no such kind. kInvalid: refused, and then the old one goes on.
  Result<void> Reload(std::string_view kind);
  // Closes every instance; tasks stay as they are outside.
  void Stop();

  Executor* Find(std::string_view kind) override;
  bool BackendIsRecord(std::string_view kind) override;
  std::pair<std::string, std::string> WhyNot(std::string_view kind) override;
  std::string Complaint(std::string_view kind) override;
  void FlushAll() override;

  std::vector<std::string> Kinds() const override;
  Diagnostics Validate(std::string_view kind, std::string_view spec_json) const override;
  LiveFindings CheckLive(const LiveQuestion& question) const override;

  std::vector<PluginInfo> Plugins() const;
  // Waits 5 seconds at most. kNotFound, kUnsupported, kUnavailable, or what the plugin says.
  Result<LogChunk> ReadLog(std::string_view kind, LogReadOrder order);
  // The schema of each kind's spec, where the plugin has one.
  std::vector<std::pair<std::string, Json>> Schemas() const;

 private:
  enum class Standing { kLoading, kReady, kRefused, kUnhealthy };
  struct Entry {
    PluginConfig config;
    InProcessExecutor executor;
    Standing standing = Standing::kLoading;
    std::string reason, message;
    std::optional<LoadedPlugin> loaded;
    Instance* instance = nullptr;
    std::vector<TaskOrder> orphans;  // Tasks of the last instance, for the next.
    int generations = 0;
    bool opening = false;
    std::chrono::milliseconds backoff{0};
    std::optional<MonoTime> retry_at;
  };
  using EntryPtr = std::unique_ptr<Entry>;

  Entry* EntryOf(std::string_view kind) const;
  bool LoadInto(Entry& entry);
  bool MakeInstance(Entry& entry);
  void Open(Entry& entry);
  void OnOpened(Entry& entry, Instance* instance, const Result<void>& result);
  struct Closing {
    Entry* entry = nullptr;
    Instance* instance = nullptr;
    std::future<std::vector<TaskOrder>> tasks;
  };
  // Together: a plugin that is stuck costs its patience once, however many there are.
  void CloseInstances(const std::vector<Entry*>& entries);
  std::optional<Closing> BeginClose(Entry& entry);
  void SetStanding(Entry& entry, Standing standing, std::string reason, std::string message);
  void Keep();
  void RetryDue();
  PluginInfo StateOf(const Entry& entry) const;

  const PluginHostOptions options_;
  HostParts parts_;
  OffloadPool offload_{4};
  std::vector<EntryPtr> entries_;  // The list is fixed; entries are guarded by mutex_.
  mutable std::mutex mutex_;
  std::mutex change_mutex_;  // Held by Start, Reload, Stop and retries: one change at a time.
  std::condition_variable wake_;
  bool stopping_ = false;  // Guarded by mutex_.
  std::thread keeper_;
};

}  // namespace detent
