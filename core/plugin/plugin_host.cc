#include "core/plugin/plugin_host.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/plugin/abi_convert.h"
#include "core/plugin/buffer.h"
#include "core/plugin/diag_sink.h"
#include "core/plugin/host_table.h"
#include "core/plugin/instance.h"
#include "core/plugin/live_sample.h"

namespace detent {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kRetryMost{60'000};
constexpr const char* kUnhealthyState = "Unhealthy";
constexpr std::chrono::seconds kStuckAfter{30};
constexpr std::chrono::seconds kLogPatience{5};
constexpr milliseconds kLivePatience{2'000};
// Each generation costs its file's size in memory, and static thread-local storage for good.
constexpr int kGenerationsMax = 16;

Result<void> MakeStateDir(const std::string& path) {
  std::error_code failure;
  std::filesystem::create_directories(path, failure);
  if (failure || chmod(path.c_str(), 0700) != 0) {
    return Error(Code::kUnavailable, "the state directory " + path + " cannot be made" +
                                         (failure ? ": " + failure.message() : ""));
  }
  return {};
}

}  // namespace

PluginHost::PluginHost(std::vector<PluginConfig> plugins, PluginHostOptions options,
                       HostParts parts)
    : options_(std::move(options)), parts_(parts) {
  parts_.offload = &offload_;
  for (PluginConfig& config : plugins) {
    auto entry = std::make_unique<Entry>();
    if (config.name.empty()) config.name = config.kind;
    entry->config = std::move(config);
    entries_.push_back(std::move(entry));
  }
}

PluginHost::~PluginHost() {
  Stop();
}

PluginHost::Entry* PluginHost::EntryOf(std::string_view kind) const {
  for (const EntryPtr& entry : entries_) {
    if (entry->config.kind == kind) return entry.get();
  }
  return nullptr;
}

void PluginHost::SetStanding(Entry& entry, Standing standing, std::string reason,
                             std::string message) {
  const bool usable = standing == Standing::kReady;
  {
    std::lock_guard lock(mutex_);
    entry.standing = standing;
    entry.reason = reason;
    entry.message = message;
  }
  if (parts_.logger != nullptr && !usable) {
    parts_.logger->Warning("a plugin cannot be used",
                           {{"kind", entry.config.kind}, {"reason", reason}, {"why", message}});
  }
  std::vector<ExecutorEvent> events;
  events.push_back(
      ExecutorChange{entry.config.kind, usable, std::move(reason), std::move(message)});
  if (parts_.sink != nullptr) parts_.sink->Post(events);
}

bool PluginHost::LoadInto(Entry& entry) {
  auto loaded = entry.generations >= kGenerationsMax
                    ? Result<LoadedPlugin>(
                          Error(Code::kInvalid, "plugin " + entry.config.path + " was loaded " +
                                                    std::to_string(kGenerationsMax) +
                                                    " times in this process; restart the host."))
                    : LoadPlugin(entry.config, options_.loader);
  if (!loaded) {
    if (entry.instance == nullptr) {
      SetStanding(entry, Standing::kRefused, "PluginRefused", loaded.error().message());
    }
    std::lock_guard lock(mutex_);
    entry.message = loaded.error().message();
    return false;
  }
  std::lock_guard lock(mutex_);
  ++entry.generations;
  entry.loaded = std::move(loaded).value();
  return true;
}

bool PluginHost::MakeInstance(Entry& entry) {
  InstanceOptions options;
  options.name = entry.config.name;
  options.kind = entry.config.kind;
  options.state_dir = options_.state_root + "/" + entry.config.name;
  options.config = DumpJson(entry.config.config);
  options.limits = entry.config.limits;
  options.deadlines = options_.deadlines;
  const auto made = MakeStateDir(options.state_dir);
  if (!made) {
    SetStanding(entry, Standing::kRefused, "PluginRefused", made.error().message());
    return false;
  }
  Instance* instance = Instance::Make(*entry.loaded, std::move(options), parts_);
  std::lock_guard lock(mutex_);
  entry.instance = instance;
  return true;
}

void PluginHost::Open(Entry& entry) {
  if (entry.instance == nullptr && !MakeInstance(entry)) return;
  Instance* const instance = entry.instance;
  {
    std::lock_guard lock(mutex_);
    entry.opening = true;
  }
  instance->Open(
      [this, &entry, instance](Result<void> result) { OnOpened(entry, instance, result); });
}

// On the instance's strand.
void PluginHost::OnOpened(Entry& entry, Instance* instance, const Result<void>& result) {
  std::vector<TaskOrder> orphans;
  {
    std::lock_guard lock(mutex_);
    entry.opening = false;
    if (!result) {
      entry.backoff = std::clamp(entry.backoff * 2, options_.retry_first, kRetryMost);
      entry.retry_at = parts_.clock->Mono() + entry.backoff;
    } else {
      entry.backoff = milliseconds(0);
      orphans = std::exchange(entry.orphans, {});
    }
  }
  if (result) {
    entry.executor.Attach(*instance, std::move(orphans));
    SetStanding(entry, Standing::kReady, "", "");
  } else {
    SetStanding(entry, Standing::kUnhealthy, "OpenFailed",
                "plugin " + entry.config.path +
                    " could not be opened: " + result.error().message() + "; it is tried again");
  }
  wake_.notify_all();
}

std::optional<PluginHost::Closing> PluginHost::BeginClose(Entry& entry) {
  Closing closing;
  closing.entry = &entry;
  {
    std::lock_guard lock(mutex_);
    closing.instance = std::exchange(entry.instance, nullptr);
  }
  if (closing.instance == nullptr) return std::nullopt;
  entry.executor.Detach();
  auto closed = std::make_shared<std::promise<std::vector<TaskOrder>>>();
  closing.tasks = closed->get_future();
  closing.instance->Close(
      [closed](std::vector<TaskOrder> orders) { closed->set_value(std::move(orders)); });
  return closing;
}

void PluginHost::CloseInstances(const std::vector<Entry*>& entries) {
  std::vector<Closing> under_way;
  for (Entry* entry : entries) {
    if (auto closing = BeginClose(*entry)) under_way.push_back(std::move(*closing));
  }
  const OpDeadlines& deadlines = options_.deadlines;
  const MonoTime patience = parts_.clock->Mono() + deadlines.drain + deadlines.close * 2 +
                            deadlines.grace * 2 + deadlines.sweep * 3;
  for (Closing& closing : under_way) {
    if (closing.tasks.wait_for(patience - parts_.clock->Mono()) != std::future_status::ready) {
      closing.instance->Abandon();
      continue;
    }
    closing.instance->Join();
    auto orders = closing.tasks.get();
    std::lock_guard lock(mutex_);
    for (TaskOrder& order : orders) closing.entry->orphans.push_back(std::move(order));
  }
}

void PluginHost::Load() {
  std::lock_guard changing(change_mutex_);
  for (const EntryPtr& entry : entries_) LoadInto(*entry);
}

void PluginHost::Prepare() {
  std::lock_guard changing(change_mutex_);
  for (const EntryPtr& entry : entries_) {
    if (!entry->loaded || !Instance::ChecksBeforeOpen(*entry->loaded->executor)) continue;
    if (MakeInstance(*entry)) entry->instance->Prepare();
  }
}

void PluginHost::Start() {
  std::lock_guard changing(change_mutex_);
  for (const EntryPtr& entry : entries_) {
    if (entry->loaded || LoadInto(*entry)) Open(*entry);
  }
  keeper_ = std::thread([this] { Keep(); });
}

Result<void> PluginHost::Reload(std::string_view kind) {
  std::lock_guard changing(change_mutex_);
  Entry* entry = EntryOf(kind);
  if (entry == nullptr) {
    return Error(Code::kNotFound, "no plugin of kind '" + std::string(kind) + "' is configured");
  }
  if (!LoadInto(*entry)) {
    std::lock_guard lock(mutex_);
    return Error(Code::kInvalid, entry->message);
  }
  CloseInstances({entry});
  {
    std::lock_guard lock(mutex_);
    entry->standing = Standing::kLoading;
    entry->retry_at.reset();
  }
  Open(*entry);
  return {};
}

void PluginHost::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (keeper_.joinable()) keeper_.join();
  std::lock_guard changing(change_mutex_);
  std::vector<Entry*> all;
  for (const EntryPtr& entry : entries_) all.push_back(entry.get());
  CloseInstances(all);
}

// Opens again what could not be opened.
void PluginHost::RetryDue() {
  std::lock_guard changing(change_mutex_);
  for (const EntryPtr& entry : entries_) {
    {
      std::lock_guard lock(mutex_);
      if (!entry->retry_at || *entry->retry_at > parts_.clock->Mono()) continue;
      entry->retry_at.reset();
    }
    CloseInstances({entry.get()});
    Open(*entry);
  }
}

void PluginHost::Keep() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    std::optional<MonoTime> next;
    for (const EntryPtr& entry : entries_) {
      if (entry->retry_at && (!next || *entry->retry_at < *next)) next = entry->retry_at;
    }
    if (!next) {
      wake_.wait(lock);
      continue;
    }
    const auto left = *next - parts_.clock->Mono();
    if (left.count() > 0) {
      wake_.wait_for(lock, left);
      continue;
    }
    lock.unlock();
    RetryDue();
    lock.lock();
  }
}

