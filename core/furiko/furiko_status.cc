#include "core/furiko/furiko_status.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/api/codec.h"

namespace detent {
namespace {

void CopyMembers(const Json& from, Json& to, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const Json* value = from.Find(name)) to.Set(name, *value);
  }
}

std::string TextOf(const Json& json, const char* name) {
  const Json* value = json.Find(name);
  return value != nullptr && value->is_string() ? value->as_string() : "";
}

int64_t NumberOf(const Json& json, const char* name, int64_t absent) {
  const Json* value = json.Find(name);
  return value != nullptr && value->is_int() ? value->as_int() : absent;
}

// Furiko has no Held: what was not yet handed over is about to start. What was lost it calls
// deleted, with a result that nobody knows.
Json TaskStateOf(const Json& record) {
  Json status{Json::Object{}};
  const bool lost = TextOf(record, "result") == "Lost";
  const std::string state = TextOf(record, "state");
  status.Set("state", lost              ? "DeletedFinalStateUnknown"
                      : state == "Held" ? "Starting"
                                        : state.c_str());
  if (!lost) CopyMembers(record, status, {"result"});
  CopyMembers(record, status, {"reason", "message"});
  return status;
}

Json TaskOf(const Json& record, bool parallel) {
  Json task{Json::Object{}};
  CopyMembers(record, task, {"name", "creationTimestamp", "runningTimestamp", "finishTimestamp"});
  task.Set("retryIndex", NumberOf(record, "attempt", 1) - 1);
  if (parallel) {
    task.Set("parallelIndex", Json::Object{{"indexNumber", NumberOf(record, "index", 0)}});
  }
  task.Set("status", TaskStateOf(record));
  if (const Json* code = record.Find("exitCode")) {
    task.Set("containerStates", Json::Array{Json(Json::Object{{"exitCode", *code}})});
  }
  return task;
}

// By their begin, then by name, as Furiko has them.
Json::Array TasksOf(const Json& status, bool parallel) {
  Json::Array tasks;
  for (const char* sort : {"/tasks/active", "/tasks/failed", "/tasks/succeeded"}) {
    const Json* records = status.At(sort);
    if (records == nullptr || !records->is_array()) continue;
    for (const Json& record : records->as_array()) tasks.push_back(TaskOf(record, parallel));
  }
  const auto order = [](const Json& task) {
    return std::pair(TextOf(task, "creationTimestamp"), TextOf(task, "name"));
  };
  std::sort(tasks.begin(), tasks.end(),
            [&](const Json& a, const Json& b) { return order(a) < order(b); });
  return tasks;
}

Json ReasonOf(const FurikoTrouble& why) {
  return Json::Object{{"reason", why.reason}, {"message", why.message}};
}

Json WithCondition(const char* phase, const char* state, Json condition) {
  return Json::Object{{"phase", phase},
                      {"state", state},
                      {"condition", std::move(condition)},
                      {"createdTasks", 0},
                      {"runningTasks", 0}};
}

}  // namespace

Json FurikoJobStatus(const KnownObject& ours) {
  const Json* stored = ours.At("/status");
  Json begin;
  if (stored == nullptr || stored->Find("phase") == nullptr) {
    auto queued = ParseJson(EncodeJobStatus({}));
    if (queued) begin = *std::move(queued);
    stored = &begin;
  }
  Json status{Json::Object{}};
  CopyMembers(*stored, status,
              {"phase", "state", "condition", "startTime", "createdTasks", "runningTasks",
               "succeeded", "failed", "conditions"});
  const bool parallel = ours.At("/spec/template/parallelism") != nullptr;
  Json::Array tasks = TasksOf(*stored, parallel);
  if (!tasks.empty()) status.Set("tasks", std::move(tasks));
  const bool complete = TextOf(*stored, "state") == "Finished";
  if (parallel) {
    Json summary(Json::Object{{"complete", complete}});
    if (complete) summary.Set("successful", TextOf(*stored, "phase") == "Succeeded");
    status.Set("parallelStatus", std::move(summary));
  }
  status.Set("detentUID", ours.meta.uid);
  return status;
}

Json FurikoJobConfigStatus(const KnownObject& ours) {
  Json status{Json::Object{}};
  if (const Json* stored = ours.At("/status")) {
    CopyMembers(*stored, status,
                {"state", "queued", "active", "activeJobs", "lastScheduled", "lastExecuted"});
  }
  return status;
}

Json QueuedFurikoJobStatus(const FurikoTrouble& why) {
  return WithCondition("Queued", "Queued", Json::Object{{"queueing", ReasonOf(why)}});
}

Json RefusedFurikoJobStatus(const FurikoTrouble& why, WallTime now) {
  Json finished = ReasonOf(why);
  finished.Set("result", "AdmissionError");
  finished.Set("finishTime", FormatTime(now));
  return WithCondition("AdmissionError", "Finished",
                       Json::Object{{"finished", std::move(finished)}});
}

Json RefusedFurikoJobConfigStatus(const FurikoTrouble& why, const KnownObject* ours) {
  Json status = ours == nullptr ? Json(Json::Object{}) : FurikoJobConfigStatus(*ours);
  status.Set("state", "AdmissionError");
  status.Set("reason", why.reason);
  status.Set("message", why.message);
  return status;
}

}  // namespace detent
