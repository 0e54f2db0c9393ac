#include "core/control/model.h"

namespace detent {
namespace {

template <typename Entry>
Entry& Insert(std::map<uint64_t, std::unique_ptr<Entry>>& by_id,
              std::map<ObjectKey, Entry*>& by_key, EntityRef ref, ObjectPtr object) {
  auto entry = std::make_unique<Entry>();
  entry->ref = ref;
  entry->object = std::move(object);
  Entry& result = *entry;
  by_key[result.object->key()] = &result;
  by_id[ref.id] = std::move(entry);
  return result;
}

template <typename Entry, typename Key>
Entry* FindIn(const std::map<Key, Entry*>& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : found->second;
}

template <typename Entry>
Entry* FindIn(const std::map<uint64_t, std::unique_ptr<Entry>>& map, uint64_t id) {
  const auto found = map.find(id);
  return found == map.end() ? nullptr : found->second.get();
}

}  // namespace

ConfigEntry& Model::AddConfig(ObjectPtr object) {
  return Insert(configs_, configs_by_key_, {EntityType::kConfig, next_id_++}, std::move(object));
}

JobEntry& Model::AddJob(ObjectPtr object) {
  JobEntry& job = Insert(jobs_, jobs_by_key_, {EntityType::kJob, next_id_++}, std::move(object));
  jobs_by_uid_[job.object->meta.uid] = &job;
  return job;
}

TaskEntry& Model::AddTask(ObjectPtr object, std::string kind, std::string key) {
  TaskEntry& task = AddBackendTask(std::move(object), std::move(kind), std::move(key));
  task.backend_record = false;
  tasks_by_key_[task.object->key()] = &task;
  return task;
}

TaskEntry& Model::AddBackendTask(ObjectPtr object, std::string kind, std::string key) {
  auto entry = std::make_unique<TaskEntry>();
  TaskEntry& task = *entry;
  task.ref = {EntityType::kTask, next_id_++};
  task.object = std::move(object);
  task.backend_record = true;
  ++task_counts_[kind];
  task.kind = std::move(kind);
  task.key = std::move(key);
  tasks_by_task_key_[task.key] = &task;
  tasks_[task.ref.id] = std::move(entry);
  return task;
}

void Model::Remove(ConfigEntry& entry) {
  for (const auto& [created, job] : entry.unfinished) job->config = nullptr;
  configs_by_key_.erase(entry.object->key());
  configs_.erase(entry.ref.id);
}

void Model::Remove(JobEntry& entry) {
  for (const auto& [index, task] : entry.tasks) task->job = nullptr;
  for (TaskEntry* task : entry.to_record) task->job = nullptr;
  for (TaskEntry* task : entry.recording) task->job = nullptr;
  if (entry.config) entry.config->unfinished.erase({entry.object->meta.created, &entry});
  const auto waiting = waiting_for_room_.find(entry.spec.job_template.task_template.kind);
  if (waiting != waiting_for_room_.end() && waiting->second.erase(entry.ref) > 0 &&
      waiting->second.empty()) {
    waiting_for_room_.erase(waiting);
  }
  jobs_by_key_.erase(entry.object->key());
  jobs_by_uid_.erase(entry.object->meta.uid);
  jobs_.erase(entry.ref.id);
}

void Model::Remove(TaskEntry& entry) {
  if (JobEntry* job = entry.job) {
    const auto live = job->tasks.find(entry.index);
    if (live != job->tasks.end() && live->second == &entry) job->tasks.erase(live);
    std::erase(job->to_record, &entry);
    std::erase(job->recording, &entry);
  }
  if (--task_counts_[entry.kind] == 0) task_counts_.erase(entry.kind);
  if (!entry.backend_record) tasks_by_key_.erase(entry.object->key());
  tasks_by_task_key_.erase(entry.key);
  tasks_.erase(entry.ref.id);
}

ConfigEntry* Model::FindConfig(const ObjectKey& key) {
  return FindIn(configs_by_key_, key);
}
JobEntry* Model::FindJob(const ObjectKey& key) {
  return FindIn(jobs_by_key_, key);
}
TaskEntry* Model::FindTask(const ObjectKey& key) {
  return FindIn(tasks_by_key_, key);
}
JobEntry* Model::FindJobByUid(const std::string& uid) {
  return FindIn(jobs_by_uid_, uid);
}
TaskEntry* Model::FindTaskByKey(const std::string& key) {
  return FindIn(tasks_by_task_key_, std::string_view(key));
}
ConfigEntry* Model::Config(uint64_t id) {
  return FindIn(configs_, id);
}
JobEntry* Model::Job(uint64_t id) {
  return FindIn(jobs_, id);
}
TaskEntry* Model::Task(uint64_t id) {
  return FindIn(tasks_, id);
}

int64_t Model::TaskCount(const std::string& kind) const {
  const auto found = task_counts_.find(kind);
  return found == task_counts_.end() ? 0 : found->second;
}

std::optional<EntityRef> Model::PopWaitingForRoom(const std::string& kind) {
  const auto found = waiting_for_room_.find(kind);
  if (found == waiting_for_room_.end()) return std::nullopt;
  const EntityRef job = *found->second.begin();
  found->second.erase(found->second.begin());
  if (found->second.empty()) waiting_for_room_.erase(found);
  return job;
}

bool OwnerIsMissing(Model& model, const Object& object) {
  const OwnerReference* owner = ControllerOf(object.meta);
  if (!owner || owner->api_version != kGroupVersion) return false;
  if (owner->kind == "JobConfig") {
    const auto* config = model.FindConfig({Kind::kJobConfig, object.meta.ns, owner->name});
    return !config || config->object->meta.uid != owner->uid;
  }
  if (owner->kind == "Job") {
    const auto* job = model.FindJob({Kind::kJob, object.meta.ns, owner->name});
    return !job || job->object->meta.uid != owner->uid;
  }
  return false;
}

}  // namespace detent