Executor* PluginHost::Find(std::string_view kind) {
  Entry* entry = EntryOf(kind);
  if (entry == nullptr) return nullptr;
  std::lock_guard lock(mutex_);
  // While a reload is under way the executor keeps what is asked.
  const bool moving = entry->standing == Standing::kLoading && entry->generations > 1;
  return entry->standing == Standing::kReady || moving ? &entry->executor : nullptr;
}

bool PluginHost::BackendIsRecord(std::string_view kind) {
  std::lock_guard lock(mutex_);
  const Entry* entry = EntryOf(kind);
  return entry != nullptr && entry->loaded &&
         (entry->loaded->executor->caps & DETENT_CAP_BACKEND_RECORD) != 0;
}

std::pair<std::string, std::string> PluginHost::WhyNot(std::string_view kind) {
  const Entry* entry = EntryOf(kind);
  if (entry == nullptr) {
    return {"ExecutorUnknown", "no plugin of kind '" + std::string(kind) + "' is configured"};
  }
  std::lock_guard lock(mutex_);
  if (entry->standing == Standing::kReady) return {"", ""};
  if (entry->standing == Standing::kLoading) {
    return {"ExecutorLoading", "the plugin of kind '" + std::string(kind) + "' is being opened"};
  }
  return {"ExecutorUnavailable", entry->message};
}

