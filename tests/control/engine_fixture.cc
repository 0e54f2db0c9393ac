#include "tests/control/engine_fixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "core/api/admission.h"
#include "core/api/codec.h"
#include "core/api/job_from_config.h"
#include "core/base/json.h"
#include "core/base/limits.h"
#include "core/base/names.h"

namespace detent {

TaskStatus Ended(TaskResult result, const std::string& reason) {
  TaskStatus status;
  status.state = TaskState::kTerminated;
  status.result = result;
  status.reason = reason;
  return status;
}

void FakeExecutor::Start(TaskOrder order) {
  started.push_back(order.name);
  live[order.id] = held[order.id] = order.name;
  StartAnswer answer;
  answer.id = order.id;
  news.emplace_back(answer);
  TaskStatus running;
  running.state = TaskState::kRunning;
  if (!silent) news.emplace_back(TaskNews{order.id, running});
  if (auto end = behaviour(order)) End(order.id, std::move(*end));
}

void FakeExecutor::Recover(TaskOrder order) {
  RecoverAnswer answer;
  answer.id = order.id;
  // A new life of the host has another id for what is outside.
  const auto outside = std::find_if(live.begin(), live.end(),
                                    [&](const auto& entry) { return entry.second == order.name; });
  const bool found = outside != live.end();
  if (found && outside->first != order.id) {
    held.erase(outside->first);
    live.erase(outside);
    live[order.id] = order.name;
  }
  held[order.id] = order.name;
  answer.recovery = found ? Recovery::kAdopted : Recovery::kNotFound;
  news.emplace_back(answer);
}

void FakeExecutor::ForgetIds() {
  constexpr TaskId kNobodys = TaskId{1} << 40;  // More than one life gives.
  for (auto* tasks : {&live, &held}) {
    std::map<TaskId, std::string> moved;
    for (auto& [id, name] : *tasks) moved[id + kNobodys] = std::move(name);
    *tasks = std::move(moved);
  }
}

void FakeExecutor::Kill(KillOrder order) {
  if (const auto task = live.find(order.id); task != live.end()) killed.push_back(task->second);
  KillAnswer answer;
  answer.id = order.id;
  news.emplace_back(answer);
  End(order.id, Ended(TaskResult::kKilled));
}

void FakeExecutor::Release(TaskId id) {
  EXPECT_EQ(held.erase(id), 1U) << "released twice, or never started";
}

void FakeExecutor::End(TaskId id, TaskStatus status) {
  if (live.erase(id) > 0) news.emplace_back(TaskNews{id, std::move(status)});
}

void FakeExecutor::EndAll(TaskResult result) {
  while (!live.empty()) End(live.begin()->first, Ended(result));
}

EngineWorld::EngineWorld()
    : inbox_(limits::kMailboxEvents), log_(LogLevel::kError, [](std::string_view) {}) {
  store_.changes(Kind::kJob).SetListener([this](const std::vector<Change>& changes) {
    ++commits;
    for (const Change& change : changes) {
      if (change.type == ChangeType::kModified) ++writes[change.object->key()];
    }
    inbox_.PostAnswer(StoreChanged{changes});
  });
  engine_ = std::make_unique<Engine>(
      EngineDeps{store_, directory, inbox_, clock, log_, metrics_, options});
  EXPECT_TRUE(engine_->Load().has_value());
}

void EngineWorld::Restart() {
  Settle();
  directory.executor.ForgetIds();
  engine_ = std::make_unique<Engine>(
      EngineDeps{store_, directory, inbox_, clock, log_, metrics_, options});
  EXPECT_TRUE(engine_->Load().has_value());
}

void EngineWorld::Store(Object object) {
  const std::string what = ToString(object.key());
  auto shared = std::make_shared<Object>(std::move(object));
  EXPECT_TRUE(SubmitAndWait(store_, {{WriteOp::kCreate, shared, 0, nullptr}}).has_value()) << what;
  Settle();
}

Object EngineWorld::Admitted(Kind kind, const std::string& name, const std::string& spec) {
  const std::string text = std::string(R"({"apiVersion":")") + kGroupVersion + R"(","kind":")" +
                           NameOf(kind) + R"(","metadata":{"namespace":"n","name":")" + name +
                           R"("},"spec":)" + spec + "}";
  AdmissionContext context;
  context.now = clock.Now();
  Admission admission = AdmitNew(kind, *ParseJson(text), context);
  for (const Diagnostic& mistake : admission.mistakes) ADD_FAILURE() << Sentence(mistake);
  admission.object.meta.uid = DerivedUid(name);
  return std::move(admission.object);
}

