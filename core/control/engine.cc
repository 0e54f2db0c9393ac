#include "core/control/engine.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/api/labels.h"
#include "core/control/explain.h"

namespace detent {
namespace {

// Entities looked at before messages are taken again: what was begun first gets on its way first.
constexpr int kEntitiesPerPass = 256;
constexpr size_t kLoadPage = 5'000;
constexpr std::chrono::nanoseconds kIdle = std::chrono::hours(1);

}  // namespace

Engine::Engine(const EngineDeps& deps)
    : clock_(deps.clock),
      context_{deps.store, deps.executors, deps.inbox,
               deps.log,   deps.options,   deps.validator,
               Model{},    Work{},         ControlMetrics(deps.metrics)},
      configs_(context_),
      jobs_(context_),
      tasks_(context_, jobs_),
      owners_(context_) {
  ReadClock();
}

void Engine::ReadClock() {
  context_.now = clock_.Now();
  context_.mono = clock_.Mono();
}

Result<void> Engine::Load() {
  ReadClock();
  std::map<std::string, Kind> missing_owners;
  for (const Kind kind : kKinds) TRY(LoadKind(kind, missing_owners));
  for (const auto& [id, job] : context_.model.jobs()) jobs_.FinishTakingBack(*job);
  owners_.SweepOrphans(missing_owners);
  return {};
}

Result<void> Engine::LoadKind(Kind kind, std::map<std::string, Kind>& missing_owners) {
  std::vector<ObjectPtr> tasks;
  ListQuery query;
  query.kind = kind;
  query.limit = kLoadPage;
  for (bool more = true; more;) {
    const Page page = TRY(context_.store.List(query));
    for (const ObjectPtr& object : page.objects) {
      if (kind == Kind::kJobConfig) configs_.TakeBack(object);
      if (kind == Kind::kJob) jobs_.Seen(object);
      const bool in_hand = HasFinalizer(object->meta, labels::kTaskTracking);
      if (kind == Kind::kTask && in_hand) tasks.push_back(object);
      if (OwnerIsMissing(context_.model, *object)) {
        missing_owners[ControllerOf(object->meta)->uid] = kind;
      }
      owners_.Seen(object);
    }
    more = page.more;
    if (more) query.after = {page.objects.back()->meta.ns, page.objects.back()->meta.name};
  }
  // Earlier attempts first: that one failed must be known before what came of the next.
  std::sort(tasks.begin(), tasks.end(), [](const ObjectPtr& a, const ObjectPtr& b) {
    const auto order = [](const Object& o) {
      const auto attempt = o.meta.labels.find(labels::kAttempt);
      const std::string& text = attempt == o.meta.labels.end() ? std::string() : attempt->second;
      return std::tuple(text.size(), text, o.meta.ns, o.meta.name);
    };
    return order(*a) < order(*b);
  });
  for (const ObjectPtr& task : tasks) tasks_.TakeBack(task);
  return {};
}

void Engine::Take(Message& message) {
  ReadClock();
  if (auto* changed = std::get_if<StoreChanged>(&message)) {
    for (const Change& change : changed->changes) OnChange(change);
  } else if (auto* done = std::get_if<WriteDone>(&message)) {
    done->then(std::move(done->result));
  } else if (auto* said = std::get_if<ExecutorsSaid>(&message)) {
    OnExecutors(said->events);
  } else if (auto* wished = std::get_if<JobWished>(&message)) {
    jobs_.Create(wished->wish);
  } else {
    std::get<Call>(message).run();
  }
}

void Engine::OnChange(const Change& change) {
  const ObjectPtr& object = change.object;
  const bool gone = change.type == ChangeType::kDeleted;
  const bool may_be_awaited = context_.options.raw_objects && object->kind == Kind::kJobConfig &&
                              !context_.model.FindConfig(object->key());
  if (change.type == ChangeType::kAdded && OwnerIsMissing(context_.model, *object)) {
    // Created for an owner that was deleted meanwhile.
    owners_.SweepOrphans({{ControllerOf(object->meta)->uid, object->kind}});
  }
  switch (object->kind) {
    case Kind::kJobConfig:
      gone ? configs_.Gone(object) : configs_.Seen(object);
      if (may_be_awaited) jobs_.ConfigSeen(*object);
      break;
    case Kind::kJob:
      gone ? jobs_.Gone(object) : jobs_.Seen(object);
      break;
    case Kind::kTask:
      gone ? tasks_.Gone(object) : tasks_.Seen(object);
      break;
  }
  gone ? owners_.Gone(object) : owners_.Seen(object);
}

void Engine::OnExecutors(std::vector<ExecutorEvent>& events) {
  for (ExecutorEvent& event : events) {
    std::visit([this](auto& news) { tasks_.On(news); }, event);
  }
}

std::chrono::nanoseconds Engine::Pass() {
  ReadClock();
  Work& work = context_.work;
  work.EnqueueDue(context_.now, context_.mono);
  for (int i = 0; i < kEntitiesPerPass; ++i) {
    const auto ref = work.Pop();
    if (!ref) break;
    if (ref->type == EntityType::kOwners) {
      owners_.TryAgain();
    } else if (ref->type == EntityType::kConfig) {
      if (ConfigEntry* config = context_.model.Config(ref->id)) configs_.Reconcile(*config);
    } else if (ref->type == EntityType::kJob) {
      if (JobEntry* job = context_.model.Job(ref->id)) jobs_.Reconcile(*job);
    } else if (TaskEntry* task = context_.model.Task(ref->id)) {
      tasks_.Reconcile(*task);
    }
  }
  context_.executors.FlushAll();
  if (!work.empty()) return std::chrono::nanoseconds(0);
  std::chrono::nanoseconds idle = kIdle;
  if (const auto wall = work.wall.next()) {
    idle = std::min(idle, std::chrono::nanoseconds(*wall - context_.now));
  }
  if (const auto tick = work.ticks.next()) idle = std::min(idle, *tick - context_.mono);
  return std::max(idle, std::chrono::nanoseconds(0));
}

Result<std::vector<std::string>> Engine::Explain(const ObjectKey& key) {
  ReadClock();
  return ExplainObject(context_, jobs_, key);
}

}  // namespace detent
