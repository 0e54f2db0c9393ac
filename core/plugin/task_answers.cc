// The half of TaskDesk that hears: what the plugin answered and reported, and what follows of it.

#include <algorithm>
#include <utility>

#include "core/plugin/abi_convert.h"
#include "core/plugin/instance.h"
#include "core/plugin/task_desk.h"

namespace detent {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kDoubtMost{300'000};
constexpr size_t kBlobBytes = 16 * 1024;

std::string ReasonOf(const OpResult& result) {
  std::string reason = Repaired(Text(result.reason), 64);
  return reason.empty() ? ReasonFor(result.code) : reason;
}

std::string MessageOf(const OpResult& result) {
  return Repaired(Text(result.message), 1024);
}

// Answers after which nothing runs and no repetition helps.
bool FailsTheAttempt(detent_status code) {
  return code == DETENT_E_INVALID || code == DETENT_E_DENIED || code == DETENT_E_UNSUPPORTED ||
         code == DETENT_E_ALREADY_EXISTS;
}

}  // namespace

void TaskDesk::OnOpDone(OpKind kind, uint64_t task, const OpResult& result) {
  TaskRecord* record = tasks_.Find(task);
  if (record == nullptr) return;
  --record->open_ops;
  if (kind == OpKind::kStart) --record->open_starts;
  if (record->release_wanted) {
    // Not here: this may be inside a call into the plugin.
    if (record->open_ops == 0) to_release_.push_back(task);
    return;
  }
  // The instance closes, and its answers mean nothing for the tasks: they are recovered later.
  if (result.code == DETENT_E_CLOSING || instance_.closing()) return;
  if (kind == OpKind::kStart) OnStartDone(*record, task, result);
  if (kind == OpKind::kRecover) OnRecoverDone(*record, task, result);
  if (kind == OpKind::kKill) OnKillDone(*record, result);
  if (kind == OpKind::kForceDelete) OnForceDeleteDone(*record, result);
}

void TaskDesk::OnStartDone(TaskRecord& record, uint64_t task, const OpResult& result) {
  StartAnswer answer{record.order.id, true, false, milliseconds(0), "", ""};
  if (result.code == DETENT_OK) {
    if (record.order.last_state == TaskState::kHeld) record.order.last_state = TaskState::kStarting;
    events_.push_back(std::move(answer));
    return;
  }
  answer.accepted = false;
  answer.retry = result.code == DETENT_E_BUSY || result.code == DETENT_E_UNAVAILABLE;
  if (!answer.retry && !FailsTheAttempt(result.code)) {
    // Nobody knows whether it runs. Only the plugin can tell.
    record.doubt = Doubt::kStartUnknown;
    record.doubt_backoff = milliseconds(1000);
    RecoverAgain(record, task, milliseconds(0));
    return;
  }
  answer.retry_after = milliseconds(result.retry_after_ms);
  answer.reason = ReasonOf(result);
  answer.message = MessageOf(result);
  events_.push_back(std::move(answer));
}

void TaskDesk::RecoverAgain(TaskRecord& record, uint64_t task, milliseconds after) {
  if (record.doubt_timed) return;
  record.doubt_timed = true;
  record.doubt_at = instance_.now() + after;
  in_doubt_.push_back(task);
  if (after.count() > 0) instance_.WakeAt(record.doubt_at);
}

void TaskDesk::OnRecoverDone(TaskRecord& record, uint64_t task, const OpResult& result) {
  if (record.doubt != Doubt::kNone) return ResolveDoubt(record, task, result);
  constexpr Recovery kAnswers[] = {Recovery::kAdopted,    Recovery::kTerminated,
                                   Recovery::kNotFound,   Recovery::kLost,
                                   Recovery::kRetryLater, Recovery::kIncompatible};
  RecoverAnswer answer;
  answer.id = record.order.id;
  const bool known = result.code >= 0 && result.code <= DETENT_INCOMPATIBLE;
  // An error is never a reason to kill or to start again (D-TASK-6).
  answer.recovery = known ? kAnswers[result.code] : Recovery::kRetryLater;
  // TERMINATED promises that the update went before; without it nothing could be recorded.
  if (answer.recovery == Recovery::kTerminated && !record.terminated) {
    instance_.Misbehaved("recover answered TERMINATED without an update before", record.order.key);
    answer.recovery = Recovery::kRetryLater;
  }
  answer.rerun_safe = record.rerun_safe;
  answer.retry_after = milliseconds(result.retry_after_ms);
  if (result.code != DETENT_OK) {
    answer.reason = ReasonOf(result);
    answer.message = MessageOf(result);
  }
  events_.push_back(std::move(answer));
}

// An answer to a recover that the desk itself asked for.
void TaskDesk::ResolveDoubt(TaskRecord& record, uint64_t task, const OpResult& result) {
  const bool owes_answer = record.doubt == Doubt::kStartUnknown;
  StartAnswer answer{record.order.id, true, false, milliseconds(0), "", ""};
  switch (result.code) {
    case DETENT_ADOPTED:
    case DETENT_TERMINATED:
      break;
    case DETENT_LOST:
      EndTask(record, TaskResult::kLost, "Lost", "whether the task did its work cannot be known");
      break;
    case DETENT_NOT_FOUND: {
      const bool seen_alive =
          record.phase > DETENT_PHASE_STARTING || record.order.last_state > TaskState::kStarting;
      if (!owes_answer && seen_alive) {
        EndTask(record, TaskResult::kLost, "ObjectGone", "nothing is left of the task");
        break;
      }
      answer.accepted = false;
      answer.retry = true;
      answer.reason = "NotStarted";
      answer.message = "the first try left nothing behind";
      record.doubt = Doubt::kNone;
      // Whoever waits for no answer starts it again by this one, too.
      events_.push_back(std::move(answer));
      return;
    }
    default: {
      const bool incompatible = result.code == DETENT_INCOMPATIBLE;
      const milliseconds asked(result.retry_after_ms);
      const milliseconds wait = incompatible        ? kDoubtMost
                                : asked.count() > 0 ? asked
                                                    : record.doubt_backoff;
      record.doubt_backoff = std::min(record.doubt_backoff * 2, kDoubtMost);
      return RecoverAgain(record, task, wait);
    }
  }
  record.doubt = Doubt::kNone;
  if (owes_answer) events_.push_back(std::move(answer));
}

void TaskDesk::OnKillDone(TaskRecord& record, const OpResult& result) {
  KillAnswer answer{record.order.id, true, "", ""};
  if (result.code == DETENT_E_NOT_FOUND) {
    // While its start is open the task is not gone: the start's answer tells.
    if (!record.terminated && record.open_starts == 0) {
      EndTask(record, TaskResult::kLost, "ObjectGone", "there was nothing left to kill");
    }
  } else if (result.code != DETENT_OK) {
    answer.accepted = false;
    answer.reason = ReasonOf(result);
    answer.message = MessageOf(result);
  }
  events_.push_back(std::move(answer));
}

void TaskDesk::OnForceDeleteDone(TaskRecord& record, const OpResult& result) {
  if (result.code != DETENT_OK && result.code != DETENT_E_NOT_FOUND) {
    events_.push_back(KillAnswer{record.order.id, false, ReasonOf(result), MessageOf(result)});
    return;
  }
  if (record.terminated) return;
  EndTask(record, TaskResult::kKilled, "ForceDeleted",
          "it was given up without confirmation and may still be running");
}

// The end of a task as the host concludes it, where the plugin has nothing more to say.
void TaskDesk::EndTask(TaskRecord& record, TaskResult result, const char* reason,
                       const char* message) {
  if (record.terminated) return;
  TaskStatus status;
  status.state = TaskState::kTerminated;
  status.result = result;
  status.reason = reason;
  status.message = message;
  status.finished = instance_.parts().clock->Now();
  status.rerun_safe = record.rerun_safe;
  record.terminated = true;
  record.phase = DETENT_PHASE_TERMINATED;
  AddNews(record, std::move(status));
}

void TaskDesk::AddNews(TaskRecord& record, TaskStatus status) {
  status.handle = record.order.handle;
  status.handle_version = record.order.handle_version;
  if (record.news_turn == turn_) {
    std::get<TaskNews>(events_[record.news_at]).status = std::move(status);
    return;
  }
  record.news_turn = turn_;
  record.news_at = events_.size();
  events_.push_back(TaskNews{record.order.id, std::move(status)});
}

void TaskDesk::Apply(uint64_t task, uint64_t seq, TaskStatus status, uint32_t phase) {
  TaskRecord* record = tasks_.Find(task);
  if (record == nullptr || record->release_wanted) return;
  // Out of date, going back, or after the end: dropped (D-TASK-2).
  if (record->terminated || seq <= record->seq) return;
  record->seq = seq;
  record->rerun_safe = status.rerun_safe;
  if (phase == DETENT_PHASE_UNKNOWN) return;  // Not known now: the last state stands.
  if (phase < record->phase) {
    instance_.Misbehaved("a phase went back (rule D-TASK-2)", record->order.key);
    return;
  }
  const bool over = phase == DETENT_PHASE_TERMINATED;
  if (over && instance_.closing()) return;  // Not recorded: the task is recovered later.
  record->phase = phase;
  record->terminated = over;
  AddNews(*record, std::move(status));
}

detent_status TaskDesk::Update(detent_task task, const detent_task_status* given) {
  if (tasks_.Find(task) == nullptr) return DETENT_E_STALE;
  const detent_task_status known = Known(given);
  TaskStatus status;
  const detent_status code = ConvertStatus(known, status);
  if (code != DETENT_OK) return code;
  if (status.state == TaskState::kTerminated && instance_.closing()) return DETENT_E_CLOSING;
  if (instance_.OnStrand()) {
    Apply(task, known.seq, std::move(status), known.phase);
    return DETENT_OK;
  }
  const bool posted = instance_.Post(
      [this, task, seq = known.seq, phase = known.phase, status = std::move(status)]() mutable {
        Apply(task, seq, std::move(status), phase);
      });
  return posted ? DETENT_OK : DETENT_E_CLOSING;
}

detent_status TaskDesk::Bind(detent_task task, void* user) {
  if (tasks_.Find(task) == nullptr) return DETENT_E_STALE;
  if (instance_.OnStrand()) {
    tasks_.Find(task)->user = user;
    return DETENT_OK;
  }
  const bool posted = instance_.Post([this, task, user] {
    if (TaskRecord* record = tasks_.Find(task)) record->user = user;
  });
  return posted ? DETENT_OK : DETENT_E_CLOSING;
}

detent_status TaskDesk::Checkpoint(detent_task task, const detent_blob* given, detent_cb cb,
                                   void* ctx) {
  if (tasks_.Find(task) == nullptr) return DETENT_E_STALE;
  if ((instance_.table().caps & DETENT_CAP_BACKEND_RECORD) != 0) return DETENT_E_UNSUPPORTED;
  const detent_blob blob = Known(given);
  if (blob.size == 0) return DETENT_E_INVALID;
  if (blob.data.len > kBlobBytes) return DETENT_E_TOO_LARGE;
  if (instance_.closing()) return DETENT_E_CLOSING;
  const uint64_t expected = instance_.Expect(cb, ctx);
  if (expected == 0) return DETENT_E_NO_MEMORY;
  const auto request = [this, task, expected, version = blob.state_version,
                        bytes = std::string(Text(blob.data))] {
    TaskRecord* record = tasks_.Find(task);
    if (record == nullptr || record->release_wanted) {
      instance_.Answer(expected, DETENT_E_CANCELLED);
      return;
    }
    record->order.handle = bytes;
    record->order.handle_version = version;
    // The instance is never freed, so the loop may answer however late.
    Instance* instance = &instance_;
    events_.push_back(
        CheckpointRequest{record->order.id, bytes, version, [instance, expected](bool durable) {
                            instance->Answer(expected, durable ? DETENT_OK : DETENT_E_UNAVAILABLE);
                          }});
  };
  if (instance_.OnStrand()) {
    request();
    return DETENT_OK;
  }
  return instance_.Post(request) ? DETENT_OK : DETENT_E_CLOSING;
}

}  // namespace detent
