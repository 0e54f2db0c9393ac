#include "core/http/status_error.h"

#include "core/base/json_writer.h"

namespace detent {
namespace {

std::string Quoted(std::string_view name) {
  std::string text;
  AppendJsonString(text, name);
  return text;
}

ApiStatus Make(int code, std::string_view reason, std::string message) {
  ApiStatus status;
  status.code = code;
  status.reason = reason;
  status.message = std::move(message);
  return status;
}

ApiStatus About(ApiStatus status, std::string_view kind, std::string_view name) {
  status.kind = kind;
  status.name = name;
  return status;
}

// As field.ErrorType prints itself in front of the detail.
std::string_view Phrase(Diagnostic::Reason reason) {
  switch (reason) {
    case Diagnostic::Reason::kRequired:
      return "Required value";
    case Diagnostic::Reason::kNotSupported:
      return "Unsupported value";
    case Diagnostic::Reason::kForbidden:
      return "Forbidden";
    case Diagnostic::Reason::kDuplicate:
      return "Duplicate value";
    case Diagnostic::Reason::kTooMany:
      return "Too many";
    case Diagnostic::Reason::kTooLong:
      return "Too long";
    case Diagnostic::Reason::kNotFound:
      return "Not found";
    case Diagnostic::Reason::kUnknownField:
      return "Forbidden";  // Kubernetes' validation has no word for it; its decoder refuses it.
    case Diagnostic::Reason::kInvalid:
    case Diagnostic::Reason::kTypeInvalid:
      break;
  }
  return "Invalid value";
}

std::string Join(const std::vector<StatusCause>& causes) {
  std::string text;
  for (const StatusCause& cause : causes) {
    if (!text.empty()) text += ", ";
    text += cause.field + ": " + cause.message;
  }
  return causes.size() > 1 ? "[" + text + "]" : text;
}

void WriteDetails(JsonWriter& json, const ApiStatus& status) {
  json.Key("details").BeginObject();
  json.MemberIfSet("name", status.name);
  if (!status.kind.empty()) json.Member("group", kApiGroup).Member("kind", status.kind);
  if (!status.causes.empty()) {
    json.Key("causes").BeginArray();
    for (const StatusCause& cause : status.causes) {
      json.BeginObject();
      json.MemberIfSet("reason", cause.reason);
      json.MemberIfSet("message", cause.message);
      json.MemberIfSet("field", cause.field);
      json.EndObject();
    }
    json.EndArray();
  }
  if (status.retry_after_seconds > 0) {
    json.Member("retryAfterSeconds", status.retry_after_seconds);
  }
  json.EndObject();
}

}  // namespace

std::string ToJson(const ApiStatus& status) {
  std::string text;
  JsonWriter json(text);
  json.BeginObject().Member("kind", "Status").Member("apiVersion", "v1");
  json.Key("metadata").BeginObject().EndObject();
  json.Member("status", "Failure").Member("message", status.message);
  json.Member("reason", status.reason);
  WriteDetails(json, status);
  json.Member("code", status.code).EndObject();
  return text;
}

ApiStatus::operator Response() const {
  Response response = JsonResponse(ToJson(*this) + "\n", code);
  if (code == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  if (retry_after_seconds > 0) {
    response.headers.emplace_back("Retry-After", std::to_string(retry_after_seconds));
  }
  return response;
}

std::string QualifiedResource(Kind kind) {
  return std::string(PluralOf(kind)) + "." + kApiGroup;
}

ApiStatus NoSuchPath() {
  return Make(404, "NotFound", "the server could not find the requested resource");
}

ApiStatus NotFound(Kind kind, std::string_view name) {
  return About(Make(404, "NotFound", QualifiedResource(kind) + " " + Quoted(name) + " not found"),
               PluralOf(kind), name);
}

ApiStatus AlreadyExists(Kind kind, std::string_view name) {
  return About(
      Make(409, "AlreadyExists", QualifiedResource(kind) + " " + Quoted(name) + " already exists"),
      PluralOf(kind), name);
}

ApiStatus Conflict(Kind kind, std::string_view name, std::string_view why) {
  return About(Make(409, "Conflict",
                    "Operation cannot be fulfilled on " + QualifiedResource(kind) + " " +
                        Quoted(name) + ": " + std::string(why)),
               PluralOf(kind), name);
}

ApiStatus Modified(Kind kind, std::string_view name) {
  return Conflict(kind, name,
                  "the object has been modified; please apply your changes to the latest version "
                  "and try again");
}

ApiStatus Invalid(Kind kind, std::string_view name, const Diagnostics& mistakes) {
  ApiStatus status = Make(422, "Invalid", "");
  for (const Diagnostic& mistake : mistakes) {
    std::string message = std::string(Phrase(mistake.reason)) + ": " + mistake.message;
    if (!mistake.hint.empty()) message += " (" + mistake.hint + ")";
    status.causes.push_back(
        {CauseReason(mistake.reason), std::move(message), FieldPath(mistake.pointer)});
  }
  status.message = std::string(NameOf(kind)) + "." + kApiGroup + " " + Quoted(name) +
                   " is invalid: " + Join(status.causes);
  return About(std::move(status), NameOf(kind), name);
}

ApiStatus InvalidOptions(std::string_view type, const std::string& field, std::string_view why) {
  ApiStatus status = Make(422, "Invalid", "");
  status.causes.push_back({"FieldValueInvalid", std::string(why), field});
  status.message = std::string(type) + ".meta.k8s.io \"\" is invalid: " + Join(status.causes);
  status.kind = type;
  return status;
}

ApiStatus BadRequest(std::string message) {
  return Make(400, "BadRequest", std::move(message));
}

ApiStatus Unauthorized() {
  return Make(401, "Unauthorized", "Unauthorized");
}

ApiStatus MethodNotAllowed() {
  return Make(405, "MethodNotAllowed",
              "the server does not allow this method on the requested resource");
}

ApiStatus NotAcceptable() {
  return Make(406, "NotAcceptable",
              "only the following media types are accepted: application/json, "
              "application/json;as=Table;g=meta.k8s.io;v=v1");
}

ApiStatus UnsupportedMediaType(std::string_view accepted) {
  return Make(415, "UnsupportedMediaType",
              "the body of the request was in an unknown format - accepted media types include: " +
                  std::string(accepted));
}

ApiStatus RequestTooLarge(size_t limit) {
  return Make(413, "RequestEntityTooLarge",
              "Request entity too large: limit is " + std::to_string(limit));
}

ApiStatus Expired(std::string message) {
  return Make(410, "Expired", std::move(message));
}

ApiStatus VersionTooLarge(int64_t asked, int64_t current) {
  ApiStatus status = Make(504, "Timeout",
                          "Too large resource version: " + std::to_string(asked) +
                              ", current: " + std::to_string(current));
  status.causes.push_back({"ResourceVersionTooLarge", "Too large resource version", ""});
  status.retry_after_seconds = 1;
  return status;
}

ApiStatus TooManyRequests(int retry_after_seconds) {
  ApiStatus status = Make(429, "TooManyRequests", "Too many requests, please try again later.");
  status.retry_after_seconds = retry_after_seconds;
  return status;
}

ApiStatus Internal(std::string_view message) {
  return Make(500, "InternalError", "Internal error occurred: " + std::string(message));
}

ApiStatus FromError(const Error& error, Kind kind, std::string_view name) {
  const auto about = [&](int code, std::string_view reason) {
    return About(Make(code, reason, error.message()), PluralOf(kind), name);
  };
  switch (error.code()) {
    case Code::kInvalid:
      return about(400, "BadRequest");
    case Code::kUnauthorized:
      return Unauthorized();
    case Code::kForbidden:
      return about(403, "Forbidden");
    case Code::kNotFound:
      return NotFound(kind, name);
    case Code::kUnsupported:
      return about(501, "MethodNotAllowed");
    case Code::kAlreadyExists:
      return AlreadyExists(kind, name);
    case Code::kConflict:
      return Modified(kind, name);
    case Code::kExpired:
      return about(410, "Expired");
    case Code::kTooLarge:
      return about(413, "RequestEntityTooLarge");
    case Code::kBusy: {
      ApiStatus status = about(429, "TooManyRequests");
      status.retry_after_seconds = 1;
      return status;
    }
    case Code::kUnavailable: {
      ApiStatus status = about(503, "ServiceUnavailable");
      status.retry_after_seconds = 1;
      return status;
    }
    case Code::kDeadline:
      return about(504, "Timeout");
    case Code::kInternal:
      break;
  }
  return Internal(error.message());
}

std::string DeletedStatus(const Object& object) {
  std::string text;
  JsonWriter json(text);
  json.BeginObject().Member("kind", "Status").Member("apiVersion", "v1");
  json.Key("metadata").BeginObject().EndObject();
  json.Member("status", "Success").Key("details").BeginObject();
  json.Member("name", object.meta.name).Member("group", kApiGroup);
  json.Member("kind", PluralOf(object.kind)).Member("uid", object.meta.uid);
  json.EndObject().EndObject();
  text += '\n';
  return text;
}

}  // namespace detent
