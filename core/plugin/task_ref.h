// A task's order in the words of the border. Borrows the order; lives for one call.

#pragma once

#include <string>
#include <string_view>

#include "core/plugin/executor.h"
#include "detent/detent.h"

namespace detent {

// A task's key as plugins see it. "<uid>/<index>/<attempt>" becomes "<uid>.<index>.<attempt>",
// since plugins may use it as a file's name.
std::string AbiKey(const std::string& key);
// And back: UIDs contain no '.'.
std::string HostKey(std::string_view abi_key);

// The parallel index that a task is an attempt at, as its key tells (core/base/names.h).
uint64_t IndexOf(const TaskOrder& order);

// The UID of the Job that it is of, likewise. A part of the key.
std::string_view JobUidOf(const TaskOrder& order);

// The table of the logs extension, or null.
const void* LogsOf(const detent_executor& table);

class TaskRef {
 public:
  TaskRef(const TaskOrder& order, detent_task task, uint32_t flags);
  TaskRef(const TaskRef&) = delete;
  TaskRef& operator=(const TaskRef&) = delete;
  const detent_task_ref* get() const { return &ref_; }

 private:
  std::string key_;
  detent_blob blob_{};
  detent_task_ref ref_{};
};

}  // namespace detent
