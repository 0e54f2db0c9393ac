#include "core/base/diagnostic.h"

#include <algorithm>

#include "core/base/json.h"

namespace detent {

namespace {

bool IsIdentifier(const std::string& step) {
  return !step.empty() && std::all_of(step.begin(), step.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '$';
  });
}

}  // namespace

const char* CauseReason(Diagnostic::Reason reason) {
  switch (reason) {
    case Diagnostic::Reason::kRequired:
      return "FieldValueRequired";
    case Diagnostic::Reason::kInvalid:
      return "FieldValueInvalid";
    case Diagnostic::Reason::kNotSupported:
      return "FieldValueNotSupported";
    case Diagnostic::Reason::kForbidden:
      return "FieldValueForbidden";
    case Diagnostic::Reason::kDuplicate:
      return "FieldValueDuplicate";
    case Diagnostic::Reason::kTooMany:
      return "FieldValueTooMany";
    case Diagnostic::Reason::kTooLong:
      return "FieldValueTooLong";
    case Diagnostic::Reason::kTypeInvalid:
      return "FieldValueTypeInvalid";
    case Diagnostic::Reason::kNotFound:
      return "FieldValueNotFound";
    case Diagnostic::Reason::kUnknownField:
      // Kubernetes has no cause of its own for a field that it does not know.
      return "FieldValueInvalid";
  }
  return "FieldValueInvalid";
}

std::string FieldPath(const std::string& pointer) {
  const auto steps = SplitPointer(pointer);
  if (!steps) return pointer;
  std::string path;
  for (const std::string& step : *steps) {
    // A key that could be misread as several steps stands in brackets, as an index does.
    if (ArrayIndex(step) || !IsIdentifier(step)) {
      path += '[' + step + ']';
    } else {
      if (!path.empty()) path += '.';
      path += step;
    }
  }
  return path;
}

std::string Sentence(const Diagnostic& diagnostic) {
  const std::string path = FieldPath(diagnostic.pointer);
  std::string sentence = path.empty() ? diagnostic.message : path + ": " + diagnostic.message;
  if (!diagnostic.hint.empty()) sentence += " (" + diagnostic.hint + ")";
  return sentence;
}

std::string Sentences(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& each : diagnostics) text += (text.empty() ? "" : "; ") + Sentence(each);
  return text;
}

}  // namespace detent
