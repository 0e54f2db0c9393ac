// ExecTest: a FakeHost with the exec plugin and a state directory of its own, and the promise that
// nothing of a test is left: at the end no process may carry the test's keys, be it in its
// environment (tasks) or its arguments (supervisors).

#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/plugins/fake_host.h"

namespace detent::testing {

class ExecTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  // A host on this test's state directory; replaces the one there is.
  FakeHost& NewHost(std::string_view config = "{}");
  FakeHost& host() { return *host_; }

  // A key that only this test uses.
  std::string Key(std::string_view suffix = "a") const { return prefix_ + std::string(suffix); }

  // A task of `spec` that has been started, with key Key(suffix).
  detent_task Started(std::string_view spec, std::string_view suffix = "a");
  // The same, after it has ended.
  Update Ended(std::string_view spec, std::string_view suffix = "a");

  // The text of all its log lines, without times; "1:" or "2:" stands for the stream, "+" behind a
  // part.
  std::string Log(std::string_view suffix = "a");
  std::string RawLog(std::string_view suffix = "a");

  // Waits until `text` stands in its log.
  bool AwaitLog(std::string_view text, std::string_view suffix = "a");

  const std::string& directory() const { return directory_; }
  std::string TaskPath(std::string_view suffix = "a") const {
    return directory_ + "/state/tasks/" + Key(suffix);
  }
  // The directory where tasks of a test may write.
  std::string WorkPath(std::string_view name) const {
    return directory_ + "/cwd/" + std::string(name);
  }

  // Processes of this test that live now: supervisors, tasks, or both.
  std::vector<pid_t> Processes() const;
  std::vector<pid_t> Supervisors() const;

 private:
  std::string prefix_;
  std::string directory_;
  std::unique_ptr<FakeHost> host_;
};

// A JSON string with its quotes.
std::string Quoted(std::string_view text);

// A spec that runs a shell script, with further fields: Script("exit 3", R"("timeoutSeconds":1)").
std::string Script(std::string_view script, std::string_view more = {});

std::string ReadFile(const std::string& path);

}  // namespace detent::testing
