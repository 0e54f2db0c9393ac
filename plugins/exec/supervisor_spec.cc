#include "plugins/exec/supervisor_spec.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cstring>

#include "plugins/exec/record.h"

namespace detent::exec {
namespace {

// "arg 0\n\n" is the shortest record that adds to a list.
constexpr size_t kShortestRecord = 7;

uint64_t NumberAt(const char* text) {
  uint64_t value = 0;
  for (; *text >= '0' && *text <= '9'; ++text)
    value = value * 10 + static_cast<uint64_t>(*text - '0');
  return value;
}

}  // namespace

bool SupervisorSpec::Load(int directory_fd) {
  const int fd = openat(directory_fd, kSpecFile, O_RDONLY | O_CLOEXEC);
  struct stat info;
  if (fd < 0) return false;
  const bool usable = fstat(fd, &info) == 0 && info.st_size > 0;
  void* text = MAP_FAILED;
  if (usable) {
    mapping_size_ = static_cast<size_t>(info.st_size);
    // Private and writable: the reader puts NULs between the values.
    text = mmap(nullptr, mapping_size_, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
  }
  close(fd);
  if (text == MAP_FAILED) return false;
  mapping_ = text;
  // Room for the most pointers there could be; untouched pages cost nothing.
  lists_size_ = 2 * (mapping_size_ / kShortestRecord + 2) * sizeof(char*);
  lists_ = mmap(nullptr, lists_size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return lists_ != MAP_FAILED && Read(static_cast<char*>(text), mapping_size_);
}

bool SupervisorSpec::Read(char* text, size_t size) {
  child.argv = static_cast<char**>(lists_);
  child.envp = child.argv + size / kShortestRecord + 2;
  size_t args = 0;
  size_t variables = 0;
  RecordReader reader(text, size);
  Record record;
  while (reader.Next(&record)) {
    const int64_t number = record.Number();
    if (record.Is(kSpecArg)) child.argv[args++] = record.value;
    if (record.Is(kSpecEnv)) child.envp[variables++] = record.value;
    if (record.Is(kSpecDirectory)) child.working_directory = record.value;
    if (record.Is(kSpecStdin)) {
      child.stdin_text = record.value;
      child.stdin_size = record.length;
    }
    if (record.Is(kSpecUid)) child.uid = number;
    if (record.Is(kSpecGid)) child.gid = number;
    if (record.Is(kSpecGroup) && child.group_count < ChildSpec::kGroupsMax) {
      child.groups[child.group_count++] = static_cast<gid_t>(number);
    }
    if (record.Is(kSpecLimit)) ReadLimit(record.value);
    if (record.Is(kSpecCgroup)) ReadCgroup(record.value);
    if (record.Is(kSpecCgroupSet) && cgroup_setting_count < kCgroupSettingsMax) {
      cgroup_settings[cgroup_setting_count++] = record.value;
    }
    if (record.Is(kSpecTimeout)) timeout_ns = static_cast<uint64_t>(number);
    if (record.Is(kSpecGrace)) grace_ns = static_cast<uint64_t>(number);
    if (record.Is(kSpecLogLimit)) log_limit = static_cast<uint64_t>(number);
    if (record.Is(kSpecLogFiles)) log_files = static_cast<uint32_t>(number);
    if (record.Is(kSpecMark)) mark = record.value;
  }
  return reader.complete() && args > 0;
}

void SupervisorSpec::ReadLimit(const char* text) {
  const char* const space = std::strchr(text, ' ');
  if (space == nullptr || child.limit_count == ChildSpec::kLimitsMax) return;
  child.limits[child.limit_count++] = {static_cast<int>(NumberAt(text)), NumberAt(space + 1)};
}

void SupervisorSpec::ReadCgroup(const char* path) {
  const size_t length = std::strlen(path);
  if (length >= sizeof(cgroup_path_)) return;
  std::memcpy(cgroup_path_, path, length + 1);
  cgroup = cgroup_path_;
}

void SupervisorSpec::Unmap() {
  if (mapping_ != nullptr) munmap(mapping_, mapping_size_);
  if (lists_ != nullptr) munmap(lists_, lists_size_);
  mapping_ = nullptr;
  lists_ = nullptr;
  child.argv = child.envp = nullptr;
  mark = "";
}

}  // namespace detent::exec
