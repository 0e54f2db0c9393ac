// One mistake in a document: where, what, and what to do. Validation collects them all at once.

#pragma once

#include <string>
#include <utility>
#include <vector>

namespace detent {

struct Diagnostic {
  // As Kubernetes' field.ErrorType, so that a Status can carry it as its cause's reason.
  enum class Reason {
    kRequired,
    kInvalid,
    kNotSupported,
    kForbidden,
    kDuplicate,
    kTooMany,
    kTooLong,
    kTypeInvalid,
    kNotFound,
    kUnknownField
  };

  std::string pointer;  // RFC 6901, into the object: "/spec/schedule/cron/expression".
  Reason reason = Reason::kInvalid;
  std::string
      message;       // A sentence without its field: "must be greater than or equal to 0, not -3".
  std::string hint;  // What to do, or empty: "did you mean 'timezone'?"

  bool operator==(const Diagnostic&) const = default;
};

using Diagnostics = std::vector<Diagnostic>;

// "FieldValueInvalid" and so on, as metav1.StatusCause.reason has it.
const char* CauseReason(Diagnostic::Reason reason);

// "/spec/a/0" as Kubernetes writes a path: "spec.a[0]".
std::string FieldPath(const std::string& pointer);

// "spec.a[0]: must be ... (did you mean ...?)".
std::string Sentence(const Diagnostic& diagnostic);

// All of them in one line, "; " between.
std::string Sentences(const Diagnostics& diagnostics);

}  // namespace detent
