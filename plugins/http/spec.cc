#include "plugins/http/spec.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string_view>

#include "plugins/http/url.h"
#include "plugins/http/wire.h"

namespace detent::http {
namespace {

using sdk::Diagnostics;
using sdk::Fields;
using sdk::Json;
using Problem = std::string_view (*)(std::string_view);

constexpr uint64_t kEntriesMost = 256;
constexpr double kSecondsMost = 86'400;

bool IsCustom(std::string_view name) {
  return !name.empty() && name.front() == '_';
}

// HAR objects may carry a comment, and fields of a tool's own behind an underscore.
void AcceptRemarks(Fields& fields, const Json& object) {
  fields.Raw("comment");
  for (uint64_t i = 0; i < object.size(); ++i) {
    const std::string_view key = object.KeyAt(i);
    if (IsCustom(key)) fields.Raw(key);
  }
}

// A text that `problem` finds nothing wrong with.
std::string ReadText(Fields& fields, std::string_view name, bool required, Problem problem) {
  const Json value = fields.Raw(name, required);
  if (!value) return {};
  const auto text = value.Text();
  if (!text) {
    fields.diag().Error(fields.PointerTo(name), "WrongType", "must be a text");
    return {};
  }
  if (problem != nullptr && !fields.IsTemplate(value)) {
    const std::string_view wrong = problem(*text);
    if (!wrong.empty()) fields.diag().Error(fields.PointerTo(name), "BadValue", wrong);
  }
  return std::string(*text);
}

uint32_t ReadSeconds(Fields& fields, std::string_view name, uint32_t fallback_ms,
                     bool zero = true) {
  const Json value = fields.Raw(name);
  if (!value || fields.IsTemplate(value)) return fallback_ms;
  const auto seconds = value.Double();
  if (!seconds) {
    fields.diag().Error(fields.PointerTo(name), "WrongType", "must be a number of seconds");
    return fallback_ms;
  }
  if (*seconds < 0 || *seconds > kSecondsMost || (*seconds == 0 && !zero)) {
    fields.diag().Error(fields.PointerTo(name), "OutOfRange",
                        zero ? "must be 0 (no limit) to 86400 seconds"
                             : "must be above 0, and at most 86400 seconds");
    return fallback_ms;
  }
  // What is above 0 must not become "no limit" by rounding.
  return static_cast<uint32_t>(std::ceil(*seconds * 1000));
}

// The lists of HAR: objects of a name, a value, a comment, and perhaps more. Written without Fields
// because this is where most of a spec's objects are, and each start reads them.
class Entries {
 public:
  Entries(Fields::Mode mode, Diagnostics& diag) : mode_(mode), diag_(diag) {}

  // What else an entry may have, besides `name`, `value`, `comment` and `_...`.
  using Names = std::initializer_list<std::string_view>;

  // Calls take(NameValue, Json entry, pointer()) for each entry that is well formed.
  template <typename Take>
  void Read(Fields& parent, std::string_view list_name, Names more, Take take) {
    const Json list = parent.Raw(list_name);
    if (!list) return;
    list_ = list_name;
    parent_ = &parent;
    if (!list.IsArray() || list.size() > kEntriesMost) {
      diag_.Error(parent.PointerTo(list_name), list.IsArray() ? "WrongLength" : "WrongType",
                  "must be a list of at most 256 objects with `name` and `value`");
      return;
    }
    for (index_ = 0; index_ < list.size(); ++index_) {
      NameValue entry;
      if (ReadOne(list[index_], more, entry)) take(std::move(entry), list[index_]);
    }
  }

  bool IsTemplate(std::string_view text) const {
    return mode_ == Fields::Mode::kTemplate && text.find("${") != std::string_view::npos;
  }

  // The place of the entry under way.
  std::string PointerTo(std::string_view field) const {
    std::string pointer = parent_->PointerTo(list_) + "/" + std::to_string(index_);
    return field.empty() ? pointer : pointer + sdk::PointerToken(field);
  }

  void Judge(std::string_view field, std::string_view text, Problem problem) {
    if (IsTemplate(text)) return;
    const std::string_view wrong = problem(text);
    if (!wrong.empty()) diag_.Error(PointerTo(field), "BadValue", wrong);
  }