Result<Committed> EngineWorld::Wish(Object job, const std::function<void()>& meanwhile) {
  std::optional<Result<Committed>> answer;
  intake_.Submit({{WriteOp::kCreate, std::make_shared<Object>(std::move(job)), 0, nullptr}},
                 [&answer](Result<Committed> result) {
                   EXPECT_FALSE(answer.has_value()) << "answered twice";
                   answer.emplace(std::move(result));
                 });
  meanwhile();
  Settle();
  if (!answer) return Error(Code::kInternal, "not answered");
  return *std::move(answer);
}

Result<Committed> EngineWorld::WishJob(const std::string& name, const std::string& spec) {
  return Wish(Admitted(Kind::kJob, name, spec), [] {});
}

Result<Committed> EngineWorld::WishJobOfNewConfig(const std::string& config,
                                                  const std::string& spec) {
  auto stored = std::make_shared<Object>(Admitted(Kind::kJobConfig, config, spec));
  JobOverrides overrides;
  overrides.name = config + "-now";
  Object job =
      *JobFromConfig(stored->meta, *DecodeJobConfigSpec(stored->spec), overrides, clock.Now());
  job.meta.uid = DerivedUid(job.meta.name);
  return Wish(std::move(job), [&] {
    EXPECT_TRUE(SubmitAndWait(store_, {{WriteOp::kCreate, stored, 0, nullptr}}).has_value());
  });
}

void EngineWorld::CreateJob(const std::string& name, const std::string& spec) {
  Store(Admitted(Kind::kJob, name, spec));
}

void EngineWorld::CreateConfig(const std::string& name, const std::string& spec) {
  Store(Admitted(Kind::kJobConfig, name, spec));
}

void EngineWorld::Delete(const ObjectKey& key, const std::string& finalizer) {
  DeleteThenFailReads(key, finalizer, 0);
}

void EngineWorld::DeleteThenFailReads(const ObjectKey& key, const std::string& finalizer,
                                      size_t reads) {
  auto object = std::make_shared<Object>(**store_.Read(key));
  if (!finalizer.empty()) object->meta.finalizers.push_back(finalizer);
  EXPECT_TRUE(SubmitAndWait(store_, {DeletionOf(object, clock.Now())}).has_value());
  store_.FailReads(reads);
  Settle();
}

void EngineWorld::SetUsable(bool usable) {
  directory.usable = usable;
  directory.executor.news.emplace_back(ExecutorChange{"exec", usable, "", ""});
  Settle();
}

void EngineWorld::Settle() {
  // What a pass asks for is answered in the inbox, so only a second quiet round means rest.
  int quiet = 0;
  for (int round = 0; round < 10'000 && quiet < 2; ++round) {
    auto& news = directory.executor.news;
    if (!news.empty()) inbox_.PostAnswer(ExecutorsSaid{std::exchange(news, {})});
    std::vector<Message> messages;
    inbox_.Take(messages, std::chrono::nanoseconds(0));
    for (Message& message : messages) engine_->Take(message);
    const auto idle = engine_->Pass();
    quiet = messages.empty() && news.empty() && idle.count() > 0 ? quiet + 1 : 0;
  }
  EXPECT_EQ(quiet, 2) << "the engine does not come to rest";
}

void EngineWorld::Advance(std::chrono::microseconds by) {
  clock.Advance(by);
  Settle();
}

ObjectPtr EngineWorld::Stored(Kind kind, const std::string& name) {
  const auto object = store_.Read({kind, "n", name});
  return object ? *object : nullptr;
}

std::vector<std::string> EngineWorld::Names(Kind kind) {
  ListQuery query;
  query.kind = kind;
  std::vector<std::string> names;
  const Page page = *store_.List(query);
  for (const ObjectPtr& object : page.objects) names.push_back(object->meta.name);
  return names;
}

JobStatus EngineWorld::StatusOf(const std::string& job) {
  const ObjectPtr object = Stored(Kind::kJob, job);
  if (object) return *DecodeJobStatus(object->status);
  ADD_FAILURE() << "there is no Job " << job;
  return {};
}

std::string EngineWorld::PhaseOf(const std::string& job) {
  const JobStatus status = StatusOf(job);
  return std::string(NameOf(status.phase)) + (status.reason.empty() ? "" : ": ") + status.reason;
}

JobConfigStatus EngineWorld::ConfigStatusOf(const std::string& config) {
  const ObjectPtr object = Stored(Kind::kJobConfig, config);
  if (object) return *DecodeJobConfigStatus(object->status);
  ADD_FAILURE() << "there is no JobConfig " << config;
  return {};
}

std::string EngineWorld::Explain(Kind kind, const std::string& name) {
  const auto lines = engine_->Explain({kind, "n", name});
  if (!lines) return lines.error().message();
  std::string text;
  for (const std::string& line : *lines) text += line + "\n";
  return text;
}

}  // namespace detent
