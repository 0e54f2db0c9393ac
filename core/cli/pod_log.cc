#include "core/cli/pod_log.h"

#include <algorithm>
#include <optional>

#include "core/api/labels.h"
#include "core/base/clock.h"
#include "core/cli/api_client.h"
#include "core/kube/resource.h"

namespace detent {
namespace {

constexpr const char* kDefaultContainer = "kubectl.kubernetes.io/default-container";

// The status of a container by its name, among those of one sort.
const Json* StatusOf(const Json& pod, const char* sort, const std::string& name) {
  const Json* all = pod.At(std::string("/status/") + sort);
  if (all == nullptr || !all->is_array()) return nullptr;
  for (const Json& status : all->as_array()) {
    if (TextAt(status, "/name") == name) return &status;
  }
  return nullptr;
}

std::string MainContainer(const Json& pod) {
  const Json* all = pod.At("/spec/containers");
  if (all == nullptr || !all->is_array() || all->as_array().empty()) return "";
  const Json* annotations = pod.At("/metadata/annotations");
  const Json* chosen = annotations != nullptr ? annotations->Find(kDefaultContainer) : nullptr;
  for (const Json& container : all->as_array()) {
    if (chosen != nullptr && *chosen == Json(TextAt(container, "/name"))) {
      return TextAt(container, "/name");
    }
  }
  return TextAt(all->as_array()[0], "/name");
}

struct Container {
  std::string name;
  bool over = false;  // It has ended, and is not begun again.
};

bool IsPodOver(const Json& pod) {
  const std::string phase = TextAt(pod, "/status/phase");
  return phase == "Succeeded" || phase == "Failed";
}

// Whose log is the task's; nullopt: there is none, or not yet.
std::optional<Container> WithLog(const Json& pod) {
  const std::string name = MainContainer(pod);
  const bool over = IsPodOver(pod);
  if (const Json* status = StatusOf(pod, "containerStatuses", name)) {
    for (const char* state : {"/state/running", "/state/terminated", "/lastState/terminated"}) {
      if (status->At(state) != nullptr) return Container{name, over};
    }
  }
  const Json* inits = pod.At("/status/initContainerStatuses");
  if (!over || inits == nullptr || !inits->is_array()) return std::nullopt;
  for (const Json& status : inits->as_array()) {
    if (NumberAt(status, "/state/terminated/exitCode") != 0) {
      return Container{TextAt(status, "/name"), true};
    }
  }
  return std::nullopt;
}

// The Pod of that task; null: there is none.
Result<Json> FindPod(const PodLog::Source& source, const PodLog::Server& server) {
  std::string key = source.task_key;
  // As a label's value, and at the plugin border.
  std::replace(key.begin(), key.end(), '/', '.');
  const KubeResource pods{"", "v1", "pods", ""};
  const ClientReply reply =
      TRY(server.fetch(PathOf(pods, source.ns, "") + "?" +
                       QueryPart("labelSelector", std::string(labels::kTaskKey) + "=" + key)));
  if (reply.status != 200) return server.refusal(reply);
  Json list = TRY(ParseJson(reply.body, 128));
  Json* items = list.Find("items");
  if (items == nullptr || !items->is_array() || items->as_array().empty()) return Json();
  return std::move(items->as_array()[0]);
}

// The second of a line "2026-11-21T10:00:00.123456789Z text", as RFC 3339; empty: there is none.
std::string SecondOf(std::string_view line) {
  const std::string_view time = line.substr(0, line.find(' '));
  const auto parsed = ParseTime(time);
  return parsed ? FormatTime(std::chrono::floor<std::chrono::seconds>(*parsed)) : "";
}

// The same as it is stored where output is kept.
std::string CriLine(std::string_view line) {
  const size_t blank = std::min(line.find(' '), line.size());
  const std::string_view text = line.substr(std::min(blank + 1, line.size()));
  return std::string(line.substr(0, blank)) + " stdout F " + std::string(text);
}

}  // namespace

void PodLog::Give(std::string_view text, bool whole, const HttpClient::OnLine& on_line) {
  // Lines that were given before come first; a node that has rotated its log has fewer of them.
  size_t known = given_;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    // An unfinished line is read again when it has its end.
    if (end == text.npos && !whole) return;
    const std::string_view line = text.substr(0, end);
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
    const std::string second = SecondOf(line);
    if (known > 0 && second == since_) {
      --known;
      continue;
    }
    known = 0;
    // FormatTime has one form for all seconds, so that texts compare as times do.
    if (second > since_) given_ = 0;
    if (second >= since_) ++given_;
    since_ = std::max(since_, second);
    if (!on_line(second.empty() ? std::string(line) : CriLine(line))) return;
  }
}

Result<void> PodLog::Read(const Source& source, const Server& server,
                          const HttpClient::OnLine& on_line) {
  const Json pod = TRY(FindPod(source, server));
  if (pod.is_null()) {
    if (!source.ended) return {};
    return Error(Code::kExpired, "the Pod of " + source.shown +
                                     " is not there any more, and its output went with it");
  }
  const auto container = WithLog(pod);
  if (!container) return {};
  const KubeResource logs{"", "v1", "pods", "log"};
  std::string path = PathOf(logs, source.ns, TextAt(pod, "/metadata/name")) + "?timestamps=true&" +
                     QueryPart("container", container->name);
  if (!since_.empty()) path += "&" + QueryPart("sinceTime", since_);
  const ClientReply reply = TRY(server.fetch(path));
  // The server's way to say that the container is not there yet, or not any more.
  if (reply.status == 400) return {};
  if (reply.status != 200) return server.refusal(reply);
  Give(reply.body, container->over, on_line);
  return {};
}

}  // namespace detent
