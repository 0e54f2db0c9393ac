#include "core/api/codec.h"

#include <gtest/gtest.h>

#include "core/base/random.h"
#include "tests/api/examples.h"

namespace detent {
namespace {

// Makes values of every shape from a seed.
class Maker {
 public:
  explicit Maker(uint64_t seed) : random_(seed) {}

  bool Coin() { return random_.Below(2) == 0; }
  int64_t Number() { return static_cast<int64_t>(random_.Below(1'000)); }
  std::string Text() {
    static const char* const kTexts[] = {"", "plain", "with \"quotes\"\n", "\xC3\xA9\xE2\x82\xAC",
                                         "\\/\t\x01"};
    return kTexts[random_.Below(5)];
  }
  // Whole seconds as often as not, and never the epoch, which means absence.
  WallTime Time() {
    const auto micros = std::chrono::microseconds(Coin() ? 0 : random_.Below(1'000'000));
    return FromUnixSeconds(1 + static_cast<int64_t>(random_.Below(4'000'000'000))) + micros;
  }
  std::optional<WallTime> MaybeTime() { return Coin() ? std::optional(Time()) : std::nullopt; }
  std::optional<int64_t> MaybeNumber() { return Coin() ? std::optional(Number()) : std::nullopt; }
  StringMap Map() {
    return Coin() ? StringMap{} : StringMap{{"a", Text()}, {"example.com/b", Text()}};
  }
  IndexSet Indexes() {
    IndexSet set;
    for (uint64_t i = random_.Below(20); i > 0; --i) set.Insert(Number());
    return set;
  }
  std::vector<TaskRecord> Records() {
    std::vector<TaskRecord> records(random_.Below(3));
    for (TaskRecord& r : records) {
      r = {Text(),
           Number(),
           Number(),
           TaskState(random_.Below(5)),
           TaskResult(random_.Below(5)),
           Text(),
           Text(),
           MaybeNumber(),
           Time(),
           MaybeTime(),
           MaybeTime()};
    }
    return records;
  }
  std::map<int64_t, IndexSet> Attempts() {
    std::map<int64_t, IndexSet> attempts;
    for (uint64_t i = random_.Below(3); i > 0; --i) attempts[static_cast<int64_t>(i)] = Indexes();
    return attempts;
  }
  uint64_t Below(uint64_t bound) { return random_.Below(bound); }

 private:
  SeededRandom random_;
};

constexpr int kRounds = 300;

TEST(Codec, WhatAJobStatusSaysIsReadBackTheSame) {
  for (int seed = 0; seed < kRounds; ++seed) {
    Maker make(seed);
    JobStatus status;
    status.phase = JobPhase(make.Below(12));
    status.reason = make.Text();
    status.message = make.Text();
    status.started = make.MaybeTime();
    status.finished = make.MaybeTime();
    status.indexes = make.Number();
    status.created_tasks = make.Number();
    status.active_tasks = make.Number();
    status.running_tasks = make.Number();
    status.succeeded_indexes = make.Indexes();
    status.failed_indexes = make.Indexes();
    status.failed_attempts = make.Attempts();
    status.uncounted_attempts = make.Attempts();
    status.active = make.Records();
    status.failed = make.Records();
    status.succeeded = make.Records();
    const auto read = DecodeJobStatus(EncodeJobStatus(status));
    ASSERT_TRUE(read) << read.error().message();
    ASSERT_EQ(*read, status) << EncodeJobStatus(status);
  }
}

TEST(Codec, WhatATaskSaysIsReadBackTheSame) {
  const char* const outputs[] = {"", "null", "{\"a\":[1,2.5,\"x\"]}", "\"text\""};
  for (int seed = 0; seed < kRounds; ++seed) {
    Maker make(seed);
    TaskStatus status;
    status.state = TaskState(make.Below(5));
    status.result = TaskResult(make.Below(5));
    status.reason = make.Text();
    status.message = make.Text();
    status.exit_code = make.MaybeNumber();
    status.signal = make.MaybeNumber();
    status.started = make.MaybeTime();
    status.running = make.MaybeTime();
    status.finished = make.MaybeTime();
    status.object_ref = make.Text();
    if (make.Coin()) status.extra = R"({"node":"a","n":[1]})";
    status.output = outputs[make.Below(4)];
    status.rerun_safe = make.Coin();
    status.never_retry = make.Coin();
    for (uint64_t i = make.Below(9); i > 0; --i) {
      status.handle += static_cast<char>(make.Below(256));
    }
    status.handle_version = static_cast<uint32_t>(make.Below(uint64_t{1} << 32));
    const auto read = DecodeTaskStatus(EncodeTaskStatus(status));
    ASSERT_TRUE(read) << read.error().message();
    ASSERT_EQ(*read, status) << EncodeTaskStatus(status);

    TaskSpec spec{make.Text(),     make.Text(), make.Number(),
                  make.Number(),   "exec",      R"({"command":["a"]})",
                  make.MaybeTime()};
    const auto spec_read = DecodeTaskSpec(EncodeTaskSpec(spec));
    ASSERT_TRUE(spec_read) << spec_read.error().message();
    ASSERT_EQ(*spec_read, spec);
  }
}

TEST(Codec, WhatAJobConfigStatusAndAJobSpecSayIsReadBackTheSame) {
  for (int seed = 0; seed < kRounds; ++seed) {
    Maker make(seed);
    JobConfigStatus status;
    status.state = make.Text();
    status.active = make.Number();
    status.queued = make.Number();
    if (make.Coin()) status.active_jobs = {{make.Text(), make.Text(), make.Text(), make.Time()}};
    status.last_scheduled = make.MaybeTime();
    status.last_executed = make.MaybeTime();
    status.next_scheduled = make.MaybeTime();
    status.skipped = make.Number();
    if (make.Coin()) status.last_skipped = SkippedSlot{make.Time(), make.Text(), make.Text()};
    const auto read = DecodeJobConfigStatus(EncodeJobConfigStatus(status));
    ASSERT_TRUE(read) << read.error().message();
    ASSERT_EQ(*read, status);

    JobSpec spec;
    spec.type = JobType(make.Below(2));
    if (make.Coin()) spec.concurrency_policy = ConcurrencyPolicy(make.Below(2));
    spec.start_after = make.MaybeTime();
    spec.job_template.task_template = {"exec", "{}"};
    spec.substitutions = make.Map();
    spec.kill_timestamp = make.MaybeTime();
    spec.ttl_seconds_after_finished = make.MaybeNumber();
    const auto spec_read = DecodeJobSpec(EncodeJobSpec(spec, R"({"taskTemplate":{"exec":{}}})"));
    ASSERT_TRUE(spec_read) << spec_read.error().message();
    ASSERT_EQ(*spec_read, spec);
  }
}

TEST(Codec, WhatMetadataSaysIsReadBackTheSame) {
  for (int seed = 0; seed < kRounds; ++seed) {
    Maker make(seed);
    ObjectMeta meta{make.Text(), make.Text(),      make.Text(),
                    make.Text(), make.Number(),    make.Number(),
                    make.Time(), make.MaybeTime(), make.MaybeNumber(),
                    make.Map(),  make.Map(),       {},
                    {}};
    if (make.Coin()) meta.finalizers = {make.Text(), "b"};
    if (make.Coin()) {
      meta.owners = {{"v1", "A", make.Text(), make.Text(), make.Coin(), make.Coin()}};
    }
    std::string text;
    AppendMeta(text, meta);
    const auto json = ParseJson(text);
    ASSERT_TRUE(json) << text;
    const auto read = DecodeMeta(*json);
    ASSERT_TRUE(read) << read.error().message();
    ASSERT_EQ(*read, meta) << text;
  }
}

TEST(Codec, AnObjectIsWrittenAsKubernetesWritesIt) {
  Object object;
  object.kind = Kind::kTask;
  object.meta.name = "t";
  object.meta.ns = "default";
  object.meta.resource_version = 12;
  object.meta.created = testing::Noon();
  object.spec = R"({"index":0})";
  EXPECT_EQ(EncodeObject(object),
            R"({"apiVersion":"execution.detent.dev/v1alpha1","kind":"Task","metadata":)"
            R"({"name":"t","namespace":"default","resourceVersion":"12",)"
            R"("creationTimestamp":"2026-11-21T10:00:00Z"},"spec":{"index":0}})");
}

TEST(Codec, AnEndedJobHasFurikosConditionAndKubernetes) {
  JobStatus status;
  status.phase = JobPhase::kSucceeded;
  status.finished = testing::Noon();
  const Json json = *ParseJson(EncodeJobStatus(status));
  EXPECT_EQ(*json.Find("state"), Json("Finished"));
  EXPECT_EQ(*json.At("/condition/finished/result"), Json("Success"));
  EXPECT_EQ(*json.At("/conditions/0/type"), Json("Complete"));
  EXPECT_EQ(*json.At("/conditions/0/status"), Json("True"));
  EXPECT_EQ(*json.At("/conditions/0/lastTransitionTime"), Json("2026-11-21T10:00:00Z"));
  status.phase = JobPhase::kKilled;
  const Json killed = *ParseJson(EncodeJobStatus(status));
  EXPECT_EQ(*killed.At("/conditions/0/type"), Json("Failed"));
  EXPECT_EQ(*killed.At("/conditions/0/reason"), Json("Killed"));
  status.phase = JobPhase::kRetryBackoff;
  EXPECT_EQ(ParseJson(EncodeJobStatus(status))->Find("conditions"), nullptr);
}

TEST(Codec, AStatusOf100000IndexesIsSmall) {
  JobStatus status;
  status.indexes = 100'000;
  for (int64_t i = 0; i < 100'000; ++i) status.succeeded_indexes.Insert(i);
  EXPECT_LT(EncodeJobStatus(status).size(), 512u);
}

TEST(Codec, AJobConfigIsReadWithItsTemplateAsText) {
  const auto spec = DecodeJobConfigSpec(R"({"concurrency":{"policy":"Forbid","maxConcurrency":2},
    "schedule":{"cron":{"expressions":["* * * * *","0 0 1 * *"],"timezone":"UTC"},
    "constraints":{"notBefore":"2026-11-21T18:00:00+08:00"},"disabled":true},
    "template":{"metadata":{"labels":{"a":"b"}},"spec":{"taskTemplate":{"exec":{"x":1.5}}}}})");
  ASSERT_TRUE(spec) << spec.error().message();
  EXPECT_EQ(spec->policy, ConcurrencyPolicy::kForbid);
  EXPECT_EQ(spec->max_concurrency, 2);
  ASSERT_TRUE(spec->schedule);
  EXPECT_EQ(spec->schedule->expressions.size(), 2u);
  EXPECT_EQ(spec->schedule->not_before, testing::Noon());
  EXPECT_TRUE(spec->schedule->disabled);
  EXPECT_EQ(spec->template_labels, (StringMap{{"a", "b"}}));
  EXPECT_EQ(spec->template_spec, R"({"taskTemplate":{"exec":{"x":1.5}}})");
  const auto job_template = DecodeJobTemplate(spec->template_spec);
  ASSERT_TRUE(job_template);
  EXPECT_EQ(job_template->task_template, (TaskTemplate{"exec", R"({"x":1.5})"}));
  EXPECT_EQ(job_template->index_count(), 1);
}

TEST(Codec, DamageIsToldWithTheField) {
  EXPECT_EQ(DecodeJobStatus(R"({"phase":"Asleep"})").error().message(),
            "status.phase: has the unknown value 'Asleep'");
  EXPECT_EQ(DecodeJobStatus(R"({"tasks":{"active":[{"index":"x"}]}})").error().message(),
            "status.tasks.active.index: must be an integer, not string");
  EXPECT_EQ(DecodeTaskStatus(R"({"handle":"?"})").error().message(),
            "status.handle: must be base64 as RFC 4648 has it");
  EXPECT_EQ(DecodeTaskStatus(R"({"extra":[1]})").error().message(),
            "status.extra: must be an object, not array");
  EXPECT_EQ(DecodeTaskSpec(R"({"index":1})").error().message(), "spec: has no executor");
  EXPECT_EQ(DecodeJobSpec(R"({"template":[]})").error().message(),
            "spec.template: must be an object, not array");
  EXPECT_EQ(DecodeJobConfigSpec("{}").error().message(), "spec.template: is required");
  EXPECT_EQ(DecodeJobTemplate("7").error().message(), "template: must be an object, not integer");
  EXPECT_EQ(DecodeMeta(*ParseJson(R"({"resourceVersion":"x"})")).error().message(),
            "metadata.resourceVersion: 'x' is not a version that this host gave out");
}

}  // namespace
}  // namespace detent
