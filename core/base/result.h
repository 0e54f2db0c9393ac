// A value or the reason why there is none: what every fallible function of the core returns.
//
// The names follow std::expected (C++23), which GCC 12 does not offer in C++20 mode, so that it can
// replace this file one day. Plain values: copy, move and compare from any thread that owns them.

#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace detent {

// What went wrong, sorted by what the caller can do about it (see RemedyOf).
enum class Code {
  kInvalid,        // The input is wrong; repeating it cannot help. HTTP 400 or 422.
  kUnauthorized,   // Nobody has said who is asking. HTTP 401.
  kForbidden,      // Not allowed, whoever asks again. HTTP 403.
  kNotFound,       // The thing does not exist. Often not a failure at all. HTTP 404.
  kUnsupported,    // This host does not offer it. HTTP 405 or 501.
  kAlreadyExists,  // The name is taken. HTTP 409.
  kConflict,       // Somebody changed it first: read again, then decide again. HTTP 409.
  kExpired,        // The version asked for is no longer kept: list again. HTTP 410.
  kTooLarge,       // Over a limit that the message names. HTTP 413.
  kBusy,           // Over a rate or queue limit: try later. HTTP 429.
  kUnavailable,    // The other side does not answer: try later, with backoff. HTTP 503.
  kDeadline,       // It took longer than allowed. HTTP 504.
  kInternal,       // We, or the disk, broke a promise. HTTP 500.
};

enum class Remedy { kFixInput, kGone, kReread, kRetry, kReportBug };

Remedy RemedyOf(Code code);

// The CamelCase name of a code, as logs and messages show it ("NotFound").
const char* NameOf(Code code);

class [[nodiscard]] Error {
 public:
  Error(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  Code code() const { return code_; }
  Remedy remedy() const { return RemedyOf(code_); }

  // One sentence for a person, read outside-in: "load plugin 'http': open '/x.so': no such file".
  const std::string& message() const { return message_; }

  // The same error with what was being done put in front of it.
  Error While(const std::string& doing) && {
    return Error(code_, doing + ": " + std::move(message_));
  }

  bool operator==(const Error&) const = default;

 private:
  Code code_;
  std::string message_;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  // Requires: has_value().
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  // Requires: !has_value().
  const Error& error() const& { return std::get<1>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool has_value() const { return !error_.has_value(); }
  explicit operator bool() const { return has_value(); }
  void value() const {}

  // Requires: !has_value().
  const Error& error() const& { return *error_; }
  Error&& error() && { return *std::move(error_); }

 private:
  std::optional<Error> error_;
};

// Unwraps a Result, or returns its error from the enclosing function. A statement expression (GNU
// extension, GCC and Clang); do not nest one TRY in another.
#define TRY(...)                                           \
  (__extension__({                                         \
    auto try_result = (__VA_ARGS__);                       \
    if (!try_result) return std::move(try_result).error(); \
    std::move(try_result).value();                         \
  }))

}  // namespace detent