std::string PluginHost::Complaint(std::string_view kind) {
  const Entry* entry = EntryOf(kind);
  if (entry == nullptr) return "";
  std::lock_guard lock(mutex_);
  const PluginInfo info = StateOf(*entry);
  return entry->standing == Standing::kReady && info.state == kUnhealthyState ? info.message : "";
}

void PluginHost::FlushAll() {
  for (const EntryPtr& entry : entries_) entry->executor.Flush();
}

std::vector<std::string> PluginHost::Kinds() const {
  std::vector<std::string> kinds;
  for (const EntryPtr& entry : entries_) kinds.push_back(entry->config.kind);
  std::sort(kinds.begin(), kinds.end());
  return kinds;
}

Diagnostics PluginHost::Validate(std::string_view kind, std::string_view spec_json) const {
  const Entry* entry = EntryOf(kind);
  const detent_executor* table = nullptr;
  if (entry != nullptr) {
    std::lock_guard lock(mutex_);
    if (entry->loaded) table = entry->loaded->executor;
  }
  if (table == nullptr || !DETENT_HAS_FN(detent_executor, table, validate)) return {};
  const std::string spec(spec_json);
  const detent_bytes bytes = Bytes(spec);
  detent_diag findings;
  detent_status status = DETENT_E_INTERNAL;
  try {
    status = table->validate(HostTable(), &bytes, &findings);
  } catch (...) {
  }
  if (status != DETENT_OK && findings.mistakes.empty()) {
    findings.mistakes.push_back({"", Diagnostic::Reason::kInvalid,
                                 "could not be checked by the executor: " + StatusName(status),
                                 ""});
  }
  return findings.mistakes;
}

PluginInfo PluginHost::StateOf(const Entry& entry) const {
  constexpr const char* kNames[] = {"Loading", "Ready", "Refused", kUnhealthyState};
  PluginInfo state;
  state.kind = entry.config.kind;
  state.path = entry.config.path;
  state.state = kNames[static_cast<size_t>(entry.standing)];
  state.message = entry.message;
  if (entry.loaded) {
    state.id = entry.loaded->id;
    state.version = entry.loaded->version;
    state.sha256 = entry.loaded->sha256;
  }
  Instance* const instance = entry.instance;
  if (instance == nullptr) return state;
  state.active_tasks = static_cast<int64_t>(instance->active_tasks());
  const InstanceHealth health = instance->health();
  if (entry.standing == Standing::kReady && health.state != DETENT_HEALTH_HEALTHY) {
    state.state = kUnhealthyState;
    state.message = health.why;
  }
  WatchFeeds* const feeds = instance->watch_feeds();
  const bool follows = entry.standing == Standing::kReady && feeds != nullptr && !feeds->empty();
  if (const auto trouble = follows ? feeds->door().client().Trouble() : ""; !trouble.empty()) {
    state.state = kUnhealthyState;
    state.message = "its cluster cannot be reached: " + trouble;
  }
  if (instance->busy() > kStuckAfter) {
    state.state = kUnhealthyState;
    state.message = std::string("a call into the plugin does not return (") +
                    instance->current_call() + "); restart the host";
  }
  return state;
}

