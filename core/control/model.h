// What the loop knows: every JobConfig, every Job, and the tasks in hand, typed and cross-linked.
//
// The loop's thread only. Entries are owned by the model; pointers between them are borrowed and
// are cleared when an entry goes. What is stored can be read back from the store at any time; what
// is kept beside it is what a restart may lose: who was asked what, and what is being written.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/api/job.h"
#include "core/api/job_config.h"
#include "core/api/object.h"
#include "core/api/task.h"
#include "core/control/message.h"
#include "core/control/work.h"
#include "core/cron/schedule.h"
#include "core/expr/substitute.h"
#include "core/plugin/executor.h"
#include "core/sched/task_plan.h"

namespace detent {

struct JobEntry;
struct TaskEntry;

// What all entries share: the stored object, and the one write that may be in flight for it.
struct StoredEntry {
  EntityRef ref;
  ObjectPtr object;  // As last committed, as far as we know.
  ObjectPtr seen;    // A newer one that arrived while our own write was in flight.
  bool write_in_flight = false;
  std::optional<MonoTime> retry_write_at;  // The store could not take it: not before that.

  int64_t version() const { return object->meta.resource_version; }
};

struct ConfigEntry : StoredEntry {
  std::unique_ptr<Schedule> schedule;  // Null: none, disabled, or unreadable.
  ScheduleSpec schedule_spec;          // Without the expressions' text.
  ConcurrencyPolicy policy = ConcurrencyPolicy::kAllow;
  int64_t max_concurrency = 1;
  JobConfigStatus status;               // As stored.
  std::optional<WallTime> newest_slot;  // That a Job was seen of.
  WallTime begins{};                    // No slot before it is of interest.
  std::string mistake;                  // Why the stored spec cannot be used; empty if it can.
  std::set<std::pair<WallTime, JobEntry*>> unfinished;  // Its Jobs, oldest first.
  std::optional<MonoTime> written_at;
};

struct JobEntry : StoredEntry {
  JobSpec spec;
  JobStatus status;  // Newest; stored when it is written.
  WallTime seen_at{};
  std::unique_ptr<SpecTemplate> spec_template;
  ConfigEntry* config = nullptr;
  std::map<int64_t, TaskEntry*> tasks;             // In hand and not ended, by index.
  int64_t next_index = 0;                          // Indexes from here on have not begun.
  std::set<std::pair<WallTime, int64_t>> retries;  // Indexes that wait for another attempt.
  std::vector<TaskEntry*> to_record;  // Ended, durable in the Task, not yet in the Job.
  std::vector<TaskEntry*> recording;  // In the status that is being written.
  // Set while it is being created: the creation that the first write of its status is.
  std::shared_ptr<JobWish> wish;
  // No Tasks are stored for it (status.reserved_indexes), and what of the reservation is durable.
  bool backend_record = false;
  int64_t reserved_durable = 0, writing_reserved = 0;
  bool start_durable = false, finish_durable = false;
  bool writing_start = false;   // The write in flight says that it is started,
  bool writing_finish = false;  // or that it is finished.
  bool dirty = false;           // The status differs from what is stored.
  bool urgent = false;          // It must not wait for the next tick.
  int64_t running = 0;          // Of `tasks`, those seen running.
  std::set<int64_t> held_up;    // Of `tasks`, those with a `held_up` of their own, and some more.
  std::optional<MonoTime> written_at;
};

enum class TaskWrite : uint8_t { kNone, kCreate, kIntent, kProgress, kOutcome, kDrop };

// What an executor said when it would not take a task, or not end it: one word, or none, and a
// text.
struct Objection {
  std::string reason, message;
};

// One for every task in hand: what few of them have stands elsewhere.
struct TaskEntry : StoredEntry {
  std::string key;   // TaskKey().
  std::string kind;  // Of the executor.
  SpecText spec;     // Where JobController::SpecOf cannot render it.
  JobEntry* job = nullptr;
  std::string job_name;  // In the namespace of its own.
  int64_t index = 0;
  int64_t attempt = 1;
  TaskStage stage = TaskStage::kStoring;
  TaskStatus status;  // Newest.
  TaskWrite writing = TaskWrite::kNone;
  bool outcome_stored = false;
  bool backend_record = false;  // `object` is not stored: its identity, and no more.
  bool introduced = false;      // This run's executor knows it by its id.
  bool handed_over = false;     // An executor was, or may have been, given it.
  bool asked = false;
  bool was_running = false;  // When it was read back after a restart.
  bool progress_dirty = false;
  bool counted_running = false;
  bool told_job = false;  // Its Job knows how it ended.
  bool removed = false;   // The object is gone, and not by us.
  std::optional<MonoTime> progress_due;
  std::optional<WallTime> not_before, offered_at, kill_sent_at;
  bool kill_wanted = false, kill_immediate = false, immediate_sent = false, force_sent = false;
  std::string kill_reason;
  std::unique_ptr<Objection> held_up;
  std::vector<std::function<void(bool)>> acks, acks_in_flight;  // Of checkpoints.
};

class Model {
 public:
  ConfigEntry& AddConfig(ObjectPtr object);
  JobEntry& AddJob(ObjectPtr object);
  // `key` is its TaskKey().
  TaskEntry& AddTask(ObjectPtr object, std::string kind, std::string key);
  // One whose `object` is not stored: a Task of that name in the store is another's.
  TaskEntry& AddBackendTask(ObjectPtr object, std::string kind, std::string key);

