#include "plugins/exec/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

namespace detent::exec {
namespace {

constexpr int kQueueMax = 4096;

// The walk's list of processes; those before `next` have been looked below already.
struct Queue {
  pid_t pids[kQueueMax];
  int count = 0;
};

char* Append(char* at, const char* text) {
  const size_t length = std::strlen(text);
  std::memcpy(at, text, length + 1);
  return at + length;
}

char* Append(char* at, pid_t pid) {
  return at + FormatNumber(static_cast<uint64_t>(pid), at);
}

// The n-th field after the command's name (state is field 1); the name itself may contain spaces
// and parentheses, hence the search from the end.
const char* FieldAfterName(const char* stat, int n) {
  const char* at = std::strrchr(stat, ')');
  for (int i = 0; at != nullptr && i < n; ++i) {
    at = std::strchr(at, ' ');
    if (at != nullptr) ++at;
  }
  return at;
}

uint64_t StatNumber(const char* text) {
  uint64_t value = 0;
  for (; text != nullptr && *text >= '0' && *text <= '9'; ++text) {
    value = value * 10 + static_cast<uint64_t>(*text - '0');
  }
  return value;
}

// Adds the pids in one thread's list of children, which may be longer than the buffer.
void AddChildrenOfThread(const char* path, Queue* queue) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  char text[4096];
  uint64_t pid = 0;
  for (;;) {
    const ssize_t got = read(fd, text, sizeof(text));
    if (got <= 0) break;
    for (ssize_t i = 0; i < got; ++i) {
      if (text[i] >= '0' && text[i] <= '9') {
        pid = pid * 10 + static_cast<uint64_t>(text[i] - '0');
        continue;
      }
      if (pid != 0 && queue->count < kQueueMax) {
        queue->pids[queue->count++] = static_cast<pid_t>(pid);
      }
      pid = 0;
    }
  }
  close(fd);
}

// The children of a process are listed by thread: a thread is the parent of what it forked.
void AddChildren(pid_t parent, Queue* queue) {
  char path[96];
  char* const tasks = Append(Append(Append(path, "/proc/"), parent), "/task/");
  const int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return;
  alignas(8) char entries[4096];
  for (;;) {
    const long got = syscall(SYS_getdents64, directory, entries, sizeof(entries));
    if (got <= 0) break;
    for (long at = 0; at < got;) {
      // struct dirent64 has the layout of what the kernel writes.
      auto* entry = reinterpret_cast<struct dirent64*>(entries + at);
      at += entry->d_reclen;
      if (entry->d_name[0] < '0' || entry->d_name[0] > '9') continue;
      Append(Append(tasks, entry->d_name), "/children");
      AddChildrenOfThread(path, queue);
    }
  }
  close(directory);
}

}  // namespace

int FormatNumber(uint64_t value, char* out) {
  char reversed[20];
  int count = 0;
  do {
    reversed[count++] = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value != 0);
  for (int i = 0; i < count; ++i) out[i] = reversed[count - 1 - i];
  out[count] = '\0';
  return count;
}

size_t ReadSmallFile(int directory_fd, const char* path, char* out, size_t capacity) {
  const int fd = openat(directory_fd, path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  size_t used = 0;
  while (used < capacity - 1) {
    const ssize_t got = read(fd, out + used, capacity - 1 - used);
    if (got <= 0) break;
    used += static_cast<size_t>(got);
  }
  close(fd);
  out[used] = '\0';
  return used;
}

bool ReadProcessStat(pid_t pid, ProcessStat* out) {
  if (pid <= 0) return false;
  char path[48];
  char text[1024];
  Append(Append(Append(path, "/proc/"), pid), "/stat");
  if (ReadSmallFile(AT_FDCWD, path, text, sizeof(text)) == 0) return false;
  const char* const state = FieldAfterName(text, 1);
  if (state == nullptr) return false;
  out->state = *state;
  out->parent = static_cast<pid_t>(StatNumber(FieldAfterName(text, 2)));
  out->group = static_cast<pid_t>(StatNumber(FieldAfterName(text, 3)));
  out->start_ticks = StatNumber(FieldAfterName(text, 20));
  return true;
}

void ForEachDescendant(pid_t root, VisitProcess visit, void* context) {
  Queue queue;
  AddChildren(root, &queue);
  for (int next = 0; next < queue.count; ++next) {
    visit(context, queue.pids[next]);
    AddChildren(queue.pids[next], &queue);
  }
}

}  // namespace detent::exec
