// An executor whose plugin runs in this process: batches what the loop asks, and survives the
// instance behind it.
//
// The loop's thread makes the calls; Attach and Detach come from the plugin host. While no instance
// is attached, what is asked waits here in its order.

#pragma once

#include <mutex>
#include <vector>

#include "core/plugin/executor.h"
#include "core/plugin/instance_parts.h"

namespace detent {

class Instance;

class InProcessExecutor final : public Executor {
 public:
  void Start(TaskOrder order) override { batch_.emplace_back(StartCommand{std::move(order)}); }
  void Recover(TaskOrder order) override { batch_.emplace_back(RecoverCommand{std::move(order)}); }
  void Kill(KillOrder order) override { batch_.emplace_back(std::move(order)); }
  void ForceDelete(TaskId id) override { batch_.emplace_back(ForceDeleteCommand{id}); }
  void Release(TaskId id) override { batch_.emplace_back(ReleaseCommand{id}); }
  void Discard(const std::string& key) override { batch_.emplace_back(DiscardCommand{key}); }
  void LetGo(const std::string& key, bool remove) override {
    batch_.emplace_back(LetGoCommand{key, remove});
  }
  void Flush() override;

  // From here on commands go to `instance`; first of all it adopts `tasks`, which an earlier one
  // held. Then comes what was asked meanwhile.
  void Attach(Instance& instance, std::vector<TaskOrder> tasks);
  void Detach();

 private:
  std::vector<TaskCommand> batch_;  // The loop's thread only.
  std::mutex mutex_;
  Instance* instance_ = nullptr;  // Guarded by mutex_, as is the next.
  std::vector<TaskCommand> waiting_;
};

}  // namespace detent
