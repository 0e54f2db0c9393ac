#include "core/http/table.h"

#include <chrono>
#include <optional>

#include "core/api/codec.h"
#include "core/base/json_writer.h"

namespace detent {
namespace {

constexpr const char* kUnknown = "<unknown>";
constexpr const char* kNone = "<none>";

Json AgeOf(std::optional<WallTime> time, WallTime now) {
  if (!time || *time == WallTime{}) return kUnknown;
  return FormatAge(std::chrono::duration_cast<std::chrono::seconds>(now - *time));
}

Json AgeOrNone(std::optional<WallTime> time, WallTime now) {
  return time ? AgeOf(time, now) : Json(kNone);
}

Json OrNone(const std::string& text) {
  return text.empty() ? Json(kNone) : Json(text);
}

std::string Join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : "; ") + word;
  return text;
}

Json::Array JobConfigCells(const Object& object, WallTime now) {
  const Result<JobConfigSpec> spec = DecodeJobConfigSpec(object.spec);
  const Result<JobConfigStatus> status = DecodeJobConfigStatus(object.status);
  Json::Array cells = {Json(object.meta.name)};
  if (!spec || !status) {
    cells.resize(ColumnsOf(object.kind).size(), Json(kUnknown));
    return cells;
  }
  const bool scheduled = spec->schedule.has_value();
  const bool disabled = scheduled && spec->schedule->disabled;
  cells.emplace_back(NameOf(spec->policy));
  cells.push_back(OrNone(scheduled ? Join(spec->schedule->expressions) : ""));
  cells.push_back(OrNone(scheduled ? spec->schedule->timezone : ""));
  cells.push_back(status->state.empty() ? Json(disabled ? "ReadyDisabled" : kUnknown)
                                        : Json(status->state));
  cells.emplace_back(status->active);
  cells.push_back(AgeOrNone(status->last_scheduled, now));
  cells.push_back(AgeOf(object.meta.created, now));
  cells.push_back(status->next_scheduled ? Json(FormatTime(*status->next_scheduled)) : Json(kNone));
  return cells;
}

Json::Array JobCells(const Object& object, WallTime now) {
  const Result<JobStatus> status = DecodeJobStatus(object.status);
  Json::Array cells = {Json(object.meta.name)};
  if (!status) {
    cells.resize(ColumnsOf(object.kind).size(), Json(kUnknown));
    return cells;
  }
  int64_t indexes = status->indexes;
  if (indexes == 0) {
    const Result<JobSpec> spec = DecodeJobSpec(object.spec);
    if (spec) indexes = spec->job_template.index_count();
  }
  cells.emplace_back(NameOf(status->phase));
  cells.emplace_back(std::to_string(status->succeeded_indexes.count()) + "/" +
                     std::to_string(indexes));
  cells.emplace_back(status->failed_indexes.count());
  cells.push_back(AgeOrNone(status->started, now));
  cells.push_back(status->started ? AgeOf(status->started, status->finished.value_or(now))
                                  : Json(kNone));
  cells.push_back(AgeOf(object.meta.created, now));
  cells.push_back(OrNone(status->reason));
  cells.push_back(OrNone(status->message));
  return cells;
}

Json::Array TaskCells(const Object& object, WallTime now) {
  const Result<TaskSpec> spec = DecodeTaskSpec(object.spec);
  const Result<TaskStatus> status = DecodeTaskStatus(object.status);
  Json::Array cells = {Json(object.meta.name)};
  if (!spec || !status) {
    cells.resize(ColumnsOf(object.kind).size(), Json(kUnknown));
    return cells;
  }
  std::string exit;
  if (status->exit_code) exit = std::to_string(*status->exit_code);
  if (status->signal) exit = "signal " + std::to_string(*status->signal);
  cells.emplace_back(spec->job_name);
  cells.emplace_back(spec->index);
  cells.emplace_back(spec->attempt);
  cells.emplace_back(NameOf(status->state));
  cells.push_back(OrNone(NameOf(status->result)));
  cells.push_back(OrNone(exit));
  cells.push_back(AgeOf(object.meta.created, now));
  cells.push_back(OrNone(status->reason));
  cells.push_back(OrNone(status->message));
  cells.push_back(OrNone(spec->kind));
  return cells;
}

