// An engine whose executor's own objects are the record of a task: nothing but the Job is stored.

#pragma once

#include <gtest/gtest.h>

#include <string>

#include "core/base/names.h"
#include "tests/control/engine_fixture.h"

namespace detent {

class BackendRecord : public testing::Test {
 protected:
  BackendRecord() {
    executor.backend_record = true;
    executor.behaviour = [](const TaskOrder&) { return std::nullopt; };
  }

  static std::string JobOf(int indexes, const std::string& more = "") {
    return R"({"template":{"parallelism":{"withCount":)" + std::to_string(indexes) + "}" + more +
           R"(,"taskTemplate":{"exec":{"command":["a"]}}}})";
  }
  static std::string KeyOf(int64_t index, int64_t attempt) {
    return TaskKey(DerivedUid("job"), index, attempt);
  }
  void TellOf(const std::string& key) {
    executor.news.emplace_back(StrayObject{"exec", key});
    world.Settle();
  }
  // Ends that many of the tasks that run, in the order in which they began.
  void EndSome(int count) {
    while (count-- > 0) executor.End(executor.live.begin()->first, Ended(TaskResult::kSucceeded));
    world.Settle();
  }
  int WritesOf(const std::string& job) { return world.writes[{Kind::kJob, "n", job}]; }

  EngineWorld world;
  FakeExecutor& executor = world.directory.executor;
};

}  // namespace detent