 private:
  bool ReadOne(const Json& object, Names more, NameValue& out) {
    if (!object.IsObject()) {
      diag_.Error(PointerTo(""), "WrongType", "must be an object with `name` and `value`");
      return false;
    }
    bool has_name = false;
    bool has_value = false;
    for (uint64_t i = 0; i < object.size(); ++i) {
      const std::string_view key = object.KeyAt(i);
      if (key == "name") {
        has_name = ReadPart(object[i], key, out.name);
      } else if (key == "value") {
        has_value = ReadPart(object[i], key, out.value);
      } else if (key != "comment" && !IsCustom(key) &&
                 std::find(more.begin(), more.end(), key) == more.end()) {
        Unknown(key, more);
      }
    }
    if (!has_name && !object["name"]) diag_.Error(PointerTo("name"), "Required", "must be given");
    if (!has_value && !object["value"]) {
      diag_.Error(PointerTo("value"), "Required", "must be given");
    }
    return has_name && has_value;
  }

  bool ReadPart(const Json& value, std::string_view key, std::string& out) {
    const auto text = value.Text();
    if (text) out.assign(*text);
    if (!text) diag_.Error(PointerTo(key), "WrongType", "must be a text", "put it in quotes");
    return text.has_value();
  }

  void Unknown(std::string_view key, Names more) {
    std::vector<std::string_view> known = {"name", "value", "comment"};
    known.insert(known.end(), more.begin(), more.end());
    const std::string_view near = sdk::Nearest(key, known.begin(), known.end());
    diag_.Error(PointerTo(key), "UnknownField", "there is no such field", sdk::DidYouMean(near));
  }

