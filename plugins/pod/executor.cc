#include "plugins/pod/executor.h"

#include <utility>

#include "plugins/pod/manifest.h"
#include "plugins/pod/marks.h"

namespace detent::pod {
namespace {

constexpr uint32_t kListAgainMs = 1'000;
// A server ends its requests after a minute; those that an earlier life made are over after this.
constexpr int64_t kLateNs = 600'000'000'000;

PodTask& AsPod(sdk::Task& task) {
  return static_cast<PodTask&>(task);
}

// All of the config.
DryRun ReadDryRun(const sdk::Json& config, sdk::Diagnostics& diag) {
  sdk::Fields fields(config, "", sdk::Fields::Mode::kFinal, diag);
  const std::string mode = fields.Text(
      "dryRunAtAdmission", {.fallback = "Never", .one_of = {"Never", "Warn", "Refuse"}});
  if (mode == "Warn") return DryRun::kWarn;
  return mode == "Refuse" ? DryRun::kRefuse : DryRun::kNever;
}

}  // namespace

sdk::Status PodExecutor::Create(const sdk::InstanceInfo& info, sdk::Diagnostics& diag) {
  auto doc = sdk::JsonDoc::Parse(host().table(), instance(), info.config, diag.sink());
  if (!doc) return doc.status();
  live_checks_ = std::make_unique<LiveChecks>(host(), ReadDryRun(doc->root(), diag));
  requests_ = std::make_unique<Requests>(host());
  logs_ = std::make_unique<LogRequests>(host(), *requests_);
  discards_ = std::make_unique<Discards>(host(), *requests_);
  return {};
}

void PodExecutor::Open(sdk::Op op) {
  sdk::WatchRequest request;
  request.gvr = kPods;
  request.tracked = true;
  request.only = kPodMembers;
  auto watch =
      sdk::Watch::Start(host(), request, [this](const sdk::WatchEvent& event) { OnEvent(event); });
  if (!watch && watch.status().code() == DETENT_E_UNSUPPORTED) {
    return op.Fail({DETENT_E_UNSUPPORTED, "NoCluster",
                    "Pods need a cluster, and the host has none: give it a kubeconfig"});
  }
  if (!watch) return op.Fail(watch.status());
  watch_ = *std::move(watch);
  opened_ns_ = host().MonotonicNs();
  host().Health(DETENT_HEALTH_UNHEALTHY, "the list of Pods has not been read yet");
  // Tasks can be started before the list is there; to recover one, it is waited for.
  op.Succeed();
}

void PodExecutor::Close(sdk::Op op) {
  const sdk::Status answer(DETENT_E_CLOSING, "Closing", "the Pod goes on without the host");
  for (auto& [task, waiting] : std::exchange(unlisted_, {})) waiting.Fail(answer);
  ForEachTask([&](sdk::Task& task) { AsPod(task).AnswerOp(0, answer); });
  live_checks_->Close(answer);
  logs_->Close();
  discards_->Close();
  requests_->Close();
  watch_.Stop();
  op.Succeed();
}

PodTask& PodExecutor::Take(const sdk::TaskRef& ref, const PodSpec& spec) {
  PodTask::Options options{spec.delete_pods, spec.result_path};
  options.maybe_there = !synced_;
  options.maybe_late = host().MonotonicNs() - opened_ns_ < kLateNs;
  options.round = round_;
  PodTask& task = Follow<PodTask>(ref, *requests_, std::move(options));
  index_.Add(task);
  if (const auto pod = index_.Claim(task)) task.Watched(*pod, round_);
  return task;
}

void PodExecutor::Start(sdk::Op op, const sdk::TaskRef& ref) {
  auto doc = sdk::JsonDoc::Parse(host().table(), instance(), ref.spec);
  if (!doc) return op.Fail(doc.status());
  sdk::Diagnostics diag(host().table(), nullptr);
  const PodSpec spec = ReadFinal(*doc, diag);
  if (!diag.ok()) return op.Fail(sdk::Status(diag.status()).Retry(DETENT_HINT_NEVER));
  sdk::Task* const known = Find(ref.task);
  PodTask& task = known != nullptr ? AsPod(*known) : Take(ref, spec);
  task.Start(std::move(op), ManifestOf(spec, ref, host()));
}

PodSpec PodExecutor::ReadFinal(const sdk::JsonDoc& doc, sdk::Diagnostics& diag) const {
  sdk::Fields fields(doc.root(), "", sdk::Fields::Mode::kFinal, diag);
  return ReadSpec(fields, sdk::Fields::Mode::kFinal, instance());
}

void PodExecutor::Recover(sdk::Op op, const sdk::TaskRef& ref) {
  PodTask* task = static_cast<PodTask*>(Find(ref.task));
  if (task == nullptr) {
    // That this version cannot read the spec is no reason to let go of a Pod.
    const auto doc = sdk::JsonDoc::Parse(host().table(), instance(), ref.spec);
    sdk::Diagnostics diag(host().table(), nullptr);
    PodSpec spec = doc ? ReadFinal(*doc, diag) : PodSpec();
    task = &Take(ref, diag.ok() ? spec : PodSpec());
  }
  if (task->found() || synced_) return task->Recover(std::move(op));
  if (watch_problem_.empty()) return void(unlisted_.emplace_back(ref.task, std::move(op)));
  op.Answer(sdk::Recovered::kRetryLater, watch_problem_, kListAgainMs);
}

// why_not_yet: empty, once the list is there.
void PodExecutor::AnswerUnlisted(const std::string& why_not_yet) {
  for (auto& [handle, op] : std::exchange(unlisted_, {})) {
    sdk::Task* const task = Find(handle);
    if (task != nullptr && why_not_yet.empty()) {
      AsPod(*task).Recover(std::move(op));
    } else {
      op.Answer(sdk::Recovered::kRetryLater, why_not_yet, kListAgainMs);
    }
  }
}

void PodExecutor::Kill(sdk::Op op, sdk::Task& task, const sdk::KillRequest& how) {
  AsPod(task).Kill(std::move(op), how);
}

void PodExecutor::ForceDelete(sdk::Op op, sdk::Task& task) {
  AsPod(task).ForceDelete(std::move(op));
}

void PodExecutor::Release(sdk::Task& record) {
  PodTask& task = AsPod(record);
  index_.Remove(task);
  task.LetGo();
  if (task.haunted()) index_.Haunt(task, host().MonotonicNs());
}

void PodExecutor::Detach(sdk::Task& task) {
  index_.Remove(AsPod(task));
}

void PodExecutor::Cancel(detent_op op) {
  const sdk::Status answer(DETENT_E_CANCELLED, "Cancelled", "the API server was too slow");
  for (auto& [task, waiting] : unlisted_) {
    if (waiting.id() == op) waiting.Fail(answer);
  }
  std::erase_if(unlisted_, [](const auto& each) { return !each.second; });
  ForEachTask([&](sdk::Task& task) { AsPod(task).AnswerOp(op, answer); });
  logs_->Cancel(op, answer);
  live_checks_->Cancel(op, answer);
}

void PodExecutor::OnEvent(const sdk::WatchEvent& event) {
  switch (event.kind()) {
    case DETENT_WATCH_UPSERT:
      if (auto pod = ReadPod(event.text())) return OnUpsert(*std::move(pod));
      return host().Warn("a Pod could not be read", {{"name", event.name()}});
    case DETENT_WATCH_DELETE:
      return OnDelete(event);
    case DETENT_WATCH_SYNCED:
      return OnSynced();
    case DETENT_WATCH_RESTARTED:
      synced_ = false;
      ++round_;
      return index_.DropAll();
    case DETENT_WATCH_FAILED:
      watch_problem_ = event.message();
      AnswerUnlisted(watch_problem_);
      host().Health(DETENT_HEALTH_UNHEALTHY, watch_problem_);
      return host().Warn("Pods cannot be watched", {{"why", watch_problem_}});
    default:
      return;
  }
}

void PodExecutor::OnUpsert(Pod pod) {
  if (PodTask* const task = index_.ByName(pod.ns, pod.name)) {
    if (task->IsGhost(pod)) RemoveGhost(pod);
    return task->Watched(pod, round_);
  }
  if (index_.IsGhost(pod, host().MonotonicNs()) && RemoveGhost(pod)) return;
  index_.Keep(std::move(pod));
}

// A request to make a Pod took effect when nobody waited for it any more.
bool PodExecutor::RemoveGhost(const Pod& pod) {
  host().Warn("a Pod came up that no task waits for; it is removed",
              {{"pod", pod.ns + "/" + pod.name}});
  sdk::KubeObject object{std::string(kPods), pod.ns, pod.name, pod.uid};
  object.remove = object.ended = true;
  const sdk::Status taken = KubeLetGo(host(), object);
  if (!taken.ok()) host().Warn("it could not be let go of", {{"why", taken.message()}});
  return taken.ok();
}

void PodExecutor::OnDelete(const sdk::WatchEvent& event) {
  const auto last = ReadPod(event.text());
  PodTask* const task = index_.ByName(event.namespace_(), event.name());
  if (task == nullptr) return index_.Drop(event.namespace_(), event.name());
  if (task->uid() == event.uid()) task->Vanish(last ? &*last : nullptr);
}

void PodExecutor::OnSynced() {
  synced_ = true;
  watch_problem_.clear();
  host().Health(DETENT_HEALTH_HEALTHY);
  ForEachTask([this](sdk::Task& task) {
    if (AsPod(task).IsMissing(round_)) AsPod(task).Vanish(nullptr);
  });
  AnswerUnlisted("");
}

void PodExecutor::ReadLog(sdk::Op op, const sdk::LogRequest& request) {
  const PodTask* const task = index_.ByKey(request.key);
  logs_->Read(std::move(op), request, task == nullptr ? nullptr : task->kept_pod(),
              [this](const Pod& pod) {
                PodTask* const followed = index_.ByKey(pod.task_key);
                if (followed != nullptr) followed->Keep(pod);
              });
}

void PodExecutor::DiscardLog(std::string_view key) {
  discards_->Add(key);
}

void PodExecutor::CheckLive(sdk::Op op, std::string_view namespace_, std::string_view spec,
                            sdk::Diagnostics diag) {
  live_checks_->Begin(std::move(op), namespace_, spec, std::move(diag));
}

}  // namespace detent::pod
