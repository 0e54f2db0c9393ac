#include "core/cli/log_reader.h"

#include <deque>
#include <ostream>
#include <utility>

namespace detent {

void LogReader::AddSource(const ObjectKey& key, int64_t index, int64_t attempt, bool ended) {
  if (choice_.index.value_or(index) != index) return;
  if (choice_.attempt.value_or(attempt) != attempt) return;
  const auto [it, added] = sources_.try_emplace({index, attempt});
  Source& source = it->second;
  if (added) {
    source.place = {key, index, attempt};
    source.lines = CriLines(choice_.timestamps);
  }
  source.ended = ended;
}

Result<void> LogReader::UpdateSources(const std::string& ns, const std::string& job) {
  Selection selection;
  selection.kind = Kind::kTask;
  selection.ns = ns;
  selection.field_selector = "spec.jobName=" + job;
  const Json list = TRY(api_.List(selection));
  const Json* items = list.Find("items");
  if (items == nullptr || !items->is_array()) return {};
  // A Job's tasks are all stored, or none is.
  if (items->as_array().empty()) return UpdateUnstored({Kind::kJob, ns, job});
  for (const Json& task : items->as_array()) {
    AddSource({Kind::kTask, ns, TextAt(task, "/metadata/name")}, NumberAt(task, "/spec/index"),
              NumberAt(task, "/spec/attempt"), TextAt(task, "/status/state") == "Terminated");
  }
  return {};
}

// Of tasks whose executor's objects are the record, the Job knows some by name; any other can be
// asked for by its index.
Result<void> LogReader::UpdateUnstored(const ObjectKey& key) {
  const auto job = api_.Read(key);
  if (!job) return {};  // Gone meanwhile: its Tasks, if there are any, tell the rest.
  if (NumberAt(*job, "/status/reservedIndexes") == 0) return {};
  const Json* tasks = job->Find("status")->Find("tasks");
  for (const char* name : {"active", "failed", "succeeded"}) {
    const Json* records = tasks == nullptr ? nullptr : tasks->Find(name);
    if (records == nullptr || !records->is_array()) continue;
    for (const Json& record : records->as_array()) {
      AddSource(key, NumberAt(record, "/index"), NumberAt(record, "/attempt"),
                TextAt(record, "/state") == "Terminated");
    }
  }
  if (choice_.index && sources_.empty()) {
    AddSource(key, *choice_.index, choice_.attempt.value_or(1),
              !TextAt(*job, "/status/finishTime").empty());
  }
  return {};
}

Result<size_t> LogReader::ReadJob(const std::string& ns, const std::string& job) {
  TRY(UpdateSources(ns, job));
  prefixed_ = prefixed_ || sources_.size() > 1;
  for (auto& [place, source] : sources_) {
    if (source.done) continue;
    const auto read = Read(source);
    // A Task that went away between the list and now has nothing left to say.
    const bool over = !read && read.error().code() == Code::kNotFound;
    const bool none = !read && (read.error().code() == Code::kUnsupported ||
                                read.error().code() == Code::kExpired);
    if (!read && !over && !none) return read.error();
    if (none) Note(read.error().message());
    source.done = source.ended || over || none;
    if (!source.done) continue;
    if (const auto rest = source.lines.TakeRest()) Print(source, *rest);
  }
  return sources_.size();
}

Result<void> LogReader::ReadTask(const ObjectKey& task, bool ended) {
  Source& source = sources_[{0, 0}];
  if (source.place.key.name.empty()) {
    source.place.key = task;
    source.lines = CriLines(choice_.timestamps);
  }
  TRY(Read(source));
  if (!ended) return {};
  if (const auto rest = source.lines.TakeRest()) Print(source, *rest);
  return {};
}

Result<void> LogReader::Read(Source& source) {
  if (choice_.tail && !source.begun) return ReadTail(source, *choice_.tail);
  return api_.Log(source.place, source.offset, [&](std::string_view stored) {
    source.offset += static_cast<int64_t>(stored.size()) + 1;
    if (const auto line = source.lines.Take(stored)) Print(source, *line);
    return true;
  });
}

// The server could cut the output itself, but then nobody would know where to go on. Nothing counts
// as read before the end is known: what came until a connection broke has other last lines.
Result<void> LogReader::ReadTail(Source& source, int64_t count) {
  std::deque<std::string> last;
  int64_t offset = 0;
  CriLines lines(choice_.timestamps);
  TRY(api_.Log(source.place, offset, [&](std::string_view stored) {
    offset += static_cast<int64_t>(stored.size()) + 1;
    if (auto line = lines.Take(stored)) last.push_back(std::move(*line));
    if (last.size() > static_cast<size_t>(count)) last.pop_front();
    return true;
  }));
  source.begun = true;
  source.offset = offset;
  source.lines = std::move(lines);
  for (const std::string& line : last) Print(source, line);
  return {};
}

// Once, however many tasks it holds for.
void LogReader::Note(const std::string& note) {
  if (!noted_.insert(note).second) return;
  notes_ << "note: " << note << '\n';
}

void LogReader::Print(const Source& source, const std::string& line) {
  if (prefixed_) out_ << '[' << source.place.index << '/' << source.place.attempt << "] ";
  out_ << line << '\n';
  out_.flush();
}

}  // namespace detent
