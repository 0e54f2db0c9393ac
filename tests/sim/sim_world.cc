#include "tests/sim/sim_world.h"

#include <algorithm>
#include <utility>

#include "core/api/codec.h"
#include "core/sched/outcome.h"

namespace detent {

using std::chrono::milliseconds;

void SimWorld::Attach(Store* store, ExecutorSink* sink) {
  store_ = store;
  sink_ = sink;
  for (const char* kind : {"exec", "http"}) {
    if (usable(kind)) news_.push_back(ExecutorChange{kind, true, "", ""});
  }
}

void SimWorld::HostDied() {
  store_ = nullptr;
  sink_ = nullptr;
  news_.clear();
  keys_.clear();
  std::erase_if(work_, [](const auto& entry) { return entry.second.kind == "http"; });
  for (auto& [key, work] : work_) work.id = 0;
}

void SimWorld::SetUsable(const std::string& kind, bool usable) {
  if (usable ? unusable_.erase(kind) == 0 : !unusable_.insert(kind).second) return;
  trace("executor " + kind + (usable ? " is back" : " goes away"));
  news_.push_back(ExecutorChange{kind, usable, usable ? "" : "Refused", ""});
}

void SimWorld::Breach(const std::string& what) {
  if (breach_.empty()) breach_ = what;
}

ObjectPtr SimWorld::Stored(const std::string& ns, const std::string& name) const {
  const auto object = store_->Read({Kind::kTask, ns, name});
  return object ? *object : nullptr;
}

void SimWorld::Start(const std::string& kind, const TaskOrder& order) {
  trace("start " + order.name);
  if (released_.contains(order.key)) Breach("started again after its release: " + order.name);
  if (const ObjectPtr task = Stored(order.ns, order.name)) {
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
  work_.erase(work);
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
