#include "core/plugin/in_process_executor.h"

#include <iterator>
#include <utility>

#include "core/plugin/instance.h"

namespace detent {

void InProcessExecutor::Flush() {
  if (batch_.empty()) return;
  std::vector<TaskCommand> batch;
  batch.swap(batch_);
  std::lock_guard lock(mutex_);
  if (instance_ != nullptr) {
    instance_->Submit(std::move(batch));
  } else {
    std::move(batch.begin(), batch.end(), std::back_inserter(waiting_));
  }
}

void InProcessExecutor::Attach(Instance& instance, std::vector<TaskOrder> tasks) {
  std::vector<TaskCommand> commands;
  for (TaskOrder& order : tasks) commands.emplace_back(AdoptCommand{std::move(order)});
  std::lock_guard lock(mutex_);
  std::move(waiting_.begin(), waiting_.end(), std::back_inserter(commands));
  waiting_.clear();
  instance_ = &instance;
  if (!commands.empty()) instance.Submit(std::move(commands));
}

void InProcessExecutor::Detach() {
  std::lock_guard lock(mutex_);
  instance_ = nullptr;
}

}  // namespace detent
