#include "tests/sim/sim_world.h"

#include <algorithm>
#include <utility>

#include "core/api/codec.h"
#include "core/base/names.h"
#include "core/sched/outcome.h"

namespace detent {

using std::chrono::milliseconds;

void SimWorld::Attach(Store* store, ExecutorSink* sink) {
  store_ = store;
  sink_ = sink;
  for (const char* kind : {"exec", "http", "pod"}) {
    if (usable(kind)) news_.push_back(ExecutorChange{kind, true, "", ""});
  }
  TellStrays();
}

// What a watch of the marked objects says when it begins.
void SimWorld::TellStrays() {
  if (!sink_ || !usable("pod")) return;
  for (const auto& [key, work] : work_) {
    if (work.kind == "pod" && work.id == 0) news_.push_back(StrayObject{"pod", key});
  }
}

void SimWorld::HostDied() {
  store_ = nullptr;
  sink_ = nullptr;
  news_.clear();
  keys_.clear();
  std::erase_if(work_, [](const auto& entry) { return entry.second.kind == "http"; });
  for (auto& [key, work] : work_) {
    work.id = 0;
    work.letting_go = false;
  }
}

void SimWorld::SetUsable(const std::string& kind, bool usable) {
  if (usable ? unusable_.erase(kind) == 0 : !unusable_.insert(kind).second) return;
  trace("executor " + kind + (usable ? " is back" : " goes away"));
  news_.push_back(ExecutorChange{kind, usable, usable ? "" : "Refused", ""});
  if (kind == "pod" && usable) TellStrays();
}

void SimWorld::Breach(const std::string& what) {
  if (breach_.empty()) breach_ = what;
}

ObjectPtr SimWorld::Stored(const std::string& ns, const std::string& name) const {
  const auto object = store_->Read({Kind::kTask, ns, name});
  return object ? *object : nullptr;
}

SimWorld::Attempt SimWorld::AttemptOf(const std::string& key) const {
  const size_t first = key.find('/'), second = key.rfind('/');
  Attempt result;
  result.index = std::stoll(key.substr(first + 1, second - first - 1));
  result.attempt = std::stoll(key.substr(second + 1));
  ListQuery query;
  query.kind = Kind::kJob;
  query.keep = [&](const Object& job) { return job.meta.uid == key.substr(0, first); };
  const auto page = store_->List(query);
  if (page && !page->objects.empty()) result.job = *DecodeJobStatus(page->objects[0]->status);
  return result;
}

// The Task of an order: not another's of the same name.
ObjectPtr SimWorld::Stored(const TaskOrder& order) const {
  const ObjectPtr task = Stored(order.ns, order.name);
  const auto spec = task ? DecodeTaskSpec(task->spec) : Error(Code::kNotFound, "");
  const bool is_it = spec && TaskKey(spec->job_uid, spec->index, spec->attempt) == order.key;
  return is_it ? task : nullptr;
}

void SimWorld::CheckPodStart(const TaskOrder& order) {
  if (taken_.contains(order.key)) Breach("begun again after it was taken away: " + order.name);
  const Attempt at = AttemptOf(order.key);
  if (!at.job) return;
  // A Job that was admitted while its executor was away has Tasks, as others have.
  const bool has_task = Stored(order) != nullptr;
  if (!has_task && at.index >= at.job->reserved_indexes)
    Breach("begun without a reservation: " + order.name);
  if (IsRecorded(*at.job, at.index, at.attempt)) {
    Breach("started although its end is recorded: " + order.name);
  }
  if (!has_task && at.attempt != NextAttempt(*at.job, at.index)) {
    Breach("started before the end of the last attempt was durable: " + order.name);
  }
}

void SimWorld::CheckPodRelease(const std::string& key) {
  const Attempt at = AttemptOf(key);
  if (at.job && !IsRecorded(*at.job, at.index, at.attempt)) {
    Breach("released before the Job knew its outcome: " + key);
  }
}

void SimWorld::LetGo(const std::string& key, bool remove) {
  trace("let go of " + key + (remove ? " and remove it" : ""));
  const auto work = work_.find(key);
  if (work == work_.end()) return;
  if (work->second.id != 0) Breach("let go of as a stray, and in hand: " + key);
  const Attempt at = AttemptOf(key);
  if (at.job && !at.job->finished) CheckPodRelease(key);
  if (!remove && !work->second.over) Breach("let go of while it runs: " + key);
  released_.insert(key);
  work_.erase(work);
}

void SimWorld::DeleteSomePod(bool by_force) {
  std::vector<std::string> pods;
  for (const auto& [key, work] : work_) {
    if (work.kind == "pod" && !work.over) pods.push_back(key);
  }
  if (pods.empty()) return;
  const std::string key = pods[random_.Below(pods.size())];
  OutsideWork& work = work_[key];
  trace(std::string("somebody deletes ") + (by_force ? "by force " : "") + work.name);
  TaskStatus end;
  end.result = TaskResult::kFailed;
  end.reason = "PodDeleted";
  Finish(key, work, end);
  if (!by_force) return;
  // Once it was seen, it is known that it ran: the host must not begin it a second time.
  const Attempt at = AttemptOf(key);
  if (at.job && at.job->active_indexes.Contains(at.index)) taken_.insert(key);
  work_.erase(key);
}

void SimWorld::Start(const std::string& kind, const TaskOrder& order) {
  trace("start " + order.name);
  if (kind == "pod") CheckPodStart(order);
  if (released_.contains(order.key)) Breach("started again after its release: " + order.name);
  if (const ObjectPtr task = Stored(order)) {
    const auto status = DecodeTaskStatus(task->status);
    if (!status || status->state == TaskState::kHeld) {
      Breach("started before the intent was durable: " + order.name);
    }
    if (status && status->state == TaskState::kTerminated) {
      Breach("started although its end is stored: " + order.name);
    }
  }
  keys_[order.id] = order.key;
  if (random_.Below(20) == 0) {
    news_.push_back(StartAnswer{order.id, false, true, milliseconds(50), "Busy", "try later"});
    return;
  }
  if (random_.Below(60) == 0) {
    news_.push_back(StartAnswer{order.id, false, false, milliseconds(0), "Refused", "bad spec"});
    return;
  }
  const auto [known, is_new] = work_.try_emplace(order.key);
  OutsideWork& work = known->second;
  work.id = order.id;
  news_.push_back(StartAnswer{order.id, true, false, milliseconds(0), "", ""});
  if (!is_new) {
    if (work.over) news_.push_back(TaskNews{order.id, work.end});
    return;
  }
  ++executions_;
  work.kind = kind;
  work.ns = order.ns;
  work.name = order.name;
  work.runs_until = clock_.Now() + milliseconds(random_.Below(8000));
}

void SimWorld::Recover(const std::string& kind, const TaskOrder& order) {
  trace("recover " + order.name);
  keys_[order.id] = order.key;
  if (random_.Below(10) == 0) {
    news_.push_back(
        RecoverAnswer{order.id, Recovery::kRetryLater, false, milliseconds(200), "Away", "wait"});
    return;
  }
  const auto known = work_.find(order.key);
  if (known == work_.end()) {
    const bool lost = kind == "http";
    news_.push_back(RecoverAnswer{order.id, lost ? Recovery::kLost : Recovery::kNotFound,
                                  lost && order.key.size() % 2 == 0, milliseconds(0), "", ""});
    return;
  }
  known->second.id = order.id;
  if (known->second.over) {
    news_.push_back(TaskNews{order.id, known->second.end});
    news_.push_back(RecoverAnswer{order.id, Recovery::kTerminated, false, milliseconds(0), "", ""});
  } else {
    news_.push_back(RecoverAnswer{order.id, Recovery::kAdopted, false, milliseconds(0), "", ""});
  }
}

void SimWorld::Kill(const KillOrder& order) {
  news_.push_back(KillAnswer{order.id, true, "", ""});
  const auto key = keys_.find(order.id);
  const auto work = key == keys_.end() ? work_.end() : work_.find(key->second);
  if (work == work_.end() || work->second.over) {
    if (key == keys_.end()) return;
    TaskStatus gone;
    gone.state = TaskState::kTerminated;
    gone.result = TaskResult::kKilled;
    if (work == work_.end()) news_.push_back(TaskNews{order.id, gone});
    return;
  }
  trace("kill " + work->second.name);
  work->second.kill_asked = true;
  work->second.runs_until = clock_.Now() + milliseconds(order.immediate ? 1 : random_.Below(500));
}

void SimWorld::Release(TaskId id) {
  const auto key = keys_.find(id);
  if (key == keys_.end()) return;
  const auto work = work_.find(key->second);
  if (work == work_.end()) return;
  trace("release " + work->second.name);
  if (work->second.kind == "pod") CheckPodRelease(key->second);
  if (const ObjectPtr task = Stored(work->second.ns, work->second.name)) {
    const auto status = DecodeTaskStatus(task->status);
    if (!status || status->state != TaskState::kTerminated) {
      Breach("released before its outcome was durable: " + work->second.name);
    }
    const auto spec = DecodeTaskSpec(task->spec);
    const auto job = spec ? store_->Read({Kind::kJob, work->second.ns, spec->job_name})
                          : Result<ObjectPtr>(Error(Code::kNotFound, ""));
    if (job && (*job)->meta.uid == spec->job_uid) {
      const auto job_status = DecodeJobStatus((*job)->status);
      if (!job_status || !IsRecorded(*job_status, spec->index, spec->attempt)) {
        Breach("released before the Job knew its outcome: " + work->second.name);
      }
    }
  }
  if (!work->second.over) Breach("released while it runs: " + work->second.name);
  released_.insert(key->second);
  if (work->second.kind == "pod") {
    work->second.letting_go = true;
  } else {
    work_.erase(work);
  }
  keys_.erase(key);
}

void SimWorld::Finish(const std::string& key, OutsideWork& work, TaskStatus end) {
  end.state = TaskState::kTerminated;
  end.finished = clock_.Now();
  work.over = true;
  work.end = end;
  trace("ends " + work.name + " " + NameOf(end.result));
  if (work.id != 0 && keys_.contains(work.id)) news_.push_back(TaskNews{work.id, end});
  (void)key;
}

bool SimWorld::Step() {
  std::erase_if(work_, [](const auto& entry) { return entry.second.letting_go; });
  for (auto& [key, work] : work_) {
    if (work.over) continue;
    if (!work.ran) {
      work.ran = true;
      TaskStatus running;
      running.state = TaskState::kRunning;
      running.running = clock_.Now();
      if (work.id != 0) news_.push_back(TaskNews{work.id, running});
    }
    if (work.runs_until > clock_.Now()) continue;
    TaskStatus end;
    end.result = work.kill_asked         ? TaskResult::kKilled
                 : random_.Below(5) == 0 ? TaskResult::kFailed
                                         : TaskResult::kSucceeded;
    Finish(key, work, end);
  }
  if (news_.empty() || !sink_) return false;
  // A random prefix: what was said arrives in order, but nobody knows when.
  const size_t count = 1 + random_.Below(news_.size());
  std::vector<ExecutorEvent> batch(std::make_move_iterator(news_.begin()),
                                   std::make_move_iterator(news_.begin() + int64_t(count)));
  news_.erase(news_.begin(), news_.begin() + int64_t(count));
  sink_->Post(batch);
  return true;
}

std::optional<WallTime> SimWorld::NextEvent() const {
  std::optional<WallTime> next;
  for (const auto& [key, work] : work_) {
    if (!work.over && (!next || work.runs_until < *next)) next = work.runs_until;
  }
  return next;
}

size_t SimWorld::live() const {
  return static_cast<size_t>(std::count_if(work_.begin(), work_.end(),
                                           [](const auto& entry) { return !entry.second.over; }));
}

}  // namespace detent
