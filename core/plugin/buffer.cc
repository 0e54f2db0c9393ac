#include "core/plugin/buffer.h"

#include "core/plugin/handle_table.h"

namespace detent {
namespace {

struct Buffer {
  std::atomic<uint32_t> references{0};
  std::string bytes;
  std::atomic<int64_t>* leaks = nullptr;
};

using Table = HandleTable<Buffer, std::mutex, 4096>;

Table& Buffers() {
  static auto* const table = new Table();
  return *table;
}

}  // namespace

detent_buf NewBuffer(std::string bytes, std::atomic<int64_t>* leaks) {
  const detent_buf handle = Buffers().Take([&](Buffer& buffer) {
    buffer.references.store(1, std::memory_order_relaxed);
    buffer.bytes = std::move(bytes);
    buffer.leaks = leaks;
  });
  if (handle != 0 && leaks != nullptr) leaks->fetch_add(1, std::memory_order_relaxed);
  return handle;
}

std::string_view BufferView(detent_buf handle) {
  const Buffer* buffer = Buffers().Find(handle);
  return buffer == nullptr ? std::string_view() : std::string_view(buffer->bytes);
}

bool BufferLives(detent_buf handle) {
  return Buffers().Find(handle) != nullptr;
}

void RetainBuffer(detent_buf handle) {
  Buffer* buffer = Buffers().Find(handle);
  if (buffer != nullptr) buffer->references.fetch_add(1, std::memory_order_relaxed);
}

void ReleaseBuffer(detent_buf handle) {
  Buffer* buffer = Buffers().Find(handle);
  if (buffer == nullptr) return;
  if (buffer->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (!Buffers().End(handle)) return;
  if (buffer->leaks != nullptr) buffer->leaks->fetch_sub(1, std::memory_order_relaxed);
  buffer->bytes = {};
  Buffers().Recycle(handle);
}

size_t LiveBuffers() {
  return Buffers().live();
}

}  // namespace detent
