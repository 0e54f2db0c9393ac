#include "core/cli/api_client.h"

namespace detent {
namespace {

constexpr const char* kPageSize = "500";
constexpr const char* kTableAccept =
    "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

std::string CollectionPath(Kind kind, const std::string& ns) {
  std::string path = std::string("/apis/") + kGroupVersion;
  if (!ns.empty()) path += "/namespaces/" + EscapeUrl(ns);
  return path + "/" + PluralOf(kind);
}

std::string ObjectPath(const ObjectKey& key) {
  return CollectionPath(key.kind, key.ns) + "/" + EscapeUrl(key.name);
}

void AddParameter(std::string& path, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  path += path.find('?') == path.npos ? '?' : '&';
  path.append(name).append("=").append(EscapeUrl(value));
}

std::string SelectionPath(const Selection& selection) {
  std::string path = CollectionPath(selection.kind, selection.ns);
  AddParameter(path, "labelSelector", selection.label_selector);
  AddParameter(path, "fieldSelector", selection.field_selector);
  if (selection.whole_rows) AddParameter(path, "includeObject", "Object");
  return path;
}

ClientRequest Get(std::string path, bool table = false) {
  ClientRequest request;
  request.path = std::move(path);
  request.headers.Add("Accept", table ? kTableAccept : "application/json");
  return request;
}

// The text of an RFC 7234 warning value: 299 - "text".
std::string WarningText(std::string_view value) {
  const size_t quote = value.find('"');
  if (quote == value.npos || value.size() < quote + 2) return std::string(value);
  std::string text;
  for (size_t i = quote + 1; i < value.size() && value[i] != '"'; ++i) {
    if (value[i] == '\\' && i + 1 < value.size()) ++i;
    text += value[i];
  }
  return text;
}

}  // namespace

Code CodeFor(int status, const std::string& reason) {
  switch (status) {
    case 401:
      return Code::kUnauthorized;
    case 403:
      return Code::kForbidden;
    case 404:
      return Code::kNotFound;
    case 405:
    case 501:
      return Code::kUnsupported;
    case 409:
      return reason == "AlreadyExists" ? Code::kAlreadyExists : Code::kConflict;
    case 410:
      return Code::kExpired;
    case 413:
      return Code::kTooLarge;
    case 429:
      return Code::kBusy;
    case 503:
      return Code::kUnavailable;
    case 504:
      return Code::kDeadline;
    default:
      return status >= 500 ? Code::kInternal : Code::kInvalid;
  }
}

Result<ClientReply> ApiClient::Heard(Result<ClientReply> reply) {
  was_replied_ = reply.has_value();
  // What stands in front of a server that is away replies too, but never so.
  has_answered_ = has_answered_ || (reply && reply->status < 500);
  return reply;
}

Error ApiClient::Unreachable(const Error& error) const {
  if (error.code() == Code::kDeadline) {
    return Error(Code::kDeadline, "the server at " + shown_ +
                                      " did not answer in time; try again, or allow more time by "
                                      "--request-timeout");
  }
  if (error.code() != Code::kUnavailable) return error;
  std::string why = error.message();
  // What libcurl says, without the request that every message begins with.
  const size_t colon = why.rfind(": ");
  if (colon != why.npos) why.erase(0, colon + 2);
  return Error(Code::kUnavailable, "`detent serve` is not running at " + shown_ + " (" + why +
                                       "); start it, or give another address by --server or "
                                       "DETENT_SERVER");
}

Error ApiClient::Unreadable(const ClientReply& reply) const {
  return Error(CodeFor(reply.status, ""),
               "the server at " + shown_ + " answered with HTTP status " +
                   std::to_string(reply.status) + "; is it `detent serve`?");
}

Error ApiClient::Advised(const Json&, Error error) const {
  if (error.code() != Code::kUnauthorized) return error;
  return Error(error.code(), error.message() + "; give a token by --token-file");
}

Error ApiClient::Refusal(const ClientReply& reply) {
  mistakes_.clear();
  const Result<Json> status = ParseJson(reply.body);
  const std::string message = status ? TextAt(*status, "/message") : "";
  if (message.empty()) return Unreadable(reply);
  const Json* causes = status->At("/details/causes");
  if (causes != nullptr && causes->is_array()) {
    for (const Json& cause : causes->as_array()) {
      mistakes_.push_back({TextAt(cause, "/field"), TextAt(cause, "/message")});
    }
  }
  return Advised(*status, Error(CodeFor(reply.status, TextAt(*status, "/reason")), message));
}

void ApiClient::ReportWarnings(const ClientReply& reply) const {
  if (!on_warning_) return;
  for (size_t i = 0; i < reply.headers.size(); ++i) {
    const std::string_view name = reply.headers.name(i);
    if (name == "Warning" || name == "warning") on_warning_(WarningText(reply.headers.value(i)));
  }
}

Result<ClientReply> ApiClient::Fetch(const ClientRequest& request) {
  Result<ClientReply> reply = Heard(transport_->Fetch(request));
  if (!reply) return Unreachable(reply.error());
  return reply;
}

Result<Json> ApiClient::Call(const ClientRequest& request) {
  const Result<ClientReply> reply = Fetch(request);
  if (!reply) return reply.error();
  if (reply->status < 200 || reply->status > 299) return Refusal(*reply);
  ReportWarnings(*reply);
  Result<Json> body = ParseJson(reply->body, 128);
  if (!body) {
    return Error(Code::kInternal, "what the server at " + shown_ +
                                      " answered is no JSON: " + body.error().message());
  }
  return body;
}

Result<Json> ApiClient::Read(const ObjectKey& key) {
  return Call(Get(ObjectPath(key)));
}

Result<Json> ApiClient::ReadTable(const ObjectKey& key) {
  return Call(Get(ObjectPath(key), true));
}

Result<Json> ApiClient::ListPages(const Selection& selection, bool table) {
  const char* member = table ? "rows" : "items";
  Json whole;
  std::string token;
  do {
    std::string path = SelectionPath(selection);
    AddParameter(path, "limit", kPageSize);
    AddParameter(path, "continue", token);
    Json page = TRY(Call(Get(std::move(path), table)));
    token = TextAt(page, "/metadata/continue");
    if (whole.is_null()) {
      whole = std::move(page);
      continue;
    }
    Json* items = page.Find(member);
    Json* all = whole.Find(member);
    if (items == nullptr || !items->is_array() || all == nullptr || !all->is_array()) break;
    for (Json& item : items->as_array()) all->as_array().push_back(std::move(item));
  } while (!token.empty());
  if (Json* metadata = whole.Find("metadata")) metadata->Remove("continue");
  return whole;
}

Result<Json> ApiClient::List(const Selection& selection) {
  return ListPages(selection, false);
}

Result<Json> ApiClient::ListTable(const Selection& selection) {
  return ListPages(selection, true);
}

Result<Json> ApiClient::Write(ClientRequest request, const Json& body, const char* type) {
  request.headers.Add("Content-Type", type);
  request.body = DumpJson(body);
  return Call(request);
}

Result<Json> ApiClient::Create(Kind kind, const std::string& ns, const Json& document,
                               bool dry_run) {
  ClientRequest request = Get(CollectionPath(kind, ns));
  request.method = "POST";
  AddParameter(request.path, "fieldValidation", "Strict");
  if (dry_run) AddParameter(request.path, "dryRun", "All");
  return Write(std::move(request), document, "application/json");
}

Result<Json> ApiClient::Patch(const ObjectKey& key, const Json& merge_patch, bool dry_run) {
  ClientRequest request = Get(ObjectPath(key));
  request.method = "PATCH";
  AddParameter(request.path, "fieldValidation", "Strict");
  if (dry_run) AddParameter(request.path, "dryRun", "All");
  return Write(std::move(request), merge_patch, "application/merge-patch+json");
}

Result<Json> ApiClient::Delete(const ObjectKey& key, const DeleteRequest& asked) {
  ClientRequest request = Get(ObjectPath(key));
  request.method = "DELETE";
  AddParameter(request.path, "propagationPolicy", asked.propagation);
  if (asked.dry_run) AddParameter(request.path, "dryRun", "All");
  return Call(request);
}

Result<void> ApiClient::Watch(WatchRequest& asked, const OnEvent& on_event) {
  std::string path = SelectionPath(asked.selection);
  AddParameter(path, "watch", "true");
  AddParameter(path, "allowWatchBookmarks", "true");
  AddParameter(path, "resourceVersion", asked.version);
  AddParameter(path, "timeoutSeconds", std::to_string(asked.limit.count()));
  std::optional<Error> failure;
  const auto on_line = [&](std::string_view line) {
    if (line.empty()) return true;
    const Result<Json> event = ParseJson(line, 128);
    const Json* object = event ? event->Find("object") : nullptr;
    if (object == nullptr) {
      failure.emplace(Code::kInternal,
                      "the server at " + shown_ + " sent an event that is no JSON");
      return false;
    }
    const std::string type = TextAt(*event, "/type");
    if (type != "ERROR") {
      const std::string version = TextAt(*object, "/metadata/resourceVersion");
      if (!version.empty()) asked.version = version;
      return type == "BOOKMARK" || on_event(type, *object);
    }
    const int status = static_cast<int>(NumberAt(*object, "/code"));
    failure.emplace(CodeFor(status, TextAt(*object, "/reason")), TextAt(*object, "/message"));
    return false;
  };
  const Result<ClientReply> reply =
      Heard(transport_->Stream(Get(std::move(path), asked.table), on_line));
  if (failure) return *failure;
  if (!reply) return Unreachable(reply.error());
  if (reply->status != 200) return Refusal(*reply);
  return {};
}

Result<std::vector<std::string>> ApiClient::Why(const ObjectKey& key) {
  const Json body = TRY(Call(Get(ObjectPath(key) + "/why")));
  std::vector<std::string> lines;
  const Json* list = body.Find("lines");
  if (list == nullptr || !list->is_array()) return lines;
  for (const Json& line : list->as_array()) {
    if (line.is_string()) lines.push_back(line.as_string());
  }
  return lines;
}

Result<void> ApiClient::Log(const LogPlace& place, int64_t offset,
                            const HttpClient::OnLine& on_line) {
  std::string path = ObjectPath(place.key) + "/log?raw=true";
  if (place.key.kind == Kind::kJob) {
    AddParameter(path, "index", std::to_string(place.index));
    AddParameter(path, "attempt", std::to_string(place.attempt));
  }
  if (offset > 0) AddParameter(path, "offset", std::to_string(offset));
  ClientRequest request;
  request.path = std::move(path);
  const Result<ClientReply> reply = Heard(transport_->Stream(request, on_line));
  if (!reply) return Unreachable(reply.error());
  if (reply->status != 200) return Refusal(*reply);
  return {};
}

std::chrono::milliseconds ApiClient::LogPause(size_t tasks) const {
  // From so many tasks on, listing them is work for the server.
  constexpr size_t kManyTasks = 200;
  return std::chrono::milliseconds(tasks < kManyTasks ? 300 : 2000);
}

Result<Json> ApiClient::Plugins() {
  return Call(Get("/detent/v1/plugins"));
}

Result<void> ApiClient::ReloadPlugin(const std::string& kind) {
  ClientRequest request = Get("/detent/v1/plugins/" + EscapeUrl(kind) + "/reload");
  request.method = "POST";
  const Result<Json> reply = Call(request);
  if (!reply) return reply.error();
  return {};
}

Result<Json> ApiClient::Version() {
  return Call(Get("/version"));
}

Result<ApiClient::CronDefaults> ApiClient::ReadCronDefaults() {
  CronDefaults defaults;
  const Result<Json> reply = Call(Get("/detent/v1/settings"));
  if (!reply && reply.error().code() != Code::kNotFound) return reply.error();
  if (!reply) return defaults;
  if (const std::string zone = TextAt(*reply, "/cron/defaultTimezone"); !zone.empty()) {
    defaults.timezone = zone;
  }
  const Json* hash = reply->At("/cron/hashNames");
  if (hash != nullptr && hash->is_bool()) defaults.hash_names = hash->as_bool();
  return defaults;
}

std::string EscapeUrl(std::string_view text) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter || c == '-' || c == '.' || c == '_' || c == '~') {
      out += c;
      continue;
    }
    out += '%';
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

std::string TextAt(const Json& value, std::string_view pointer) {
  const Json* found = value.At(pointer);
  return found != nullptr && found->is_string() ? found->as_string() : std::string();
}

int64_t NumberAt(const Json& value, std::string_view pointer) {
  const Json* found = value.At(pointer);
  return found != nullptr && found->is_int() ? found->as_int() : 0;
}

}  // namespace detent
