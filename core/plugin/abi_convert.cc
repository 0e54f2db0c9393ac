#include "core/plugin/abi_convert.h"

#include <iterator>

#include "core/base/json.h"
#include "core/base/limits.h"

namespace detent {
namespace {

constexpr size_t kReasonBytes = 64;
constexpr size_t kObjectRefBytes = 512;
constexpr size_t kExtraBytes = 4096;

struct StatusWords {
  detent_status status;
  const char* name;
  const char* reason;
};
constexpr StatusWords kWords[] = {
    {DETENT_OK, "OK", ""},
    {DETENT_E_INVALID, "E_INVALID", "Invalid"},
    {DETENT_E_UNSUPPORTED, "E_UNSUPPORTED", "Unsupported"},
    {DETENT_E_NOT_FOUND, "E_NOT_FOUND", "NotFound"},
    {DETENT_E_ALREADY_EXISTS, "E_ALREADY_EXISTS", "NameTaken"},
    {DETENT_E_BUSY, "E_BUSY", "Busy"},
    {DETENT_E_TOO_LARGE, "E_TOO_LARGE", "TooLarge"},
    {DETENT_E_CANCELLED, "E_CANCELLED", "Cancelled"},
    {DETENT_E_CLOSING, "E_CLOSING", "Closing"},
    {DETENT_E_UNAVAILABLE, "E_UNAVAILABLE", "Unavailable"},
    {DETENT_E_DEADLINE, "E_DEADLINE", "DeadlineExceeded"},
    {DETENT_E_STALE, "E_STALE", "Stale"},
    {DETENT_E_FENCED, "E_FENCED", "Fenced"},
    {DETENT_E_INTERNAL, "E_INTERNAL", "PluginError"},
    {DETENT_E_NO_MEMORY, "E_NO_MEMORY", "OutOfMemory"},
    {DETENT_E_DENIED, "E_DENIED", "Denied"},
    {DETENT_E_CONFLICT, "E_CONFLICT", "Conflict"},
};

// The length of the well-formed UTF-8 sequence at the beginning of text, or 0.
size_t SequenceLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (length > text.size() || !IsUtf8(text.substr(0, length))) return 0;
  return length;
}

bool IsObjectOrEmpty(std::string_view text) {
  if (text.empty()) return true;
  const auto parsed = ParseJson(text);
  return parsed && parsed->is_object();
}

}  // namespace

std::string Repaired(std::string_view text, size_t most) {
  if (text.size() <= most && IsUtf8(text)) return std::string(text);
  std::string repaired;
  while (!text.empty()) {
    const size_t length = SequenceLength(text);
    const std::string_view piece = length > 0 ? text.substr(0, length) : "\xEF\xBF\xBD";
    if (repaired.size() + piece.size() > most) break;
    repaired += piece;
    text.remove_prefix(length > 0 ? length : 1);
  }
  return repaired;
}

std::string Printable(std::string_view text) {
  std::string printable = Repaired(text.substr(0, 64), 64);
  for (char& c : printable) c = static_cast<unsigned char>(c) < ' ' || c == 0x7f ? '?' : c;
  return printable;
}

std::string StatusName(detent_status status) {
  for (const StatusWords& words : kWords) {
    if (words.status == status) return words.name;
  }
  return "status " + std::to_string(status);
}

std::string ReasonFor(detent_status status) {
  for (const StatusWords& words : kWords) {
    if (words.status == status) return words.reason;
  }
  return "Unspecified";
}

WallTime FromNanos(int64_t nanoseconds) {
  return WallTime(
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::nanoseconds(nanoseconds)));
}

int64_t ToNanos(WallTime time) {
  return std::chrono::nanoseconds(time.time_since_epoch()).count();
}

detent_status ToStatus(Code code) {
  switch (code) {
    case Code::kInvalid:
      return DETENT_E_INVALID;
    case Code::kUnauthorized:
    case Code::kForbidden:
      return DETENT_E_DENIED;
    case Code::kNotFound:
      return DETENT_E_NOT_FOUND;
    case Code::kUnsupported:
      return DETENT_E_UNSUPPORTED;
    case Code::kAlreadyExists:
      return DETENT_E_ALREADY_EXISTS;
    case Code::kConflict:
    case Code::kExpired:
      return DETENT_E_CONFLICT;
    case Code::kTooLarge:
      return DETENT_E_TOO_LARGE;
    case Code::kBusy:
      return DETENT_E_BUSY;
    case Code::kUnavailable:
      return DETENT_E_UNAVAILABLE;
    case Code::kDeadline:
      return DETENT_E_DEADLINE;
    case Code::kInternal:
      return DETENT_E_INTERNAL;
  }
  return DETENT_E_INTERNAL;
}

