#include "core/kube/status_reply.h"

#include <algorithm>
#include <utility>

#include "core/base/json.h"
#include "core/kube/proto_json.h"

namespace detent {
namespace {

constexpr size_t kForeignTextShown = 200;

struct StatusWord {
  int status;
  KubeOutcome outcome;
  const char* reason;  // As the server would say it (metav1.StatusReason).
};

constexpr StatusWord kStatusWords[] = {
    {400, KubeOutcome::kInvalid, "BadRequest"},
    {401, KubeOutcome::kDenied, "Unauthorized"},
    {403, KubeOutcome::kDenied, "Forbidden"},
    {404, KubeOutcome::kNotFound, "NotFound"},
    {405, KubeOutcome::kInvalid, "MethodNotAllowed"},
    {406, KubeOutcome::kInvalid, "NotAcceptable"},
    {409, KubeOutcome::kConflict, "Conflict"},
    {410, KubeOutcome::kGone, "Gone"},
    {413, KubeOutcome::kInvalid, "RequestEntityTooLarge"},
    {415, KubeOutcome::kInvalid, "UnsupportedMediaType"},
    {422, KubeOutcome::kInvalid, "Invalid"},
    {429, KubeOutcome::kBusy, "TooManyRequests"},
    {500, KubeOutcome::kUnavailable, "InternalError"},
    {503, KubeOutcome::kUnavailable, "ServiceUnavailable"},
    {504, KubeOutcome::kUnavailable, "Timeout"},
};

// Of a status that no API server sends: a proxy's, or a redirect, which is not followed.
StatusWord WordOf(int status) {
  for (const StatusWord& word : kStatusWords) {
    if (word.status == status) return word;
  }
  const bool at_fault = status >= 300 && status < 500;
  return {status, at_fault ? KubeOutcome::kInvalid : KubeOutcome::kUnavailable, "Unknown"};
}

KubeOutcome OutcomeOf(HttpOutcome outcome) {
  switch (outcome) {
    case HttpOutcome::kCancelled:
    case HttpOutcome::kWithheld:
      return KubeOutcome::kCancelled;
    case HttpOutcome::kConnectTimeout:
      return KubeOutcome::kUnavailable;
    case HttpOutcome::kReadTimeout:
    case HttpOutcome::kIdleTimeout:
    case HttpOutcome::kTotalTimeout:
      return KubeOutcome::kDeadline;
    case HttpOutcome::kInvalid:
    case HttpOutcome::kDenied:
      return KubeOutcome::kInvalid;
    default:
      return KubeOutcome::kUnavailable;
  }
}

std::string TextAt(const Json& json, std::string_view name) {
  const Json* value = json.Find(name);
  return value != nullptr && value->is_string() ? value->as_string() : std::string();
}

// Takes what the Status says. False: the body is none.
bool ReadStatus(KubeReply& reply) {
  if (IsProto(reply.body)) {
    std::string json;
    if (!AppendProtoObject(reply.body, json)) return false;
    reply.body = std::move(json);
  }
  if (reply.body.empty() || reply.body.front() != '{') return false;
  const auto json = ParseJson(reply.body);
  if (!json || TextAt(*json, "kind") != "Status") return false;
  if (std::string reason = TextAt(*json, "reason"); !reason.empty()) reply.reason = reason;
  reply.message = TextAt(*json, "message");
  const Json* seconds = json->At("/details/retryAfterSeconds");
  if (!reply.retry_after && seconds != nullptr && seconds->is_int() && seconds->as_int() > 0) {
    reply.retry_after = std::chrono::seconds(seconds->as_int());
  }
  return true;
}

// The first line of what is no Status: the page of a proxy, say.
std::string ForeignText(const KubeReply& reply) {
  std::string text = "the server answered " + std::to_string(reply.status);
  const size_t end = std::min(reply.body.find_first_of("\r\n"), reply.body.size());
  std::string line = reply.body.substr(0, std::min(end, kForeignTextShown));
  line.resize(Utf8Prefix(line));
  if (std::any_of(line.begin(), line.end(), [](unsigned char c) { return c < ' ' || c == 0x7F; })) {
    return text;
  }
  return line.empty() ? text : text + ": " + line;
}

void FillFailure(KubeReply& reply) {
  const StatusWord word = WordOf(reply.status);
  reply.outcome = word.outcome;
  reply.reason = word.reason;
  ReadStatus(reply);
  if (reply.message.empty()) reply.message = ForeignText(reply);
  if (reply.status == 409 && reply.reason == "AlreadyExists") {
    reply.outcome = KubeOutcome::kAlreadyExists;
  }
}

// KubeClientOptions::may_write said no: nothing else withholds a request.
void FillDeposed(KubeReply& reply) {
  reply.reason = kReasonDeposed;
  reply.message =
      "this host may not change anything in the cluster any more, since another may be leading; "
      "the change was not sent";
}

}  // namespace

const char* NameOf(KubeOutcome outcome) {
  switch (outcome) {
    case KubeOutcome::kOk:
      return "Ok";
    case KubeOutcome::kNotFound:
      return "NotFound";
    case KubeOutcome::kGone:
      return "Gone";
    case KubeOutcome::kAlreadyExists:
      return "AlreadyExists";
    case KubeOutcome::kConflict:
      return "Conflict";
    case KubeOutcome::kInvalid:
      return "Invalid";
    case KubeOutcome::kDenied:
      return "Denied";
    case KubeOutcome::kBusy:
      return "Busy";
    case KubeOutcome::kUnavailable:
      return "Unavailable";
    case KubeOutcome::kDeadline:
      return "Deadline";
    case KubeOutcome::kCancelled:
      return "Cancelled";
  }
  return "Unknown";
}

Code CodeOf(const KubeReply& reply) {
  switch (reply.outcome) {
    case KubeOutcome::kNotFound:
      return Code::kNotFound;
    case KubeOutcome::kGone:
      return Code::kExpired;
    case KubeOutcome::kAlreadyExists:
      return Code::kAlreadyExists;
    case KubeOutcome::kConflict:
      return Code::kConflict;
    case KubeOutcome::kInvalid:
      return reply.status == 413 ? Code::kTooLarge : Code::kInvalid;
    case KubeOutcome::kDenied:
      return Code::kForbidden;
    case KubeOutcome::kBusy:
      return Code::kBusy;
    case KubeOutcome::kDeadline:
      return Code::kDeadline;
    default:
      return Code::kUnavailable;
  }
}

KubeReply ToKubeReply(HttpReply&& reply) {
  KubeReply out;
  out.status = static_cast<int>(reply.status);
  out.body = std::move(reply.body);
  out.retry_after = reply.retry_after;
  out.not_sent = reply.not_sent;
  if (reply.outcome != HttpOutcome::kOk) {
    out.outcome = OutcomeOf(reply.outcome);
    out.reason = ReasonOf(reply.outcome);
    out.message = std::move(reply.message);
    if (reply.outcome == HttpOutcome::kWithheld) FillDeposed(out);
  } else if (out.status < 200 || out.status >= 300) {
    FillFailure(out);
  } else if (reply.body_truncated) {
    out.outcome = KubeOutcome::kInvalid;
    out.reason = "ReplyTooLarge";
    out.message = "the reply is over " + std::to_string(out.body.size() >> 20) +
                  " MiB; ask for less of it (limit=, or a selector)";
  }
  return out;
}

}  // namespace detent
