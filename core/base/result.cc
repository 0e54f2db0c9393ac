#include "core/base/result.h"

namespace detent {

Remedy RemedyOf(Code code) {
  switch (code) {
    case Code::kInvalid:
    case Code::kUnauthorized:
    case Code::kForbidden:
    case Code::kUnsupported:
    case Code::kTooLarge:
      return Remedy::kFixInput;
    case Code::kNotFound:
      return Remedy::kGone;
    case Code::kAlreadyExists:
    case Code::kConflict:
    case Code::kExpired:
      return Remedy::kReread;
    case Code::kBusy:
    case Code::kUnavailable:
    case Code::kDeadline:
      return Remedy::kRetry;
    case Code::kInternal:
      return Remedy::kReportBug;
  }
  return Remedy::kReportBug;
}

const char* NameOf(Code code) {
  switch (code) {
    case Code::kInvalid:
      return "Invalid";
    case Code::kUnauthorized:
      return "Unauthorized";
    case Code::kForbidden:
      return "Forbidden";
    case Code::kNotFound:
      return "NotFound";
    case Code::kUnsupported:
      return "Unsupported";
    case Code::kAlreadyExists:
      return "AlreadyExists";
    case Code::kConflict:
      return "Conflict";
    case Code::kExpired:
      return "Expired";
    case Code::kTooLarge:
      return "TooLarge";
    case Code::kBusy:
      return "Busy";
    case Code::kUnavailable:
      return "Unavailable";
    case Code::kDeadline:
      return "Deadline";
    case Code::kInternal:
      return "Internal";
  }
  return "Internal";
}

}  // namespace detent
