// Errors as Kubernetes answers them: a metav1.Status with reason, message and details, so that
// kubectl and its libraries know what happened. The wording follows apimachinery's api/errors.
//
// Pure; any thread.

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/api/object.h"
#include "core/base/diagnostic.h"
#include "core/base/result.h"
#include "core/http/request.h"

namespace detent {

struct StatusCause {
  std::string reason;
  std::string message;
  std::string field;
};

struct ApiStatus {
  int code = 500;
  std::string reason;
  std::string message;
  // details; a kind is a resource ("jobs") but in Invalid, as Kubernetes has it.
  std::string name;
  std::string kind;
  std::vector<StatusCause> causes;
  int retry_after_seconds = 0;

  operator Response() const;  // NOLINT(google-explicit-constructor): lets TRY return it.
};

std::string ToJson(const ApiStatus& status);

// A value, or the Status to answer instead; works with TRY, as Result does.
template <typename T>
class [[nodiscard]] Outcome {
 public:
  Outcome(T value) : state_(std::move(value)) {}            // NOLINT(google-explicit-constructor)
  Outcome(ApiStatus status) : state_(std::move(status)) {}  // NOLINT(google-explicit-constructor)
  explicit operator bool() const { return state_.index() == 0; }
  T& value() & { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  T* operator->() { return &value(); }
  const ApiStatus& error() const& { return std::get<1>(state_); }
  ApiStatus&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, ApiStatus> state_;
};

// "jobs.execution.detent.dev".
std::string QualifiedResource(Kind kind);

ApiStatus NoSuchPath();
ApiStatus NotFound(Kind kind, std::string_view name);
ApiStatus AlreadyExists(Kind kind, std::string_view name);
// `why` follows "Operation cannot be fulfilled on ...: ".
ApiStatus Conflict(Kind kind, std::string_view name, std::string_view why);
ApiStatus Modified(Kind kind, std::string_view name);  // The usual Conflict.
ApiStatus Invalid(Kind kind, std::string_view name, const Diagnostics& mistakes);
ApiStatus InvalidOptions(std::string_view type, const std::string& field, std::string_view why);
ApiStatus BadRequest(std::string message);
ApiStatus Unauthorized();
ApiStatus MethodNotAllowed();
ApiStatus NotAcceptable();
ApiStatus UnsupportedMediaType(std::string_view accepted);
ApiStatus RequestTooLarge(size_t limit);
ApiStatus Expired(std::string message);
ApiStatus VersionTooLarge(int64_t asked, int64_t current);
ApiStatus TooManyRequests(int retry_after_seconds);
ApiStatus Internal(std::string_view message);

// An error of the store or the core about one object, as its Status.
ApiStatus FromError(const Error& error, Kind kind, std::string_view name);

// {"kind":"Status","status":"Success"} for an object that is gone.
std::string DeletedStatus(const Object& object);

}  // namespace detent