std::vector<PluginInfo> PluginHost::Plugins() const {
  std::lock_guard lock(mutex_);
  std::vector<PluginInfo> states;
  for (const EntryPtr& entry : entries_) states.push_back(StateOf(*entry));
  return states;
}

Result<LogChunk> PluginHost::ReadLog(std::string_view kind, LogReadOrder order) {
  const Entry* entry = EntryOf(kind);
  if (entry == nullptr) {
    return Error(Code::kNotFound, "no plugin of kind '" + std::string(kind) + "' is configured");
  }
  auto promise = std::make_shared<std::promise<Result<LogChunk>>>();
  std::future<Result<LogChunk>> piece = promise->get_future();
  {
    std::lock_guard lock(mutex_);
    if (entry->instance == nullptr) {
      return Error(Code::kUnavailable, "the plugin of kind '" + std::string(kind) +
                                           "' cannot be used now: " + entry->message);
    }
    entry->instance->ReadLog(std::move(order), [promise](Result<LogChunk> result) {
      promise->set_value(std::move(result));
    });
  }
  // A strand that ends drops what it was asked; the promise is broken then.
  if (piece.wait_for(kLogPatience) != std::future_status::ready) {
    return Error(Code::kUnavailable, "the plugin did not answer within 5 seconds");
  }
  try {
    return piece.get();
  } catch (const std::future_error&) {
    return Error(Code::kUnavailable, "the plugin was closed meanwhile");
  }
}

LiveFindings PluginHost::CheckLive(const LiveQuestion& question) const {
  const Entry* entry = EntryOf(question.kind);
  const Result<LiveSample> sample = LiveSample::Of(question.spec_json);
  if (entry == nullptr || !sample) return {};
  auto promise = std::make_shared<std::promise<Result<LiveAnswer>>>();
  std::future<Result<LiveAnswer>> answer = promise->get_future();
  {
    std::lock_guard lock(mutex_);
    // One that is not open says itself whether it looks.
    if (entry->instance == nullptr || !entry->instance->MayCheckLive()) return {};
    entry->instance->CheckLive(
        {std::string(question.ns), sample->spec()},
        [promise](Result<LiveAnswer> result) { promise->set_value(std::move(result)); });
  }
  const auto not_checked = [](std::string why) { return LiveFindings{{}, {}, std::move(why)}; };
  const milliseconds patience = std::min(question.patience, kLivePatience);
  if (answer.wait_for(patience) != std::future_status::ready) {
    return not_checked("the plugin did not answer within " + std::to_string(patience.count()) +
                       " ms");
  }
  try {
    Result<LiveAnswer> found = answer.get();
    if (found) return sample->Judge(std::move(found).value());
    const bool never = found.error().code() == Code::kUnsupported;
    return never ? LiveFindings() : not_checked(found.error().message());
  } catch (const std::future_error&) {
    return {};  // It was closed meanwhile, and answers as one that is not open.
  }
}

std::vector<std::pair<std::string, Json>> PluginHost::Schemas() const {
  std::vector<std::pair<std::string, const detent_executor*>> tables;
  {
    std::lock_guard lock(mutex_);
    for (const EntryPtr& entry : entries_) {
      if (entry->loaded) tables.emplace_back(entry->config.kind, entry->loaded->executor);
    }
  }
  std::vector<std::pair<std::string, Json>> schemas;
  for (const auto& [kind, table] : tables) {
    detent_buf text = 0;
    if (!DETENT_HAS_FN(detent_executor, table, schema)) continue;
    if (table->schema(HostTable(), DETENT_SCHEMA_SPEC, &text) != DETENT_OK) continue;
    auto parsed = ParseJson(BufferView(text));
    ReleaseBuffer(text);
    if (parsed) schemas.emplace_back(kind, std::move(parsed).value());
  }
  return schemas;
}

}  // namespace detent
