#include "core/plugin/task_ref.h"

#include <algorithm>
#include <charconv>

#include "core/plugin/abi_convert.h"
#include "detent/ext/logs.h"

namespace detent {

std::string AbiKey(const std::string& key) {
  std::string abi_key = key;
  std::replace(abi_key.begin(), abi_key.end(), '/', '.');
  return abi_key;
}

std::string HostKey(std::string_view abi_key) {
  std::string key(abi_key);
  std::replace(key.begin(), key.end(), '.', '/');
  return key;
}

const void* LogsOf(const detent_executor& table) {
  if (!DETENT_HAS_FN(detent_executor, &table, extension)) return nullptr;
  return table.extension(DETENT_EXT_LOGS);
}

uint64_t IndexOf(const TaskOrder& order) {
  uint64_t index = 0;
  const size_t slash = order.key.find('/');
  if (slash == std::string::npos) return index;
  const char* digits = order.key.data() + slash + 1;
  std::from_chars(digits, order.key.data() + order.key.size(), index);
  return index;
}

std::string_view JobUidOf(const TaskOrder& order) {
  return std::string_view(order.key).substr(0, order.key.find('/'));
}

TaskRef::TaskRef(const TaskOrder& order, detent_task task, uint32_t flags)
    : key_(AbiKey(order.key)) {
  ref_.index = IndexOf(order);
  ref_.size = sizeof ref_;
  ref_.attempt = static_cast<uint32_t>(order.attempt);
  ref_.task = task;
  ref_.key = View(key_);
  ref_.name = View(order.name);
  ref_.namespace_ = View(order.ns);
  if (order.spec) ref_.spec = Bytes(*order.spec);
  if (!order.handle.empty() || order.handle_version != 0) {
    blob_ = {sizeof blob_, order.handle_version, Bytes(order.handle)};
    ref_.blob = &blob_;
  }
  ref_.last_phase = PhaseOf(order.last_state);
  ref_.flags = flags;
  ref_.job_name = View(order.job_name);
  ref_.job_uid = View(JobUidOf(order));
}

}  // namespace detent
