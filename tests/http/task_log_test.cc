#include "core/http/task_log.h"

#include <gtest/gtest.h>

#include "core/api/codec.h"
#include "core/base/metrics.h"
#include "core/base/random.h"
#include "core/http/api.h"
#include "core/store/memory_store.h"

namespace detent {
namespace {

class NoKinds final : public SpecValidator {
 public:
  std::vector<std::string> Kinds() const override { return {}; }
  Diagnostics Validate(std::string_view, std::string_view) const override { return {}; }
};

// Gives its text out in small pieces of whole lines, and ends the task when all is read.
class OneLog final : public Admin {
 public:
  Result<std::vector<std::string>> Explain(const ObjectKey& key) override {
    return std::vector<std::string>{"why " + ToString(key)};
  }
  std::vector<PluginInfo> Plugins() override {
    PluginInfo plugin;
    plugin.kind = "exec";
    return {plugin};
  }
  Result<void> ReloadPlugin(std::string_view) override { return {}; }
  Result<LogChunk> ReadLog(const LogQuery& query) override {
    if (unsupported) return Error(Code::kUnsupported, "keeps no output");
    key = query.task_key;
    const auto from = static_cast<size_t>(query.offset);
    const size_t end = text.find('\n', from);
    if (end == std::string::npos) {
      if (on_end) on_end();
      return LogChunk{"", query.offset, false};
    }
    return LogChunk{text.substr(from, end + 1 - from), static_cast<int64_t>(end + 1), false};
  }
  std::vector<std::pair<std::string, Json>> ExecutorSchemas() override { return {}; }

  std::string text;
  std::string key;
  bool unsupported = false;
  std::function<void()> on_end;
};

class Gathered final : public BodySink {
 public:
  bool Write(std::string_view piece) override {
    text += piece;
    return true;
  }
  bool Alive() override { return true; }
  std::string text;
};

class TaskLogTest : public ::testing::Test {
 protected:
  void SetUp() override {
    context_.store = &store_;
    context_.clock = &clock_;
    context_.random = &random_;
    context_.validator = &validator_;
    context_.admin = &admin_;
    context_.metrics = &metrics_;
    auto task = std::make_shared<Object>();
    task->kind = Kind::kTask;
    task->meta.ns = "n";
    task->meta.name = "t";
    TaskSpec spec;
    spec.job_uid = "uid";
    spec.kind = "exec";
    spec.executor_spec = "{}";
    task->spec = EncodeTaskSpec(spec);
    Put(WriteOp::kCreate, task);
    admin_.text = "1Z stdout F one\n2Z stdout P tw\n3Z stderr F o\n4Z stdout F three\n";
  }
  void Put(WriteOp op, std::shared_ptr<Object> object) {
    Write write;
    write.op = op;
    write.object = std::move(object);
    Transaction transaction;
    transaction.push_back(std::move(write));
    ASSERT_TRUE(SubmitAndWait(store_, std::move(transaction)));
  }
  Response Ask(const std::string& method, const std::string& target) {
    Request request;
    request.method = method;
    EXPECT_TRUE(SetTarget(request, target));
    return MakeApi(context_)(request);
  }
  std::string Log(const std::string& query) {
    const Response response =
        Ask("GET", "/apis/execution.detent.dev/v1alpha1/namespaces/n/tasks/t/log" + query);
    if (!response.stream) return std::to_string(response.status);
    Gathered sink;
    EXPECT_TRUE(response.stream(sink));
    return sink.text;
  }

  MemoryStore store_;
  SystemClock clock_;
  SystemRandom random_;
  NoKinds validator_;
  OneLog admin_;
  Metrics metrics_;
  ApiContext context_;
};

TEST_F(TaskLogTest, IsTextInTheFormThatWasAskedFor) {
  struct Row {
    const char* query;
    const char* text;
  };
  for (const Row& row :
       {Row{"", "one\ntwo\nthree\n"}, Row{"?tailLines=2", "two\nthree\n"}, Row{"?tailLines=0", ""},
        Row{"?tailLines=9", "one\ntwo\nthree\n"}, Row{"?limitBytes=5", "one\nt"},
        Row{"?offset=16", "two\nthree\n"}, Row{"?timestamps=true", "1Z one\n2Z two\n4Z three\n"},
        Row{"?raw=1&tailLines=1", "4Z stdout F three\n"}, Row{"?offset=x", "400"}}) {
    EXPECT_EQ(Log(row.query), row.text) << row.query;
  }
  EXPECT_EQ(admin_.key, "uid/0/1");
  admin_.unsupported = true;
  EXPECT_EQ(Log(""), "501");
}

TEST_F(TaskLogTest, IsFollowedUntilTheTaskHasEnded) {
  admin_.on_end = [this] {
    admin_.on_end = nullptr;
    admin_.text += "5Z stdout F four\n";
    auto task = std::make_shared<Object>(**store_.Read({Kind::kTask, "n", "t"}));
    TaskStatus status;
    status.state = TaskState::kTerminated;
    task->status = EncodeTaskStatus(status);
    Put(WriteOp::kUpdate, task);
  };
  EXPECT_EQ(Log("?follow=true"), "one\ntwo\nthree\nfour\n");
}

TEST_F(TaskLogTest, ReasonsAndPluginsAreShown) {
  const Response why = Ask("GET", "/apis/execution.detent.dev/v1alpha1/namespaces/n/tasks/t/why");
  EXPECT_NE(why.body.find(R"("lines":["why task n/t"])"), std::string::npos) << why.body;
  EXPECT_NE(Ask("GET", "/detent/v1/plugins").body.find(R"("kind":"exec")"), std::string::npos);
  EXPECT_EQ(Ask("POST", "/detent/v1/plugins/exec/reload").status, 200);
  EXPECT_NE(Ask("GET", "/readyz?verbose").body.find("readyz check passed"), std::string::npos);
  EXPECT_NE(Ask("GET", "/metrics").body.find("detent_http_requests_total"), std::string::npos);
}

}  // namespace
}  // namespace detent
