// A client in front of a FakeApiServer, and a listener that remembers what a watch tells.

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/log.h"
#include "core/kube/client.h"
#include "core/kube/watch.h"
#include "tests/kube/fake_api_server.h"

namespace detent::testing {

// Any thread asks; waits last at most ten seconds.
class WatchListener final : public WatchSink {
 public:
  void OnUpsert(const WatchedObjectPtr& object) override {
    Note("+" + object->name, [&] { there_[object->name] = object; });
  }
  void OnDelete(const WatchedObjectPtr& object) override {
    Note("-" + object->name, [&] { there_.erase(object->name); });
  }
  void OnSynced() override {
    Note("synced", [&] { ++synced_; });
  }
  void OnFailed(const KubeReply& reply) override {
    Note("failed: " + reply.reason, [&] { ++failed_; });
  }

  template <typename Holds>
  bool Wait(Holds&& holds) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(10), holds);
  }
  bool WaitSynced(int times = 1) {
    return Wait([&] { return synced_ >= times; });
  }
  bool WaitFailed(int times = 1) {
    return Wait([&] { return failed_ >= times; });
  }
  bool WaitTold(const std::string& what) {
    return Wait([&] { return std::find(told_.begin(), told_.end(), what) != told_.end(); });
  }
  bool WaitThere(size_t count) {
    return Wait([&] { return there_.size() == count; });
  }

  // "name=version" of each object, by name.
  std::string There() {
    std::lock_guard lock(mutex_);
    std::string text;
    for (const auto& [name, object] : there_) {
      text += (text.empty() ? "" : " ") + name + "=" + object->resource_version;
    }
    return text;
  }
  WatchedObjectPtr Of(const std::string& name) {
    std::lock_guard lock(mutex_);
    return there_[name];
  }
  // What was told since the last call, joined by spaces.
  std::string TakeTold() {
    std::lock_guard lock(mutex_);
    std::string text;
    for (const std::string& item : told_) text += (text.empty() ? "" : " ") + item;
    told_.clear();
    return text;
  }

 private:
  template <typename Change>
  void Note(std::string what, Change&& change) {
    std::lock_guard lock(mutex_);
    change();
    told_.push_back(std::move(what));
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, WatchedObjectPtr> there_;  // Guarded by mutex_, as is all below.
  std::vector<std::string> told_;
  int synced_ = 0, failed_ = 0;
};

class WatchFixture : public ::testing::Test {
 protected:
  WatchFixture() {
    watch_options_.backoff_first = std::chrono::milliseconds(2);
    watch_options_.backoff_most = std::chrono::milliseconds(20);
    ClusterAccess access;
    access.server = server_.Url();
    KubeClientOptions options;
    options.tries_max = 1;  // What is repeated, the watch repeats.
    options.backoff_first = std::chrono::milliseconds(2);
    client_ = std::make_unique<KubeClient>(access, options, clock_, log_);
  }

  static std::string ThingPath(const std::string& name) {
    return "/api/v1/namespaces/ns/things/" + name;
  }
  void PutThings(int count) {
    for (int i = 0; i < count; ++i) server_.Put(ThingPath("t" + std::to_string(i)));
  }
  // The present version of an object, as the server has it.
  std::string VersionOf(const std::string& name) {
    const Json object = server_.Get(ThingPath(name));
    return object.is_null() ? "" : object.At("/metadata/resourceVersion")->as_string();
  }

  const WatchScope scope_{{"", "v1", "things", ""}, "ns", "", ""};
  WatchOptions watch_options_;
  SystemClock clock_;
  Logger log_{LogLevel::kError, [](std::string_view) {}};
  FakeApiServer server_;
  std::unique_ptr<KubeClient> client_;
};

}  // namespace detent::testing