Code FromStatus(detent_status status) {
  switch (status) {
    case DETENT_E_INVALID:
      return Code::kInvalid;
    case DETENT_E_UNSUPPORTED:
      return Code::kUnsupported;
    case DETENT_E_NOT_FOUND:
    case DETENT_E_STALE:
      return Code::kNotFound;
    case DETENT_E_ALREADY_EXISTS:
      return Code::kAlreadyExists;
    case DETENT_E_BUSY:
      return Code::kBusy;
    case DETENT_E_TOO_LARGE:
      return Code::kTooLarge;
    case DETENT_E_DEADLINE:
      return Code::kDeadline;
    case DETENT_E_DENIED:
      return Code::kForbidden;
    case DETENT_E_CONFLICT:
      return Code::kConflict;
    case DETENT_E_CANCELLED:
    case DETENT_E_CLOSING:
    case DETENT_E_UNAVAILABLE:
    case DETENT_E_FENCED:
      return Code::kUnavailable;
    default:
      return Code::kInternal;
  }
}

uint32_t PhaseOf(TaskState state) {
  switch (state) {
    case TaskState::kHeld:
      return DETENT_PHASE_UNKNOWN;
    case TaskState::kStarting:
      return DETENT_PHASE_STARTING;
    case TaskState::kRunning:
      return DETENT_PHASE_RUNNING;
    case TaskState::kKilling:
      return DETENT_PHASE_KILLING;
    case TaskState::kTerminated:
      return DETENT_PHASE_TERMINATED;
  }
  return DETENT_PHASE_UNKNOWN;
}

detent_status ConvertStatus(const detent_task_status& known, TaskStatus& out) {
  constexpr TaskState kStates[] = {TaskState::kHeld, TaskState::kStarting, TaskState::kRunning,
                                   TaskState::kKilling, TaskState::kTerminated};
  constexpr TaskResult kResults[] = {TaskResult::kNone, TaskResult::kSucceeded, TaskResult::kFailed,
                                     TaskResult::kKilled, TaskResult::kLost};
  if (known.size == 0 || known.phase >= std::size(kStates)) return DETENT_E_INVALID;
  if (known.result >= std::size(kResults)) return DETENT_E_INVALID;
  const bool over = known.phase == DETENT_PHASE_TERMINATED;
  if (over != (known.result != DETENT_RESULT_NONE)) return DETENT_E_INVALID;
  if (known.output.len > limits::kTaskOutputBytes) return DETENT_E_TOO_LARGE;
  if (known.extra.len > kExtraBytes || known.object_ref.len > kObjectRefBytes) {
    return DETENT_E_TOO_LARGE;
  }
  if (known.object_ref.len > 0 && !IsUtf8(Text(known.object_ref))) return DETENT_E_INVALID;
  if (known.output.len > 0 && (!over || !ParseJson(Text(known.output)))) return DETENT_E_INVALID;
  if (!IsObjectOrEmpty(Text(known.extra))) return DETENT_E_INVALID;
  constexpr uint32_t kFlags = DETENT_TASK_RERUN_SAFE | DETENT_TASK_NEVER_RETRY |
                              DETENT_TASK_OUTPUT_TRUNCATED | DETENT_TASK_EXITED;
  if ((known.flags & ~kFlags) != 0) return DETENT_E_UNSUPPORTED;
  out.state = kStates[known.phase];
  out.result = kResults[known.result];
  out.reason = Repaired(Text(known.reason), kReasonBytes);
  out.message = Repaired(Text(known.message), limits::kTaskMessageBytes);
  if ((known.flags & DETENT_TASK_EXITED) != 0) out.exit_code = known.exit_code;
  if (known.signal != 0) out.signal = known.signal;
  if (known.created_ns != 0) out.started = FromNanos(known.created_ns);
  if (known.running_ns != 0) out.running = FromNanos(known.running_ns);
  if (known.finished_ns != 0) out.finished = FromNanos(known.finished_ns);
  out.object_ref = Text(known.object_ref);
  out.extra = Text(known.extra);
  out.output = Text(known.output);
  out.rerun_safe = (known.flags & DETENT_TASK_RERUN_SAFE) != 0;
  out.never_retry = (known.flags & DETENT_TASK_NEVER_RETRY) != 0;
  return DETENT_OK;
}

}  // namespace detent
