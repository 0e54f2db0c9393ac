// A plugin host with one plugin, and the controllers' side of it: gathers events, and waits for
// those that a test expects.

#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <filesystem>
#include <mutex>

#include "core/net/curl_transport.h"
#include "core/plugin/plugin_host.h"

namespace detent::testing {

// The file of a test plugin, by the name in CMakeLists.txt.
std::string PluginPath(const std::string& name);

class Events final : public ExecutorSink {
 public:
  void Post(std::vector<ExecutorEvent>& events) override {
    std::lock_guard lock(mutex_);
    for (ExecutorEvent& event : events) {
      if (auto* request = std::get_if<CheckpointRequest>(&event)) request->ack(true);
      all_.push_back(std::move(event));
    }
    events.clear();
    arrived_.notify_all();
  }

  // The first event of that type for which `wanted` holds; fails the test after ten seconds.
  template <typename T, typename Wanted>
  T Wait(Wanted&& wanted) {
    std::unique_lock lock(mutex_);
    T found;
    const bool came = arrived_.wait_for(lock, std::chrono::seconds(10), [&] {
      for (const ExecutorEvent& event : all_) {
        const T* typed = std::get_if<T>(&event);
        if (typed == nullptr || !wanted(*typed)) continue;
        found = *typed;
        return true;
      }
      return false;
    });
    EXPECT_TRUE(came) << "the expected event did not come";
    return found;
  }

  template <typename T>
  T Of(TaskId id) {
    return Wait<T>([id](const T& event) { return event.id == id; });
  }
  TaskStatus End(TaskId id) {
    return Wait<TaskNews>([id](const TaskNews& news) {
             return news.id == id && news.status.state == TaskState::kTerminated;
           })
        .status;
  }
  // Waits until that many tasks are over.
  void WaitForEnds(size_t wanted) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(arrived_.wait_for(lock, std::chrono::seconds(30), [&] {
      size_t ended = 0;
      for (const ExecutorEvent& event : all_) {
        const auto* news = std::get_if<TaskNews>(&event);
        if (news != nullptr && news->status.state == TaskState::kTerminated) ++ended;
      }
      return ended == wanted;
    }));
  }
  template <typename T>
  size_t Count() {
    std::lock_guard lock(mutex_);
    size_t count = 0;
    for (const ExecutorEvent& event : all_) count += std::holds_alternative<T>(event) ? 1 : 0;
    return count;
  }
  void Clear() {
    std::lock_guard lock(mutex_);
    all_.clear();
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<ExecutorEvent> all_;
};

class HostFixture : public ::testing::Test {
 protected:
  HostFixture() {
    options_.state_root = (std::filesystem::temp_directory_path() /
                           ("detent-plugin-test-" + std::to_string(getpid())))
                              .string();
    options_.retry_first = std::chrono::milliseconds(10);
    options_.deadlines.sweep = std::chrono::milliseconds(20);
    config_.kind = "good";
    config_.path = PluginPath("good");
  }
  ~HostFixture() override {
    host_.reset();
    std::filesystem::remove_all(options_.state_root);
  }

  // Starts the host; waits until the plugin is usable.
  void Start() {
    HostParts parts;
    parts.clock = &clock_;
    parts.http = http_;
    parts.sink = &events_;
    std::vector<PluginConfig> all{config_};
    all.insert(all.end(), more_.begin(), more_.end());
    host_ = std::make_unique<PluginHost>(std::move(all), options_, parts);
    host_->Start();
  }
  void StartReady() {
    Start();
    events_.Wait<ExecutorChange>([](const ExecutorChange& change) { return change.usable; });
  }
  TaskOrder Order(TaskId id, const std::string& spec) {
    TaskOrder order;
    order.id = id;
    order.key = "uid/" + std::to_string(id) + "/1";
    order.name = "job-" + std::to_string(id) + "-1";
    order.ns = "default";
    order.job_name = "job";
    order.spec = MakeSpecText(spec);
    return order;
  }
  void StartTask(TaskId id, const std::string& spec) {
    host_->Find("good")->Start(Order(id, spec));
    host_->FlushAll();
  }

  SystemClock clock_;
  CurlTransport transport_{{}, clock_};
  HttpTransport* http_ = &transport_;
  Events events_;
  PluginConfig config_;
  std::vector<PluginConfig> more_;  // Further instances.
  PluginHostOptions options_;
  std::unique_ptr<PluginHost> host_;
};

}  // namespace detent::testing
