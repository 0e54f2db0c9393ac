// Handles for things that cross the plugin border: an index and a generation, never a pointer.
//
// A handle that has ended is found out, however late it is used, because its slot's generation has
// moved on. Find and End are lock-free from any thread. Slots have stable addresses and are never
// given back to the system before the table ends. `Mutex` guards Take and Recycle only: NoMutex
// where one thread alone does both. It holds at most kChunks * 256 handles.

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace detent {

struct NoMutex {
  void lock() {}
  void unlock() {}
};

template <typename T, typename Mutex = std::mutex, uint32_t kChunks = 512>
class HandleTable {
 public:
  HandleTable() = default;
  ~HandleTable() {
    for (auto& chunk : chunks_) delete[] chunk.load(std::memory_order_relaxed);
  }
  HandleTable(const HandleTable&) = delete;
  HandleTable& operator=(const HandleTable&) = delete;

  // Begins a handle; `fill(T&)` prepares its value before anybody can find it. 0: the table is
  // full.
  template <typename Fill>
  uint64_t Take(Fill&& fill) {
    std::lock_guard<Mutex> lock(mutex_);
    uint32_t index = 0;
    if (!free_.empty()) {
      index = free_.back();
      free_.pop_back();
    } else {
      if (used_ == kChunks * kChunkSlots) return 0;
      if (used_ % kChunkSlots == 0) {
        chunks_[used_ / kChunkSlots].store(new Slot[kChunkSlots], std::memory_order_release);
      }
      index = used_++;
    }
    Slot& slot = At(index);
    fill(slot.value);
    const uint32_t generation = slot.generation.load(std::memory_order_relaxed) + 1;
    slot.generation.store(generation, std::memory_order_release);
    Count(1);
    return uint64_t{generation} << 32 | (index + 1);
  }

  // The value, or null once the handle has ended. Who may touch it, the table does not say.
  T* Find(uint64_t handle) {
    Slot* slot = SlotOf(handle);
    if (slot == nullptr) return nullptr;
    const bool live = slot->generation.load(std::memory_order_acquire) == handle >> 32;
    return live ? &slot->value : nullptr;
  }

  // Ends a handle: true for exactly one caller, to whom the value belongs until Recycle.
  bool End(uint64_t handle) {
    Slot* slot = SlotOf(handle);
    if (slot == nullptr) return false;
    auto expected = static_cast<uint32_t>(handle >> 32);
    if ((expected & 1) == 0) return false;
    return slot->generation.compare_exchange_strong(expected, expected + 1,
                                                    std::memory_order_acq_rel);
  }

  // The value of a handle that this caller has ended.
  T& Ended(uint64_t handle) { return SlotOf(handle)->value; }

  // Gives the slot of an ended handle back.
  void Recycle(uint64_t handle) {
    std::lock_guard<Mutex> lock(mutex_);
    free_.push_back(static_cast<uint32_t>(handle) - 1);
    Count(-1);
  }

  // Handles that are neither ended nor recycled yet, roughly.
  size_t live() const { return live_.load(std::memory_order_relaxed); }

  // All handles that live now. Costs as much as the table ever held.
  std::vector<uint64_t> Handles() {
    std::lock_guard<Mutex> lock(mutex_);
    std::vector<uint64_t> handles;
    for (uint32_t index = 0; index < used_; ++index) {
      const uint32_t generation = At(index).generation.load(std::memory_order_acquire);
      if (generation & 1) handles.push_back(uint64_t{generation} << 32 | (index + 1));
    }
    return handles;
  }

 private:
  struct Slot {
    std::atomic<uint32_t> generation{0};  // Odd while the handle lives.
    T value{};
  };
  static constexpr uint32_t kChunkSlots = 256;

  Slot& At(uint32_t index) {
    return chunks_[index / kChunkSlots].load(std::memory_order_acquire)[index % kChunkSlots];
  }
  Slot* SlotOf(uint64_t handle) {
    const uint32_t index = static_cast<uint32_t>(handle) - 1;
    if (static_cast<uint32_t>(handle) == 0 || index >= kChunks * kChunkSlots) return nullptr;
    Slot* chunk = chunks_[index / kChunkSlots].load(std::memory_order_acquire);
    return chunk == nullptr ? nullptr : &chunk[index % kChunkSlots];
  }

  // Written by one thread at a time, so that no locked instruction is needed; read by any.
  void Count(int by) {
    live_.store(live_.load(std::memory_order_relaxed) + static_cast<size_t>(by),
                std::memory_order_relaxed);
  }

  std::array<std::atomic<Slot*>, kChunks> chunks_{};
  Mutex mutex_;
  std::vector<uint32_t> free_;  // Guarded by mutex_, as is used_.
  uint32_t used_ = 0;
  std::atomic<size_t> live_{0};
};

}  // namespace detent
