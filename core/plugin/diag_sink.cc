#include "core/plugin/diag_sink.h"

#include "core/plugin/abi_convert.h"

namespace detent {
namespace {

constexpr size_t kFindingsMax = 100;

struct ReasonName {
  const char* name;
  Diagnostic::Reason reason;
};
constexpr ReasonName kReasons[] = {
    {"Required", Diagnostic::Reason::kRequired},
    {"MissingField", Diagnostic::Reason::kRequired},
    {"Invalid", Diagnostic::Reason::kInvalid},
    {"NotSupported", Diagnostic::Reason::kNotSupported},
    {"Unsupported", Diagnostic::Reason::kNotSupported},
    {"Forbidden", Diagnostic::Reason::kForbidden},
    {"Duplicate", Diagnostic::Reason::kDuplicate},
    {"DuplicateKey", Diagnostic::Reason::kDuplicate},
    {"TooMany", Diagnostic::Reason::kTooMany},
    {"TooLong", Diagnostic::Reason::kTooLong},
    {"TypeInvalid", Diagnostic::Reason::kTypeInvalid},
    {"WrongType", Diagnostic::Reason::kTypeInvalid},
    {"NotFound", Diagnostic::Reason::kNotFound},
    {"UnknownField", Diagnostic::Reason::kUnknownField},
};

}  // namespace

Diagnostic::Reason ReasonFromName(const std::string& name) {
  for (const ReasonName& known : kReasons) {
    if (name == known.name) return known.reason;
  }
  return Diagnostic::Reason::kInvalid;
}

void AddFinding(detent_diag& sink, uint32_t severity, Diagnostic finding,
                const std::string& reason) {
  finding.reason = ReasonFromName(reason);
  const bool mistake = severity == DETENT_DIAG_ERROR;
  const size_t have = mistake ? sink.mistakes.size() : sink.warnings.size();
  if (have >= kFindingsMax) {
    ++sink.dropped;
  } else if (mistake) {
    sink.mistakes.push_back(std::move(finding));
  } else {
    sink.warnings.push_back(std::move(finding));
  }
}

}  // namespace detent