  void Remove(ConfigEntry& entry);
  void Remove(JobEntry& entry);
  void Remove(TaskEntry& entry);

  // Null where there is none.
  ConfigEntry* FindConfig(const ObjectKey& key);
  JobEntry* FindJob(const ObjectKey& key);
  TaskEntry* FindTask(const ObjectKey& key);
  JobEntry* FindJobByUid(const std::string& uid);
  TaskEntry* FindTaskByKey(const std::string& key);
  ConfigEntry* Config(uint64_t id);
  JobEntry* Job(uint64_t id);
  TaskEntry* Task(uint64_t id);

  // Tasks in hand of one executor kind.
  int64_t TaskCount(const std::string& kind) const;

  // Jobs that would begin attempts if their executor had room, the oldest first.
  void WaitForRoom(const std::string& kind, EntityRef job) { waiting_for_room_[kind].insert(job); }
  std::optional<EntityRef> PopWaitingForRoom(const std::string& kind);

  const std::map<uint64_t, std::unique_ptr<ConfigEntry>>& configs() const { return configs_; }
  const std::map<uint64_t, std::unique_ptr<JobEntry>>& jobs() const { return jobs_; }
  const std::map<uint64_t, std::unique_ptr<TaskEntry>>& tasks() const { return tasks_; }

 private:
  uint64_t next_id_ = 1;
  std::map<uint64_t, std::unique_ptr<ConfigEntry>> configs_;
  std::map<uint64_t, std::unique_ptr<JobEntry>> jobs_;
  std::map<uint64_t, std::unique_ptr<TaskEntry>> tasks_;
  std::map<ObjectKey, ConfigEntry*> configs_by_key_;
  std::map<ObjectKey, JobEntry*> jobs_by_key_;
  std::map<ObjectKey, TaskEntry*> tasks_by_key_;
  std::map<std::string, JobEntry*> jobs_by_uid_;
  std::map<std::string_view, TaskEntry*> tasks_by_task_key_;  // Of the entries' own keys.
  std::map<std::string, int64_t, std::less<>> task_counts_;
  std::map<std::string, std::set<EntityRef>, std::less<>> waiting_for_room_;
};

// Whether the object's controller is of a kind of ours, and not known: it is gone, or is still to
// be seen. Owners of other groups are none of our business.
bool OwnerIsMissing(Model& model, const Object& object);

}  // namespace detent
