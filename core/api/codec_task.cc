// Task's spec and status: written for every task of every Job, so straight into a string.

#include <algorithm>
#include <array>

#include "core/api/codec.h"
#include "core/api/field_reader.h"
#include "core/base/json_writer.h"

namespace detent {
namespace {

constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// RFC 4648, section 4, with padding.
std::string ToBase64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t have = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j) {
      group = group << 8 | (j < have ? static_cast<unsigned char>(bytes[i + j]) : 0u);
    }
    for (size_t j = 0; j < 4; ++j) {
      text += j <= have ? kBase64[group >> (18 - 6 * j) & 63] : '=';
    }
  }
  return text;
}

std::optional<std::string> FromBase64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (size_t i = 0; i < text.size(); i += 4) {
    uint32_t group = 0;
    size_t padding = 0;
    for (size_t j = 0; j < 4; ++j) {
      const char c = text[i + j];
      const size_t value = kBase64.find(c);
      const bool pads = c == '=' && j >= 2 && i + 4 == text.size();
      if ((value == kBase64.npos && !pads) || (padding > 0 && !pads)) return std::nullopt;
      padding += pads ? 1 : 0;
      group = group << 6 | static_cast<uint32_t>(pads ? 0 : value);
    }
    for (size_t j = 0; j < 3 - padding; ++j) {
      bytes += static_cast<char>(group >> (16 - 8 * j) & 255);
    }
  }
  return bytes;
}

// The members of a Task's spec that are no executor's kind.
constexpr std::array<std::string_view, 5> kSpecFields = {"jobName", "jobUID", "index", "attempt",
                                                         "killTimestamp"};

bool IsSpecField(std::string_view name) {
  return std::find(kSpecFields.begin(), kSpecFields.end(), name) != kSpecFields.end();
}

}  // namespace

std::string EncodeTaskSpec(const TaskSpec& spec) {
  std::string out;
  out.reserve(192 + spec.executor_spec.size());
  JsonWriter writer(out);
  writer.BeginObject()
      .MemberIfSet("jobName", spec.job_name)
      .MemberIfSet("jobUID", spec.job_uid)
      .Member("index", spec.index)
      .Member("attempt", spec.attempt);
  if (!spec.kind.empty()) {
    writer.Key(spec.kind).Raw(spec.executor_spec.empty() ? std::string_view("{}")
                                                         : spec.executor_spec);
  }
  if (spec.kill_timestamp) {
    writer.Member("killTimestamp", FormatMicroTime(*spec.kill_timestamp));
  }
  writer.EndObject();
  return out;
}

Result<TaskSpec> DecodeTaskSpec(std::string_view text) {
  const Json json = TRY(ParseJson(text));
  TaskSpec spec;
  FieldReader reader(json, "spec");
  reader.Read("jobName", spec.job_name)
      .Read("jobUID", spec.job_uid)
      .Read("index", spec.index)
      .Read("attempt", spec.attempt)
      .Read("killTimestamp", spec.kill_timestamp);
  if (auto result = reader.Finish(); !result) return result.error();
  for (const auto& [name, value] : json.as_object()) {
    if (IsSpecField(name) || value.is_null()) continue;
    if (!spec.kind.empty()) {
      return Error(Code::kInvalid,
                   "spec: has two executors, '" + spec.kind + "' and '" + name + "'");
    }
    spec.kind = name;
    AppendJson(spec.executor_spec, value);
  }
  if (spec.kind.empty()) return Error(Code::kInvalid, "spec: has no executor");
  return spec;
}

std::string EncodeTaskStatus(const TaskStatus& status) {
  std::string out;
  out.reserve(256 + status.message.size() + status.output.size() + status.extra.size());
  JsonWriter writer(out);
  writer.BeginObject()
      .Member("state", NameOf(status.state))
      .MemberIfSet("result", NameOf(status.result))
      .MemberIfSet("reason", status.reason)
      .MemberIfSet("message", status.message);
  if (status.exit_code) writer.Member("exitCode", *status.exit_code);
  if (status.signal) writer.Member("signal", *status.signal);
  if (status.started) writer.Member("startTime", FormatMicroTime(*status.started));
  if (status.running) writer.Member("runningTime", FormatMicroTime(*status.running));
  if (status.finished) writer.Member("finishTime", FormatMicroTime(*status.finished));
  writer.MemberIfSet("objectRef", status.object_ref);
  if (!status.extra.empty()) writer.Key("extra").Raw(status.extra);
  if (!status.output.empty()) writer.Key("output").Raw(status.output);
  if (status.rerun_safe) writer.Member("rerunSafe", true);
  if (status.never_retry) writer.Member("neverRetry", true);
  if (!status.handle.empty()) writer.Member("handle", ToBase64(status.handle));
  if (status.handle_version != 0) {
    writer.Member("handleVersion", int64_t{status.handle_version});
  }
  writer.EndObject();
  return out;
}

Result<TaskStatus> DecodeTaskStatus(std::string_view text) {
  TaskStatus status;
  if (text.empty()) return status;
  const Json json = TRY(ParseJson(text));
  FieldReader reader(json, "status");
  std::string handle;
  int64_t handle_version = 0;
  reader.Read("state", status.state, TaskStateFromName)
      .Read("result", status.result, TaskResultFromName)
      .Read("reason", status.reason)
      .Read("message", status.message)
      .Read("exitCode", status.exit_code)
      .Read("signal", status.signal)
      .Read("startTime", status.started)
      .Read("runningTime", status.running)
      .Read("finishTime", status.finished)
      .Read("objectRef", status.object_ref)
      .Read("rerunSafe", status.rerun_safe)
      .Read("neverRetry", status.never_retry)
      .Read("handle", handle)
      .Read("handleVersion", handle_version);
  // A null output is an output too: a plugin may say so.
  if (const Json* output = json.Find("output")) AppendJson(status.output, *output);
  const Json* extra = json.Find("extra");
  if (extra != nullptr && extra->is_object()) {
    AppendJson(status.extra, *extra);
  } else if (extra != nullptr && !extra->is_null()) {
    reader.Fail("extra", std::string("must be an object, not ") + extra->type_name());
  }
  if (handle_version < 0 || handle_version > int64_t{UINT32_MAX}) {
    reader.Fail("handleVersion", "must be in 0-4294967295, not " + std::to_string(handle_version));
  }
  status.handle_version = static_cast<uint32_t>(handle_version);
  if (auto bytes = FromBase64(handle)) {
    status.handle = std::move(*bytes);
  } else {
    reader.Fail("handle", "must be base64 as RFC 4648 has it");
  }
  if (auto result = reader.Finish(); !result) return result.error();
  return status;
}

}  // namespace detent
