#include "plugins/http/outcome.h"

#include <string>

#include "detent/sdk/json_writer.h"
#include "detent/sdk/text.h"

namespace detent::http {
namespace {

using sdk::JsonWriter;
using sdk::TaskStatus;
using sdk::View;

bool IsSuccess(uint32_t status) {
  return status >= 200 && status <= 299;
}

std::string_view StatusText(uint32_t status) {
  struct Row {
    uint32_t status;
    std::string_view text;
  };
  static constexpr Row kRows[] = {
      {200, "OK"},
      {201, "Created"},
      {202, "Accepted"},
      {204, "No Content"},
      {206, "Partial Content"},
      {301, "Moved Permanently"},
      {302, "Found"},
      {303, "See Other"},
      {304, "Not Modified"},
      {307, "Temporary Redirect"},
      {308, "Permanent Redirect"},
      {400, "Bad Request"},
      {401, "Unauthorized"},
      {403, "Forbidden"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {408, "Request Timeout"},
      {409, "Conflict"},
      {410, "Gone"},
      {413, "Content Too Large"},
      {415, "Unsupported Media Type"},
      {422, "Unprocessable Content"},
      {425, "Too Early"},
      {429, "Too Many Requests"},
      {500, "Internal Server Error"},
      {501, "Not Implemented"},
      {502, "Bad Gateway"},
      {503, "Service Unavailable"},
      {504, "Gateway Timeout"},
  };
  for (const Row& row : kRows) {
    if (row.status == status) return row.text;
  }
  return {};
}

std::string StatusLine(uint32_t status) {
  std::string out = std::to_string(status);
  const std::string_view text = StatusText(status);
  if (!text.empty()) out.append(" ").append(text);
  return out;
}

std::string_view HeaderOf(const detent_http_response& response, std::string_view name) {
  for (uint32_t i = 0; i < response.header_count; ++i) {
    if (SameIgnoringCase(View(response.headers[i]->name), name)) {
      return View(response.headers[i]->value);
    }
  }
  return {};
}

// application/json, application/problem+json; parameters behind.
bool IsJsonType(std::string_view type) {
  type = type.substr(0, type.find(';'));
  while (!type.empty() && type.back() == ' ') type.remove_suffix(1);
  constexpr std::string_view kSuffix = "+json";
  return SameIgnoringCase(type, "application/json") || SameIgnoringCase(type, "text/json") ||
         (type.size() > kSuffix.size() &&
          SameIgnoringCase(type.substr(type.size() - kSuffix.size()), kSuffix));
}

bool HasNoBody(const Plan& plan, uint32_t status) {
  return plan.method() == "HEAD" || status == 204 || status == 205 || status == 304;
}

// In the order of the response; cookies are credentials, and not kept.
void WriteHeaders(JsonWriter& json, const detent_http_response& response) {
  size_t room = kHeadersKept;
  bool all = true;
  json.Key("headers").BeginArray();
  for (uint32_t i = 0; i < response.header_count; ++i) {
    const std::string_view name = View(response.headers[i]->name);
    const std::string_view value = View(response.headers[i]->value);
    if (SameIgnoringCase(name, "Set-Cookie")) continue;
    constexpr size_t kAround = 24;  // {"name":"","value":""},
    const size_t bytes = name.size() + value.size() + kAround;
    all = all && bytes <= room;
    if (!all) break;
    room -= bytes;
    json.BeginObject().Key("name").String(name).Key("value").String(value).EndObject();
  }
  json.EndArray();
  if (!all) json.Key("headersTruncated").Bool(true);
}

// As much of the text as fits in kBodyKept once it is escaped. False: not all of it.
bool WriteText(JsonWriter& json, std::string_view body) {
  size_t length = std::min(body.size(), kBodyKept);
  for (;;) {
    // Not in the middle of a UTF-8 sequence.
    while (length < body.size() && length > 0 && (body[length] & 0xC0) == 0x80) --length;
    JsonWriter text;
    text.String(body.substr(0, length));
    if (text.text().size() <= kBodyKept + 2) {
      json.Raw(text.text());
      return length == body.size();
    }
    length = length * kBodyKept / text.text().size();
  }
}

void WriteTimings(JsonWriter& json, const detent_http_response& response) {
  constexpr double kMilli = 1e-3;
  const auto add = [&](std::string_view name, uint64_t us) {
    if (us != 0) json.Key(name).Double(static_cast<double>(us) * kMilli);
  };
  json.Key("timings").BeginObject();
  add("dns", response.dns_us);
  add("connect", response.connect_us);
  add("ssl", response.tls_us);
  add("firstByte", response.first_byte_us);
  add("total", response.total_us);
  json.EndObject();
}

void WriteOutput(TaskStatus& status, const Plan& plan, const Reply& reply) {
  const detent_http_response& raw = reply.raw;
  JsonWriter json;
  json.BeginObject().Key("status").Uint(raw.http_status);
  const std::string_view text = StatusText(raw.http_status);
  if (!text.empty()) json.Key("statusText").String(text);
  WriteHeaders(json, raw);
  bool all = (raw.flags & DETENT_HTTP_BODY_TRUNCATED) == 0;
  const std::string_view json_body = WithoutMark(reply.body);
  if (reply.body_is_json && all && json_body.size() <= kBodyKept) {
    json.Key("body").Raw(json_body);
  } else if (!reply.body.empty() || !HasNoBody(plan, raw.http_status)) {
    json.Key("body");
    all = WriteText(json, reply.body) && all;
  }
  if (!all) json.Key("truncated").Bool(true);
  if (!all) status.flags |= DETENT_TASK_OUTPUT_TRUNCATED;
  json.Key("bytes").BeginObject();
  json.Key("body").Uint(reply.body.size());
  json.Key("sent").Uint(raw.bytes_sent).Key("received").Uint(raw.bytes_received).EndObject();
  WriteTimings(json, raw);
  json.EndObject();
  status.output = std::move(json).text();
}

void Fail(TaskStatus& status, const Plan& plan, std::string_view reason, std::string_view what) {
  status.result = DETENT_RESULT_FAILED;
  status.reason = reason;
  status.message.reserve(plan.method().size() + plan.host().size() + what.size() + 4);
  status.message.append(plan.method()).append(" ").append(plan.host().substr(0, 256));
  status.message.append(": ").append(what);
}

std::string Seconds(uint32_t ms) {
  std::string text = std::to_string(ms / 1000);
  if (ms % 1000 != 0) text += "." + std::to_string(1000 + ms % 1000).substr(1);
  return text + " s";
}

void DescribeResponse(TaskStatus& status, const Plan& plan, const Reply& reply) {
  const detent_http_response& raw = reply.raw;
  if (!IsSuccess(raw.http_status)) {
    return Fail(status, plan, "UnexpectedStatus",
                "the server answered " + StatusLine(raw.http_status));
  }
  if (plan.format() == Format::kJson && !HasNoBody(plan, raw.http_status)) {
    const std::string answered = "the server answered " + StatusLine(raw.http_status);
    if ((raw.flags & DETENT_HTTP_BODY_TRUNCATED) != 0) {
      return Fail(status, plan, "BodyTooLarge",
                  answered + ", with more than the " +
                      std::to_string(plan.request().response_body_max) +
                      " bytes of response.maxBytes");
    }
    if (!reply.body_is_json) {
      return Fail(status, plan, "NotJson", answered + ", but its body is not valid JSON");
    }
  }
  status.result = DETENT_RESULT_SUCCEEDED;
}

// The words for a deadline; empty for a reason that is not known here.
std::string DeadlineText(std::string_view reason, const detent_http_request& request) {
  if (reason == "ConnectTimeout") {
    return "no connection within the connectTimeout of " + Seconds(request.connect_timeout_ms);
  }
  if (reason == "ReadTimeout") {
    return "no response began within the readTimeout of " + Seconds(request.read_timeout_ms);
  }
  if (reason == "IdleTimeout") {
    return "no byte came or went for the socketTimeout of " + Seconds(request.idle_timeout_ms);
  }
  return "not over within the totalTimeout of " + Seconds(request.total_timeout_ms);
}

void DescribeFailure(TaskStatus& status, const Plan& plan, const detent_http_response& raw) {
  std::string_view reason = View(raw.reason);
  std::string what(View(raw.message).substr(0, 512));
  if (raw.code == DETENT_E_DEADLINE) what = DeadlineText(reason, plan.request());
  if (reason == "IdleTimeout") reason = "SocketTimeout";  // the name of its field
  if (reason.empty()) reason = "RequestFailed";
  if (what.empty()) what = "the request failed";
  if ((raw.flags & DETENT_HTTP_NOT_SENT) != 0) {
    what += "; nothing was sent";
  } else if (raw.http_status == 0) {
    what += "; whether the request took effect is not known";
  }
  // The same spec, and the same policy, give the same refusal.
  if (raw.code == DETENT_E_DENIED || raw.code == DETENT_E_INVALID) {
    status.flags |= DETENT_TASK_NEVER_RETRY;
  }
  Fail(status, plan, reason, what);
  if (raw.code == DETENT_E_CANCELLED) {
    status.result = DETENT_RESULT_LOST;
    status.reason = "RequestDropped";
  }
}

}  // namespace

std::string_view WithoutMark(std::string_view body) {
  if (body.starts_with("\xEF\xBB\xBF")) body.remove_prefix(3);
  return body;
}

bool WantsJson(const Plan& plan, const detent_http_response& response, std::string_view body) {
  if (body.empty() || (response.flags & DETENT_HTTP_BODY_TRUNCATED) != 0) return false;
  if (response.code != DETENT_OK || plan.format() == Format::kText) return false;
  return plan.format() == Format::kJson || IsJsonType(HeaderOf(response, "Content-Type"));
}

TaskStatus DescribeEnd(const Plan& plan, const Reply& reply) {
  TaskStatus status;
  status.phase = DETENT_PHASE_TERMINATED;
  if (plan.rerun_safe() || (reply.raw.flags & DETENT_HTTP_NOT_SENT) != 0) {
    status.flags |= DETENT_TASK_RERUN_SAFE;
  }
  if (reply.raw.code == DETENT_OK) {
    DescribeResponse(status, plan, reply);
  } else {
    DescribeFailure(status, plan, reply.raw);
  }
  if (reply.raw.http_status != 0) WriteOutput(status, plan, reply);
  return status;
}

}  // namespace detent::http
