// Buffer: a reference to read-only bytes that the host holds (detent_buf), released on destruction.
// Copying takes another reference. May be used and destroyed on any thread.

#pragma once

#include <string_view>
#include <utility>

#include "detent/host.h"
#include "detent/sdk/text.h"

namespace detent::sdk {

class Buffer {
 public:
  Buffer() = default;

  // Takes over a reference that the caller owns (an `out` parameter).
  static Buffer Own(const detent_host* table, detent_buf buf) { return Buffer(table, buf); }

  // Takes a reference of its own to a buffer that was lent (a result's body).
  static Buffer Retain(const detent_host* table, detent_buf buf) {
    if (buf != 0) table->buf_retain(buf);
    return Buffer(table, buf);
  }

  Buffer(const Buffer& other) : Buffer(Retain(other.table_, other.buf_)) {}
  Buffer(Buffer&& other) noexcept
      : table_(other.table_), buf_(std::exchange(other.buf_, detent_buf{0})) {}
  Buffer& operator=(Buffer other) noexcept {
    std::swap(table_, other.table_);
    std::swap(buf_, other.buf_);
    return *this;
  }
  ~Buffer() {
    if (buf_ != 0) table_->buf_release(buf_);
  }

  // The bytes; valid while this or another reference lives.
  std::string_view view() const {
    detent_bytes bytes{nullptr, 0};
    if (buf_ == 0 || table_->buf_view(buf_, &bytes) != DETENT_OK) return {};
    return View(bytes);
  }

  detent_buf handle() const { return buf_; }
  explicit operator bool() const { return buf_ != 0; }

  // Gives the reference away, for an `out` parameter.
  detent_buf Release() && { return std::exchange(buf_, detent_buf{0}); }

 private:
  Buffer(const detent_host* table, detent_buf buf) : table_(table), buf_(buf) {}

  const detent_host* table_ = nullptr;
  detent_buf buf_ = 0;
};

}  // namespace detent::sdk
