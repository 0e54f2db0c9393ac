// Job's status. What is derived from it for people and for kubectl (state, condition, conditions)
// is written and never read back.

#include <algorithm>

#include "core/api/codec.h"
#include "core/api/field_reader.h"
#include "core/base/json_writer.h"

namespace detent {
namespace {

using Attempts = std::map<int64_t, IndexSet>;

// Furiko's four states: which member `condition` has.
const char* StateOf(const JobStatus& status) {
  switch (status.phase) {
    case JobPhase::kQueued:
      return "Queued";
    case JobPhase::kRunning:
    case JobPhase::kTerminating:
      return "Running";
    case JobPhase::kStarting:
    case JobPhase::kPending:
    case JobPhase::kRetryBackoff:
    case JobPhase::kRetrying:
    case JobPhase::kKilling:
      return "Waiting";
    default:
      return "Finished";
  }
}

void WriteTime(JsonWriter& writer, std::string_view name, const std::optional<WallTime>& time) {
  if (time) writer.Member(name, TimeText(*time));
}

void WriteAttempts(JsonWriter& writer, std::string_view name, const Attempts& attempts) {
  if (attempts.empty()) return;
  writer.Key(name).BeginArray();
  for (const auto& [attempt, indexes] : attempts) {
    writer.BeginObject()
        .Member("attempt", attempt)
        .Member("indexes", indexes.ToString())
        .EndObject();
  }
  writer.EndArray();
}

void WriteRecords(JsonWriter& writer, std::string_view name,
                  const std::vector<TaskRecord>& records) {
  if (records.empty()) return;
  writer.Key(name).BeginArray();
  for (const TaskRecord& record : records) {
    writer.BeginObject()
        .Member("name", record.name)
        .Member("index", record.index)
        .Member("attempt", record.attempt)
        .Member("state", NameOf(record.state))
        .MemberIfSet("result", NameOf(record.result))
        .MemberIfSet("reason", record.reason)
        .MemberIfSet("message", record.message);
    if (record.exit_code) writer.Member("exitCode", *record.exit_code);
    if (record.created != WallTime{}) {
      writer.Member("creationTimestamp", TimeText(record.created));
    }
    WriteTime(writer, "runningTimestamp", record.running);
    WriteTime(writer, "finishTimestamp", record.finished);
    writer.EndObject();
  }
  writer.EndArray();
}

void WriteRunningCondition(JsonWriter& writer, const JobStatus& status) {
  std::optional<WallTime> created;
  std::optional<WallTime> running;
  for (const TaskRecord& record : status.active) {
    created = std::max(created, std::optional(record.created));
    running = std::max(running, record.running);
  }
  WriteTime(writer, "latestTaskCreationTimestamp", created);
  WriteTime(writer, "latestRunningTimestamp", running);
  if (status.phase == JobPhase::kTerminating) {
    writer.Member("terminatingTasks", status.active_tasks);
  }
}

// Furiko's union: one member, which says how the Job stands.
void WriteCondition(JsonWriter& writer, const JobStatus& status) {
  writer.Key("condition").BeginObject();
  const std::string_view state = StateOf(status);
  const char* name = state == "Queued"    ? "queueing"
                     : state == "Waiting" ? "waiting"
                     : state == "Running" ? "running"
                                          : "finished";
  writer.Key(name).BeginObject();
  if (state == "Running") WriteRunningCondition(writer, status);
  if (state == "Finished") {
    WriteTime(writer, "finishTime", status.finished);
    const bool succeeded = status.phase == JobPhase::kSucceeded;
    writer.Member("result", succeeded ? "Success" : NameOf(status.phase));
  }
  if (state != "Running") {
    writer.MemberIfSet("reason", status.reason).MemberIfSet("message", status.message);
  }
  writer.EndObject().EndObject();
}

// Kubernetes' list, for `kubectl wait`.
void WriteConditions(JsonWriter& writer, const JobStatus& status) {
  if (!IsFinished(status.phase)) return;
  const bool succeeded = status.phase == JobPhase::kSucceeded;
  writer.Key("conditions")
      .BeginArray()
      .BeginObject()
      .Member("type", succeeded ? "Complete" : "Failed")
      .Member("status", "True")
      .Member("reason", status.reason.empty() ? std::string_view(NameOf(status.phase))
                                              : std::string_view(status.reason))
      .MemberIfSet("message", status.message);
  WriteTime(writer, "lastTransitionTime", status.finished);
  writer.EndObject().EndArray();
}

void ReadSet(FieldReader& reader, std::string_view name, IndexSet& out) {
  std::string text;
  reader.Read(name, text);
  auto set = IndexSet::Parse(text);
  if (set) {
    out = std::move(*set);
  } else {
    reader.Fail(name, set.error().message());
  }
}

void ReadAttempts(FieldReader& outer, std::string_view name, Attempts& out) {
  const Json* list = outer.Array(name);
  if (list == nullptr) return;
  for (const Json& entry : list->as_array()) {
    FieldReader reader(entry, outer.Path(name));
    int64_t attempt = 0;
    reader.Read("attempt", attempt);
    ReadSet(reader, "indexes", out[attempt]);
    outer.Merge(reader);
  }
}

void ReadRecords(FieldReader& outer, std::string_view name, std::vector<TaskRecord>& out) {
  const Json* list = outer.Array(name);
  if (list == nullptr) return;
  for (const Json& entry : list->as_array()) {
    TaskRecord record;
    FieldReader reader(entry, outer.Path(name));
    reader.Read("name", record.name)
        .Read("index", record.index)
        .Read("attempt", record.attempt)
        .Read("state", record.state, TaskStateFromName)
        .Read("result", record.result, TaskResultFromName)
        .Read("reason", record.reason)
        .Read("message", record.message)
        .Read("exitCode", record.exit_code)
        .Read("creationTimestamp", record.created)
        .Read("runningTimestamp", record.running)
        .Read("finishTimestamp", record.finished);
    outer.Merge(reader);
    out.push_back(std::move(record));
  }
}

}  // namespace

std::string EncodeJobStatus(const JobStatus& status) {
  std::string out;
  out.reserve(512);
  JsonWriter writer(out);
  writer.BeginObject()
      .Member("phase", NameOf(status.phase))
      .Member("state", StateOf(status))
      .MemberIfSet("reason", status.reason)
      .MemberIfSet("message", status.message);
  WriteTime(writer, "startTime", status.started);
  WriteTime(writer, "finishTime", status.finished);
  writer.Member("indexes", status.indexes)
      .Member("createdTasks", status.created_tasks)
      .Member("activeTasks", status.active_tasks)
      .Member("runningTasks", status.running_tasks)
      .Member("succeeded", status.succeeded_indexes.count())
      .Member("failed", status.failed_indexes.count())
      .MemberIfSet("succeededIndexes", status.succeeded_indexes.ToString())
      .MemberIfSet("failedIndexes", status.failed_indexes.ToString());
  if (status.reserved_indexes > 0) writer.Member("reservedIndexes", status.reserved_indexes);
  writer.MemberIfSet("activeIndexes", status.active_indexes.ToString());
  WriteAttempts(writer, "failedAttempts", status.failed_attempts);
  WriteAttempts(writer, "uncountedAttempts", status.uncounted_attempts);
  if (!status.active.empty() || !status.failed.empty() || !status.succeeded.empty()) {
    writer.Key("tasks").BeginObject();
    WriteRecords(writer, "active", status.active);
    WriteRecords(writer, "failed", status.failed);
    WriteRecords(writer, "succeeded", status.succeeded);
    writer.EndObject();
  }
  WriteCondition(writer, status);
  WriteConditions(writer, status);
  writer.EndObject();
  return out;
}

Result<JobStatus> DecodeJobStatus(std::string_view text) {
  JobStatus status;
  if (text.empty()) return status;
  const Json json = TRY(ParseJson(text));
  FieldReader reader(json, "status");
  reader.Read("phase", status.phase, JobPhaseFromName)
      .Read("reason", status.reason)
      .Read("message", status.message)
      .Read("startTime", status.started)
      .Read("finishTime", status.finished)
      .Read("indexes", status.indexes)
      .Read("createdTasks", status.created_tasks)
      .Read("activeTasks", status.active_tasks)
      .Read("runningTasks", status.running_tasks)
      .Read("reservedIndexes", status.reserved_indexes);
  ReadSet(reader, "succeededIndexes", status.succeeded_indexes);
  ReadSet(reader, "failedIndexes", status.failed_indexes);
  ReadSet(reader, "activeIndexes", status.active_indexes);
  ReadAttempts(reader, "failedAttempts", status.failed_attempts);
  ReadAttempts(reader, "uncountedAttempts", status.uncounted_attempts);
  if (const Json* tasks_json = reader.Object("tasks")) {
    FieldReader tasks(*tasks_json, reader.Path("tasks"));
    ReadRecords(tasks, "active", status.active);
    ReadRecords(tasks, "failed", status.failed);
    ReadRecords(tasks, "succeeded", status.succeeded);
    reader.Merge(tasks);
  }
  if (auto result = reader.Finish(); !result) return result.error();
  return status;
}

}  // namespace detent
