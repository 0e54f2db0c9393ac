// Status and Result<T>: how fallible code inside a plugin answers, turned into a detent_result at
// the border. Values that own their text; any thread. Nothing in the SDK throws across the border,
// and code written with these needs no exceptions at all.

#pragma once

#include <optional>
#include <string>
#include <utility>

#include "detent/sdk/text.h"
#include "detent/status.h"

namespace detent::sdk {

// A status code with its reason (CamelCase, for machines) and message (a sentence, for people).
class [[nodiscard]] Status {
 public:
  Status() = default;  // OK
  Status(detent_status code, std::string reason, std::string message)
      : code_(code), reason_(std::move(reason)), message_(std::move(message)) {}

  // Copies what a host's answer says.
  explicit Status(const detent_result& result)
      : code_(result.code),
        retry_(result.retry),
        retry_after_ms_(result.retry_after_ms),
        reason_(View(result.reason)),
        message_(View(result.message)) {}

  bool ok() const { return code_ >= 0; }
  detent_status code() const { return code_; }
  uint32_t retry() const { return retry_; }
  uint32_t retry_after_ms() const { return retry_after_ms_; }
  const std::string& reason() const { return reason_; }
  const std::string& message() const { return message_; }

  // Adds what is known about trying again: DETENT_HINT_*.
  Status Retry(uint32_t hint, uint32_t after_ms = 0) && {
    retry_ = hint;
    retry_after_ms_ = after_ms;
    return std::move(*this);
  }

 private:
  detent_status code_ = DETENT_OK;
  uint32_t retry_ = DETENT_HINT_UNKNOWN;
  uint32_t retry_after_ms_ = 0;
  std::string reason_;
  std::string message_;
};

inline Status Invalid(std::string reason, std::string message) {
  return {DETENT_E_INVALID, std::move(reason), std::move(message)};
}
inline Status Unavailable(std::string reason, std::string message) {
  return {DETENT_E_UNAVAILABLE, std::move(reason), std::move(message)};
}
inline Status Internal(std::string message) {
  return {DETENT_E_INTERNAL, "Internal", std::move(message)};
}

// A detent_result that borrows the status's text; use it while `status` lives.
inline detent_result ResultOf(const Status& status) {
  detent_result result{};
  result.size = sizeof(result);
  result.code = status.code();
  result.retry = status.retry();
  result.retry_after_ms = status.retry_after_ms();
  result.reason = Str(status.reason());
  result.message = Str(status.message());
  return result;
}

// A value, or the Status (never OK) that says why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}         // NOLINT(google-explicit-constructor)
  Result(Status status) : status_(std::move(status)) {  // NOLINT(google-explicit-constructor)
    if (status_.ok()) status_ = Internal("an OK status was returned where a value was promised");
  }

  explicit operator bool() const { return value_.has_value(); }
  const Status& status() const { return status_; }

  // Requires a value.
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return *std::move(value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace detent::sdk
