#include "core/control/task_factory.h"

#include <gtest/gtest.h>

#include <string>

#include "core/api/codec.h"
#include "core/api/labels.h"
#include "core/base/json.h"
#include "core/base/names.h"

namespace detent {
namespace {

const WallTime kNow = FromUnixSeconds(1'800'000'000);

// A Job "hello" in "n" whose executor spec is `text`.
struct Scene {
  explicit Scene(const std::string& text = "{}") : compiled(*SpecTemplate::Compile(text)) {
    job.name = "hello";
    job.ns = "n";
    job.uid = "11111111-2222-3333-4444-555555555555";
    spec.job_template.task_template = {"exec", text};
    spec.job_template.max_attempts = 4;
  }
  Result<NewTask> Make(AttemptRef ref, TaskState state = TaskState::kStarting) {
    return TaskFactory{job, spec, compiled}.Make(ref, state, kNow);
  }
  // The executor's spec of the attempt, or what is wrong with it.
  std::string Rendered(AttemptRef ref = {}) {
    const auto task = Make(ref);
    if (!task) return task.error().message();
    return *task->executor_spec;
  }

  ObjectMeta job;
  JobSpec spec;
  SpecTemplate compiled;
};

TEST(TaskFactory, NamesATaskAfterItsJobIndexAndAttempt) {
  Scene scene;
  const auto task = scene.Make({7, 2});
  ASSERT_TRUE(task.has_value());
  const ObjectMeta& meta = task->object->meta;
  EXPECT_EQ(task->object->kind, Kind::kTask);
  EXPECT_EQ(meta.name, "hello-7-2");
  EXPECT_EQ(meta.ns, "n");
  EXPECT_EQ(meta.uid, DerivedUid(TaskKey(scene.job.uid, 7, 2)));
  EXPECT_EQ(meta.created, kNow);
  EXPECT_EQ(meta.generation, 1);
}

TEST(TaskFactory, MakesTheSameTaskForTheSameAttempt) {
  Scene scene;
  EXPECT_EQ(*scene.Make({1, 1})->object, *scene.Make({1, 1})->object);
  EXPECT_NE(scene.Make({1, 1})->object->meta.uid, scene.Make({1, 2})->object->meta.uid);
  EXPECT_NE(scene.Make({1, 1})->object->meta.uid, scene.Make({2, 1})->object->meta.uid);
}

TEST(TaskFactory, SaysWhoseATaskIsAndHoldsItUntilItIsLetGo) {
  Scene scene;
  const ObjectMeta meta = scene.Make({7, 2})->object->meta;
  EXPECT_EQ(meta.labels, (StringMap{{labels::kJobName, "hello"},
                                    {labels::kJobUid, scene.job.uid},
                                    {labels::kIndex, "7"},
                                    {labels::kAttempt, "2"}}));
  EXPECT_TRUE(HasFinalizer(meta, labels::kTaskTracking));
  const OwnerReference* owner = ControllerOf(meta);
  ASSERT_NE(owner, nullptr);
  EXPECT_EQ(owner->kind, "Job");
  EXPECT_EQ(owner->name, "hello");
  EXPECT_EQ(owner->uid, scene.job.uid);
  EXPECT_EQ(owner->api_version, kGroupVersion);
}

TEST(TaskFactory, StoresWhatTheAttemptIs) {
  Scene scene(R"({"command":["true"]})");
  const auto task = scene.Make({7, 2}, TaskState::kHeld);
  const auto spec = DecodeTaskSpec(task->object->spec);
  ASSERT_TRUE(spec.has_value());
  EXPECT_EQ(spec->kind, "exec");
  EXPECT_EQ(spec->index, 7);
  EXPECT_EQ(spec->attempt, 2);
  EXPECT_EQ(spec->job_uid, scene.job.uid);
  EXPECT_EQ(spec->executor_spec, R"({"command":["true"]})");
  EXPECT_EQ(spec->executor_spec, *task->executor_spec);
  EXPECT_EQ(DecodeTaskStatus(task->object->status)->state, TaskState::kHeld);
}

TEST(TaskFactory, FillsInItsVariables) {
  const struct {
    const char* variable;
    const char* value;
  } cases[] = {
      {"job.name", "hello"},        {"job.namespace", "n"},
      {"job.type", "Scheduled"},    {"job.max_attempts", "4"},
      {"task.name", "hello-7-2"},   {"task.namespace", "n"},
      {"task.index_num", "7"},      {"task.attempt", "2"},
      {"task.retry_index", "1"},    {"job.schedule_time", "2026-11-21T10:00:00Z"},
      {"jobconfig.name", "hourly"}, {"jobconfig.namespace", "n"},
      {"jobconfig.uid", "c-uid"},   {"job.uid", "11111111-2222-3333-4444-555555555555"},
  };
  for (const auto& c : cases) {
    Scene scene(std::string(R"({"v":"${)") + c.variable + "}\"}");
    scene.spec.type = JobType::kScheduled;
    scene.job.annotations[labels::kSlot] = "2026-11-21T10:00:00Z";
    scene.job.owners = {{kGroupVersion, "JobConfig", "hourly", "c-uid", true, true}};
    EXPECT_EQ(scene.Rendered({7, 2}), std::string(R"({"v":")") + c.value + "\"}") << c.variable;
  }
}

TEST(TaskFactory, LetsSubstitutionsWinOverItsOwnVariables) {
  Scene scene(R"({"v":"${job.name}, ${option.who}"})");
  scene.spec.substitutions = {{"job.name", "mine"}, {"option.who", "you"}};
  EXPECT_EQ(scene.Rendered(), R"({"v":"mine, you"})");
}

TEST(TaskFactory, KeepsTheShapeOfTheSpecWhateverAValueHolds) {
  for (const char* value :
       {R"(","x":"y)", "line\nbreak", R"(back\slash)", "${job.name}", "\t\x01"}) {
    Scene scene(R"({"v":"<${option.text}>"})");
    scene.spec.substitutions = {{"option.text", value}};
    const auto json = ParseJson(scene.Rendered());
    ASSERT_TRUE(json.has_value()) << value;
    Json expected = *ParseJson("{}");
    expected.Set("v", "<" + std::string(value) + ">");
    EXPECT_EQ(*json, expected) << value;
  }
}

TEST(TaskFactory, SaysWhichFieldCannotBeFilledIn) {
  Scene scene(R"({"port":"${option.port|int}"})");
  scene.spec.substitutions = {{"option.port", "http"}};
  const auto task = scene.Make({});
  ASSERT_FALSE(task.has_value());
  EXPECT_EQ(task.error().code(), Code::kInvalid);
  EXPECT_NE(task.error().message().find("/port"), std::string::npos) << task.error().message();
}

TEST(TaskFactory, GivesAllAttemptsOneTextWhereItIsConstant) {
  Scene scene(R"({"command":["true"]})");
  const SpecText text = scene.compiled.constant();
  ASSERT_NE(text, nullptr);
  EXPECT_EQ(*text, R"({"command":["true"]})");
  EXPECT_EQ(scene.Make({0, 1})->executor_spec, text);
  EXPECT_EQ(scene.Make({1, 2})->executor_spec, text);
  EXPECT_EQ(SpecTemplate::Compile(R"({"a":"${task.index_num}"})")->constant(), nullptr);
}

}  // namespace
}  // namespace detent