void WriteColumns(JsonWriter& json, Kind kind) {
  json.Key("columnDefinitions").BeginArray();
  for (const Column& column : ColumnsOf(kind)) {
    json.BeginObject().Member("name", column.name).Member("type", column.type);
    // The format "name" marks the column that kubectl puts a resource in front of.
    json.Member("format", column.name == "Name" ? "name" : "");
    json.Member("description", column.description).Member("priority", column.priority);
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace

const std::vector<Column>& ColumnsOf(Kind kind) {
  static const std::vector<Column> job_config = {
      {"Name", "string", "The name, unique in its namespace."},
      {"Policy", "string", "What happens to a slot while a Job is active."},
      {"Schedule", "string", "The cron expressions."},
      {"Timezone", "string", "The time zone that the expressions are read in."},
      {"State", "string", "Whether Jobs are queued or running, or slots come at all."},
      {"Active", "integer", "Jobs that have started and not ended."},
      {"Last Scheduled", "string", "How long ago the newest slot was decided."},
      {"Age", "string", "How long ago the object was created."},
      {"Next", "string", "The next slot.", 1}};
  static const std::vector<Column> job = {
      {"Name", "string", "The name, unique in its namespace."},
      {"Phase", "string", "Where the Job is in its life."},
      {"Succeeded", "string", "Indexes that have succeeded, of all."},
      {"Failed", "integer", "Indexes that have failed for good."},
      {"Started", "string", "How long ago the Job was admitted."},
      {"Duration", "string", "From the start to the end, or until now."},
      {"Age", "string", "How long ago the object was created."},
      {"Reason", "string", "Why the Job is where it is.", 1},
      {"Message", "string", "The same for a person.", 1}};
  static const std::vector<Column> task = {
      {"Name", "string", "The name, unique in its namespace."},
      {"Job", "string", "The Job that this is an attempt of."},
      {"Index", "integer", "The parallel lane of the Job."},
      {"Attempt", "integer", "Which try at the index, from 1."},
      {"State", "string", "What is known of the attempt's life."},
      {"Result", "string", "How it ended."},
      {"Exit", "string", "The exit code or signal, where there is one."},
      {"Age", "string", "How long ago the object was created."},
      {"Reason", "string", "Why the Task is where it is.", 1},
      {"Message", "string", "The same for a person.", 1},
      {"Executor", "string", "The kind of executor that carries it out.", 1}};
  if (kind == Kind::kJobConfig) return job_config;
  return kind == Kind::kJob ? job : task;
}

Json::Array CellsOf(const Object& object, WallTime now) {
  switch (object.kind) {
    case Kind::kJobConfig:
      return JobConfigCells(object, now);
    case Kind::kJob:
      return JobCells(object, now);
    case Kind::kTask:
      break;
  }
  return TaskCells(object, now);
}

void OpenTable(std::string& out, Kind kind, std::string_view list_metadata,
               const TableOptions& options) {
  JsonWriter json(out);
  json.BeginObject().Member("kind", "Table");
  json.Member("apiVersion", "meta.k8s.io/" + options.version);
  json.Key("metadata").Raw(list_metadata);
  if (options.header) {
    WriteColumns(json, kind);
  } else {
    json.Key("columnDefinitions").Raw("null");
  }
  json.Key("rows").BeginArray();
}

void AppendRow(std::string& out, const Object& object, const TableOptions& options) {
  out += "{\"cells\":";
  AppendJson(out, Json(CellsOf(object, options.now)));
  if (options.object != RowObject::kNone) {
    out += ",\"object\":";
    if (options.object == RowObject::kObject) {
      AppendObject(out, object);
    } else {
      AppendPartialMetadata(out, object, options.version);
    }
  }
  out += '}';
}

void CloseTable(std::string& out) {
  out += "]}";
}

void AppendPartialMetadata(std::string& out, const Object& object, std::string_view version) {
  out += "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/";
  out += version;
  out += "\",\"metadata\":";
  AppendMeta(out, object.meta);
  out += '}';
}

}  // namespace detent