  Fields::Mode mode_;
  Diagnostics& diag_;
  Fields* parent_ = nullptr;
  std::string_view list_;
  uint64_t index_ = 0;
};

void ReadHeaders(Fields& request, Entries& entries, HttpSpec& spec) {
  entries.Read(request, "headers", {}, [&](NameValue header, const Json&) {
    if (IsLeftToTheHost(header.name)) {
      request.diag().Warning(
          entries.PointerTo("name"), "HeaderIgnored",
          "is set by the host for the connection it uses, and not sent from here");
      return;
    }
    entries.Judge("name", header.name, &HeaderNameProblem);
    entries.Judge("value", header.value, &HeaderValueProblem);
    spec.headers.push_back(std::move(header));
  });
}

void ReadCookies(Fields& request, Entries& entries, HttpSpec& spec) {
  const auto more = {std::string_view("path"),    std::string_view("domain"),
                     std::string_view("expires"), std::string_view("httpOnly"),
                     std::string_view("secure"),  std::string_view("sameSite")};
  entries.Read(request, "cookies", more, [&](NameValue cookie, const Json& entry) {
    entries.Judge("name", cookie.name, &HeaderNameProblem);
    entries.Judge("value", cookie.value, &CookieValueProblem);
    spec.cookies.push_back(
        {std::move(cookie.name), std::move(cookie.value), entry["secure"].Bool().value_or(false)});
  });
}

void ReadParams(Fields& body, Entries& entries, HttpSpec& spec) {
  spec.has_params = static_cast<bool>(body.Raw("params"));
  entries.Read(body, "params", {"fileName", "contentType"},
               [&](NameValue field, const Json& entry) {
                 for (const std::string_view name : {"fileName", "contentType"}) {
                   if (!entry[name]) continue;
                   body.diag().Error(entries.PointerTo(name), "NotOffered",
                                     "is not offered by this version: there are no files in a form",
                                     "send it as `text`");
                 }
                 spec.params.push_back(std::move(field));
               });
}

void ReadBody(Fields& request, Fields::Mode mode, Entries& entries, HttpSpec& spec) {
  const Json json = request.Raw("postData");
  if (!json) return;
  Fields body(json, request.PointerTo("postData"), mode, request.diag());
  AcceptRemarks(body, json);
  spec.mime_type = ReadText(body, "mimeType", false, &HeaderValueProblem);
  if (body.Raw("text")) spec.text = ReadText(body, "text", false, nullptr);
  ReadParams(body, entries, spec);
  // Recorded requests carry an empty list beside the text.
  if (spec.text && spec.params.empty()) spec.has_params = false;
  if (spec.text && spec.has_params) {
    body.diag().Error(body.PointerTo("params"), "Conflict",
                      "`text` and `params` must not both be given");
  }
  if (entries.IsTemplate(spec.mime_type)) return;
  if (spec.has_params && !spec.mime_type.empty() && !IsFormType(spec.mime_type)) {
    body.diag().Error(body.PointerTo("mimeType"), "NotOffered",
                      "`params` are offered for application/x-www-form-urlencoded only",
                      "give the body as `text`");
  }
  if (spec.text && !CharsetFits(spec.mime_type, *spec.text)) {
    body.diag().Error(body.PointerTo("mimeType"), "BadValue",
                      "the text is sent as UTF-8, which is not the charset given here");
  }
}

void ReadHttpVersion(Fields& request) {
  const std::string version = ReadText(request, "httpVersion", false, nullptr);
  constexpr std::string_view kKnown[] = {"HTTP/1.0", "HTTP/1.1", "HTTP/2", "HTTP/2.0",
                                         "HTTP/3",   "h2",       "h3"};
  if (version.empty() || version.find("${") != std::string::npos) return;
  for (const std::string_view known : kKnown) {
    if (SameIgnoringCase(version, known)) return;
  }
  request.diag().Error(request.PointerTo("httpVersion"), "UnknownValue",
                       "is no version of HTTP that a HAR knows", "leave it out: HTTP/1.1 is used");
}

void ReadRequest(Fields& fields, Fields::Mode mode, HttpSpec& spec) {
  const Json json = fields.Raw("request", true);
  if (!json) return;
  Fields request(json, "/request", mode, fields.diag());
  AcceptRemarks(request, json);
  if (request.Raw("method")) spec.method = ReadText(request, "method", false, &MethodProblem);
  spec.url = ReadText(request, "url", true, &UrlProblem);
  ReadHttpVersion(request);
  // Sizes of a recorded request mean nothing for the one to be sent.
  request.Raw("headersSize");
  request.Raw("bodySize");
  Entries entries(mode, fields.diag());
  ReadHeaders(request, entries, spec);
  entries.Read(request, "queryString", {},
               [&](NameValue pair, const Json&) { spec.query.push_back(std::move(pair)); });
  ReadCookies(request, entries, spec);
  ReadBody(request, mode, entries, spec);
}

void ReadTimeouts(Fields timeout, HttpSpec& spec) {
  spec.connect_ms = ReadSeconds(timeout, "connectTimeout", kDefaultConnectMs, false);
  spec.read_ms = ReadSeconds(timeout, "readTimeout", 0);
  spec.socket_ms = ReadSeconds(timeout, "socketTimeout", 0);
  // A patience that was asked for must not be cut by a default that was not.
  const uint32_t total =
      spec.read_ms == 0 ? kDefaultTotalMs : spec.connect_ms + spec.read_ms + kDefaultTotalMs;
  spec.total_ms = ReadSeconds(timeout, "totalTimeout", total);
}

void ReadResponse(Fields response, HttpSpec& spec) {
  const std::string format = response.Text("format", {.one_of = {"auto", "json", "text"}});
  if (format == "json") spec.format = Format::kJson;
  if (format == "text") spec.format = Format::kText;
  spec.max_bytes = static_cast<uint64_t>(
      response.Int("maxBytes", {.fallback = static_cast<int64_t>(kDefaultMaxBytes),
                                .min = 1,
                                .max = static_cast<int64_t>(kMostBytes)}));
  if (response.Raw("resultJsonPath")) {
    response.diag().Error(response.PointerTo("resultJsonPath"), "NotOffered",
                          "is not offered by this version: a status of 2xx alone means success",
                          "leave it out; the body is kept in the task's output");
  }
}

}  // namespace

HttpSpec ReadSpec(Fields& fields, Fields::Mode mode) {
  HttpSpec spec;
  ReadRequest(fields, mode, spec);
  if (fields.Raw("timeout")) ReadTimeouts(fields.Object("timeout"), spec);
  if (fields.Raw("response")) ReadResponse(fields.Object("response"), spec);
  if (fields.Raw("idempotent")) spec.idempotent = fields.Bool("idempotent");
  return spec;
}

HttpConfig ReadConfig(Fields& fields) {
  HttpConfig config;
  config.max_connections = fields.Int("maxConnections", {.fallback = 256, .min = 1, .max = 4096});
  config.max_queued = fields.Int("maxQueued", {.fallback = 10'000, .min = 0, .max = 1'000'000});
  config.user_agent = fields.Text("userAgent", {.fallback = "detent-http/0.1", .max_bytes = 1024});
  const std::string_view wrong = HeaderValueProblem(config.user_agent);
  if (!wrong.empty()) fields.diag().Error("/userAgent", "BadValue", wrong);
  config.fresh_connections = fields.Bool("freshConnections");
  config.allow = fields.Texts("allow");
  config.deny = fields.Texts("deny");
  return config;
}

bool IsRerunSafe(const HttpSpec& spec) {
  if (spec.idempotent) return *spec.idempotent;
  constexpr std::string_view kSafe[] = {"GET", "HEAD", "OPTIONS", "PUT", "DELETE"};
  return std::find(std::begin(kSafe), std::end(kSafe), spec.method) != std::end(kSafe);
}

}  // namespace detent::http
