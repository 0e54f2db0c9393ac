#include "core/cli/cluster_why.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "core/api/codec.h"
#include "core/api/explanation.h"
#include "core/api/labels.h"

namespace detent {
namespace {

using explanation::Lines;

constexpr const char* kUntouched = "  no host has written a status of it yet";

std::string TextOf(const Json& document, const char* member) {
  const Json* found = document.Find(member);
  return found == nullptr ? "" : DumpJson(*found);
}

std::string StoredName(const Json& document) {
  return TextAt(document, "/metadata/name");
}

TaskRecord RecordOf(const Json& task, const TaskStatus& status) {
  TaskRecord record;
  record.name = StoredName(task);
  record.index = NumberAt(task, "/spec/index");
  record.attempt = NumberAt(task, "/spec/attempt");
  record.state = status.state;
  record.reason = status.reason;
  record.message = status.message;
  return record;
}

// A Job that has not ended. Oldest first, as a host lets them go.
struct Sibling {
  std::string created;
  std::string name;
  JobStatus status;
};

Result<std::vector<Sibling>> Unfinished(ApiClient& api, const std::string& ns,
                                        const std::string& config_uid) {
  const Json list =
      TRY(api.List({Kind::kJob, ns, std::string(labels::kJobConfigUid) + "=" + config_uid, ""}));
  std::vector<Sibling> siblings;
  const Json* items = list.Find("items");
  if (items == nullptr || !items->is_array()) return siblings;
  for (const Json& item : items->as_array()) {
    Sibling sibling;
    sibling.created = TextAt(item, "/metadata/creationTimestamp");
    sibling.name = StoredName(item);
    sibling.status = TRY(DecodeJobStatus(TextOf(item, "status")));
    if (!IsFinished(sibling.status.phase)) siblings.push_back(std::move(sibling));
  }
  std::sort(siblings.begin(), siblings.end(), [](const Sibling& a, const Sibling& b) {
    return std::tie(a.created, a.name) < std::tie(b.created, b.name);
  });
  return siblings;
}

class JobExplainer {
 public:
  JobExplainer(ApiClient& api, const ObjectKey& key, WallTime now)
      : api_(api), key_(key), now_(now) {}

  Result<Lines> Run() {
    const Json job = TRY(api_.Read(key_));
    status_ = TRY(DecodeJobStatus(TextOf(job, "status")));
    spec_ = TRY(DecodeJobSpec(TextOf(job, "spec")));
    lines_.push_back(explanation::OfJob(key_.name, status_));
    if (job.Find("status") == nullptr) lines_.emplace_back(kUntouched);
    const bool waits = !status_.started && !status_.finished;
    if (waits && status_.reason.empty() && spec_.start_after && *spec_.start_after > now_) {
      lines_.push_back("  not before " + explanation::InTime(*spec_.start_after, now_));
    }
    TRY(AddOwner(job));
    if (status_.started && !status_.finished) TRY(AddGoing());
    explanation::AddFailures(status_, lines_);
    return std::move(lines_);
  }

 private:
  Result<void> AddOwner(const Json& job) {
    const std::string config = OwnerOf(job);
    if (config.empty()) return {};
    const Result<Json> found = api_.Read({Kind::kJobConfig, key_.ns, config});
    if (!found && found.error().code() == Code::kNotFound) return {};
    if (!found) return found.error();
    const JobConfigSpec spec = TRY(DecodeJobConfigSpec(TextOf(*found, "spec")));
    const auto siblings = TRY(Unfinished(api_, key_.ns, TextAt(*found, "/metadata/uid")));
    lines_.push_back(explanation::OfOwner(config, spec.policy, siblings.size()));
    const auto policy = spec_.concurrency_policy.value_or(spec.policy);
    const bool waits = !status_.started && !status_.finished;
    if (waits && policy == ConcurrencyPolicy::kForbid) AddQueue(spec, siblings);
    return {};
  }

  static std::string OwnerOf(const Json& job) {
    const Json* owners = job.At("/metadata/ownerReferences");
    if (owners == nullptr || !owners->is_array()) return "";
    for (const Json& owner : owners->as_array()) {
      if (TextAt(owner, "/kind") == NameOf(Kind::kJobConfig)) return TextAt(owner, "/name");
    }
    return "";
  }

  // Its place among those that wait, and who is in the way.
  void AddQueue(const JobConfigSpec& spec, const std::vector<Sibling>& siblings) {
    size_t place = 0, waiting = 0, started = 0;
    for (const Sibling& sibling : siblings) {
      if (sibling.status.started) {
        ++started;
        continue;
      }
      ++waiting;
      if (sibling.name == key_.name) place = waiting;
    }
    lines_.push_back("  place " + std::to_string(place) + " of " + std::to_string(waiting) +
                     " in the queue; " + std::to_string(started) + " of " +
                     std::to_string(spec.max_concurrency) + " that may run have started");
    size_t shown = 0;
    for (const Sibling& sibling : siblings) {
      if (!sibling.status.started) continue;
      if (++shown > explanation::kTasksShown) break;
      lines_.push_back("  " + explanation::OfJob(sibling.name, sibling.status));
    }
  }

