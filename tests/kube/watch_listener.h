// Remembers what a watch tells, and waits for it.

#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "core/kube/watch.h"

namespace detent::testing {

// Any thread asks; waits last at most ten seconds, but where they say otherwise.
class WatchListener final : public WatchSink {
 public:
  void OnUpsert(const WatchedObjectPtr& object) override {
    const std::string name(object->name());
    Note("+" + name, [&] { there_[name] = object; });
  }
  void OnDelete(const WatchedObjectPtr& object) override {
    const std::string name(object->name());
    Note("-" + name, [&] { there_.erase(name); });
  }
  void OnSynced() override {
    Note("synced", [&] { ++synced_; });
  }
  void OnFailed(const KubeReply& reply) override {
    Note("failed: " + reply.reason, [&] { ++failed_; });
  }

  template <typename Holds>
  bool Wait(Holds&& holds, std::chrono::seconds patience = std::chrono::seconds(10)) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, holds);
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
  // Waits until these are the objects and their versions, for a minute and a half.
  bool WaitVersions(const std::map<std::string, std::string>& versions) {
    return Wait(
        [&] {
          return there_.size() == versions.size() &&
                 std::all_of(there_.begin(), there_.end(), [&](const auto& entry) {
                   const auto found = versions.find(entry.first);
                   return found != versions.end() &&
                          found->second == entry.second->resource_version();
                 });
        },
        std::chrono::seconds(90));
  }

  // For conditions of Wait.
  int synced() const { return synced_; }
  size_t there() const { return there_.size(); }

  // "name=version" of each object, by name.
  std::string There() {
    std::lock_guard lock(mutex_);
    std::string text;
    for (const auto& [name, object] : there_) {
      text += (text.empty() ? "" : " ") + name + "=";
      text += object->resource_version();
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

}  // namespace detent::testing