  Result<void> AddGoing() {
    std::vector<TaskRecord> tasks = TRY(TasksInHand());
    IndexSet begun = status_.active_indexes;
    for (const TaskRecord& task : tasks) begun.Insert(task.index);
    explanation::Progress progress;
    progress.succeeded = status_.succeeded_indexes.count();
    progress.all = spec_.job_template.index_count();
    progress.in_hand = std::max(static_cast<int64_t>(tasks.size()), status_.active_tasks);
    for (int64_t index = 0; index < progress.all; ++index) {
      if (!begun.Contains(index) && !WasBegun(index)) ++progress.not_begun;
    }
    lines_.push_back(explanation::OfProgress(progress));
    const size_t shown = std::min(tasks.size(), explanation::kTasksShown);
    for (size_t i = 0; i < shown; ++i) lines_.push_back("  " + explanation::OfTask(tasks[i]));
    const auto more = static_cast<size_t>(progress.in_hand) - shown;
    if (shown > 0 && more > 0) lines_.push_back(explanation::OfMoreTasks(more));
    return {};
  }

  bool WasBegun(int64_t index) const {
    const auto has = [&](const std::map<int64_t, IndexSet>& attempts) {
      return std::any_of(attempts.begin(), attempts.end(),
                         [&](const auto& attempt) { return attempt.second.Contains(index); });
    };
    return status_.succeeded_indexes.Contains(index) || status_.failed_indexes.Contains(index) ||
           has(status_.failed_attempts) || has(status_.uncounted_attempts);
  }

  // The Tasks that have not ended; where none are stored, those that the Job names.
  Result<std::vector<TaskRecord>> TasksInHand() {
    if (status_.reserved_indexes > 0) return status_.active;
    const Json list = TRY(api_.List({Kind::kTask, key_.ns, "", "spec.jobName=" + key_.name}));
    std::vector<TaskRecord> tasks;
    const Json* items = list.Find("items");
    if (items == nullptr || !items->is_array()) return tasks;
    for (const Json& item : items->as_array()) {
      const TaskStatus status = TRY(DecodeTaskStatus(TextOf(item, "status")));
      if (status.state == TaskState::kTerminated) continue;
      tasks.push_back(RecordOf(item, status));
    }
    std::sort(tasks.begin(), tasks.end(),
              [](const TaskRecord& a, const TaskRecord& b) { return a.index < b.index; });
    return tasks;
  }

  ApiClient& api_;
  const ObjectKey& key_;
  const WallTime now_;
  JobSpec spec_;
  JobStatus status_;
  Lines lines_;
};

Result<Lines> ExplainStoredConfig(ApiClient& api, const ObjectKey& key, WallTime now) {
  const Json config = TRY(api.Read(key));
  const JobConfigStatus status = TRY(DecodeJobConfigStatus(TextOf(config, "status")));
  const JobConfigSpec spec = TRY(DecodeJobConfigSpec(TextOf(config, "spec")));
  Lines lines{explanation::OfConfig(key.name, status)};
  if (config.Find("status") == nullptr) lines.emplace_back(kUntouched);
  const bool scheduled = spec.schedule && !spec.schedule->disabled;
  explanation::AddSlots(status, scheduled, now, lines);
  const auto siblings = TRY(Unfinished(api, key.ns, TextAt(config, "/metadata/uid")));
  for (const Sibling& sibling : siblings) {
    lines.push_back("  " + explanation::OfJob(sibling.name, sibling.status));
  }
  return lines;
}

Result<Lines> ExplainTaskAsStored(ApiClient& api, const ObjectKey& key) {
  const Json task = TRY(api.Read(key));
  const TaskStatus status = TRY(DecodeTaskStatus(TextOf(task, "status")));
  if (status.state == TaskState::kTerminated) {
    return Lines{explanation::OfStoredTask(key.name, status)};
  }
  return Lines{explanation::OfTask(RecordOf(task, status))};
}

}  // namespace

Result<std::vector<std::string>> ExplainStored(ApiClient& api, const ObjectKey& key, WallTime now) {
  if (key.kind == Kind::kJobConfig) return ExplainStoredConfig(api, key, now);
  if (key.kind == Kind::kTask) return ExplainTaskAsStored(api, key);
  return JobExplainer(api, key, now).Run();
}

}  // namespace detent
