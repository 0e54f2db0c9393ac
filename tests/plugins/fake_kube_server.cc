#include "tests/plugins/fake_kube_server.h"

#include <algorithm>

#include "core/base/clock.h"

namespace detent::testing {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

std::string TextOf(int64_t ns) {
  return FormatTime(
      WallTime(std::chrono::duration_cast<WallTime::duration>(std::chrono::nanoseconds(ns))));
}

// 0: it is no time.
int64_t NanosOf(const std::string& text) {
  const auto time = ParseTime(text);
  return time ? std::chrono::nanoseconds(time->time_since_epoch()).count() : 0;
}

std::string KeyOf(const std::string& ns, const std::string& name) {
  return ns + "/" + name;
}

std::string Quoted(const std::string& text) {
  return "\"" + text + "\"";
}

bool IsTerminal(const Json& pod) {
  const std::string phase = TextAt(pod, "/status/phase");
  return phase == "Succeeded" || phase == "Failed";
}

bool HasFinalizers(const Json& pod) {
  const Json* const list = pod.At("/metadata/finalizers");
  return list != nullptr && list->is_array() && !list->as_array().empty();
}

std::optional<int64_t> IntAt(const Json& object, const std::string& pointer) {
  const Json* const found = object.At(pointer);
  if (found == nullptr || !found->is_int()) return std::nullopt;
  return found->as_int();
}

KubeResponse Failure(uint32_t status, std::string reason, std::string message) {
  return {status, std::move(reason), std::move(message), ""};
}

KubeResponse NotFound(const std::string& name) {
  return Failure(404, "NotFound", "pods " + Quoted(name) + " not found");
}

KubeResponse Success(const Json& object, uint32_t status = 200) {
  return {status, "", "", DumpJson(object)};
}

// The parts of "a=b&c=d", not decoded.
std::string QueryValue(const std::string& query, const std::string& name) {
  const std::string padded = "&" + query;
  const size_t at = padded.find("&" + name + "=");
  if (at == std::string::npos) return {};
  const size_t begin = at + name.size() + 2;
  return padded.substr(begin, padded.find('&', begin) - begin);
}

// How long the containers may take to end, by the Pod's registry.
int64_t GraceFor(const Json& pod, std::optional<int64_t> asked) {
  if (TextAt(pod, "/spec/nodeName").empty() || IsTerminal(pod)) return 0;
  const int64_t grace =
      asked.value_or(IntAt(pod, "/spec/terminationGracePeriodSeconds").value_or(30));
  return grace < 0 ? 1 : grace;
}

void SetDeletion(Json& pod, int64_t when_ns, int64_t grace) {
  Json& meta = *pod.Find("metadata");
  meta.Set("deletionTimestamp", TextOf(when_ns));
  meta.Set("deletionGracePeriodSeconds", grace);
}

// "" or "key in (a,b)": whether an object's labels match.
bool Matches(const Json& pod, const std::string& selector) {
  if (selector.empty()) return true;
  const size_t open = selector.find(" in (");
  const Json* const labels = pod.At("/metadata/labels");
  const Json* const value = labels == nullptr ? nullptr : labels->Find(selector.substr(0, open));
  if (value == nullptr) return false;
  const std::string set = "," + selector.substr(open + 5, selector.size() - open - 6) + ",";
  return set.find("," + value->as_string() + ",") != std::string::npos;
}

Json ContainerStatus(const std::string& name, Json state) {
  Json status;
  status.Set("name", name);
  status.Set("state", std::move(state));
  status.Set("restartCount", 0);
  return status;
}

}  // namespace

std::string TextAt(const Json& object, const std::string& pointer) {
  const Json* const found = object.At(pointer);
  return found == nullptr || !found->is_string() ? std::string() : found->as_string();
}

std::string FakeKubeServer::Now() const {
  return TextOf(now_ns);
}

Json* FakeKubeServer::Mutable(const std::string& key) {
  const auto at = pods_.find(key);
  return at == pods_.end() ? nullptr : &at->second;
}

const Json* FakeKubeServer::Find(const std::string& name) const {
  const auto at = pods_.find(KeyOf("default", name));
  return at == pods_.end() ? nullptr : &at->second;
}

// Admission comes before storage: a full quota refuses even what is there already.
KubeResponse FakeKubeServer::Refusal(const std::string& ns, const Json& pod) const {
  const std::string name = TextAt(pod, "/metadata/name");
  const std::string forbidden = "pods " + Quoted(name) + " is forbidden: ";
  if (missing.count(ns) != 0) {
    return Failure(404, "NotFound", "namespaces " + Quoted(ns) + " not found");
  }
  if (terminating.count(ns) != 0) {
    return Failure(403, "Forbidden",
                   forbidden + "unable to create new content in namespace " + ns +
                       " because it is being terminated");
  }
  if (const auto limit = quota.find(ns); limit != quota.end()) {
    const auto counts = [&](const auto& entry) {
      return entry.first.starts_with(ns + "/") && !IsTerminal(entry.second);
    };
    const auto used = static_cast<size_t>(std::count_if(pods_.begin(), pods_.end(), counts));
    if (used >= limit->second) {
      return Failure(403, "Forbidden",
                     forbidden + "exceeded quota: compute, requested: pods=1, used: pods=" +
                         std::to_string(used) + ", limited: pods=" + std::to_string(limit->second));
    }
  }
  const Json* const containers = pod.At("/spec/containers");
  if (containers == nullptr || !containers->is_array() || containers->as_array().empty()) {
    return Failure(422, "Invalid",
                   "Pod " + Quoted(name) + " is invalid: spec.containers: Required value");
  }
  if (TextAt(pod, "/spec/containers/0/image").empty()) {
    return Failure(422, "Invalid",
                   "Pod " + Quoted(name) + " is invalid: spec.containers[0].image: Required value");
  }
  return {};
}

KubeResponse FakeKubeServer::Create(const std::string& ns, Json pod) {
  KubeResponse refusal = Refusal(ns, pod);
  if (refusal.status != 200) return refusal;
  const std::string name = TextAt(pod, "/metadata/name");
  const std::string key = KeyOf(ns, name);
  if (pods_.count(key) != 0) {
    return Failure(409, "AlreadyExists", "pods " + Quoted(name) + " already exists");
  }
  Json& meta = *pod.Find("metadata");
  meta.Set("namespace", ns);
  meta.Set("uid", "uid-" + std::to_string(next_uid_++));
  meta.Set("creationTimestamp", Now());
  meta.Set("resourceVersion", std::to_string(++version_));
  pod.Set("status", *ParseJson(R"({"phase":"Pending"})"));
  const Json& stored = pods_[key] = std::move(pod);
  if (on_change) on_change({PodChange::Kind::kAdded, stored});
  return Success(stored, 201);
}

KubeResponse FakeKubeServer::TryOut(const std::string& ns, const Json& pod) const {
  KubeResponse refusal = Refusal(ns, pod);
  return refusal.status != 200 ? refusal : Success(pod, 201);
}

KubeResponse FakeKubeServer::Get(const std::string& ns, const std::string& name) const {
  const auto at = pods_.find(KeyOf(ns, name));
  return at == pods_.end() ? NotFound(name) : Success(at->second);
}

KubeResponse FakeKubeServer::List(const std::string& ns, const std::string& selector) const {
  Json list;
  list.Set("kind", "PodList").Set("apiVersion", "v1");
  Json items{Json::Array{}};
  for (const auto& [key, pod] : pods_) {
    if (!ns.empty() && !key.starts_with(ns + "/")) continue;
    if (Matches(pod, selector)) items.Append(pod);
  }
  list.Set("items", std::move(items));
  return Success(list);
}

void FakeKubeServer::Changed(const std::string& key, const Json& before) {
  Json& pod = pods_[key];
  pod.Find("metadata")->Set("resourceVersion", std::to_string(++version_));
  if (on_change) on_change({PodChange::Kind::kModified, pod, &before});
  RemoveIfDone(key);
}

// What is deleted with no grace left goes as soon as nothing holds it.
void FakeKubeServer::RemoveIfDone(const std::string& key) {
  const Json& pod = pods_[key];
  if (IntAt(pod, "/metadata/deletionGracePeriodSeconds") != 0 || HasFinalizers(pod)) return;
  const Json last = pod;
  pods_.erase(key);
  if (on_change) on_change({PodChange::Kind::kDeleted, last});
}

KubeResponse FakeKubeServer::Delete(const std::string& ns, const std::string& name,
                                    const std::string& options) {
  const std::string key = KeyOf(ns, name);
  Json* const pod = Mutable(key);
  if (pod == nullptr) return NotFound(name);
  const auto given = ParseJson(options.empty() ? "{}" : options);
  const std::string uid = TextAt(*given, "/preconditions/uid");
  if (!uid.empty() && uid != TextAt(*pod, "/metadata/uid")) {
    return Failure(409, "Conflict",
                   "Operation cannot be fulfilled on pods " + Quoted(name) +
                       ": Precondition failed: UID in precondition: " + uid);
  }
  const Json before = *pod;
  const std::optional<int64_t> asked = IntAt(*given, "/gracePeriodSeconds");
  const auto old = IntAt(*pod, "/metadata/deletionGracePeriodSeconds");
  if (!old) {
    const int64_t grace = GraceFor(*pod, asked);
    SetDeletion(*pod, now_ns + grace * kSecond, grace);
  } else if (asked && *asked < *old) {
    // A grace that runs may be shortened, never lengthened.
    const int64_t at = NanosOf(TextAt(*pod, "/metadata/deletionTimestamp"));
    SetDeletion(*pod, at + (*asked - *old) * kSecond, *asked);
  } else {
    return Success(*pod);
  }
  const Json answer = *pod;
  Changed(key, before);
  return Success(pods_.count(key) != 0 ? pods_[key] : answer);
}

KubeResponse FakeKubeServer::Annotate(const std::string& ns, const std::string& name,
                                      const std::string& patch) {
  const std::string key = KeyOf(ns, name);
  Json* const pod = Mutable(key);
  if (pod == nullptr) return NotFound(name);
  const auto given = ParseJson(patch);
  for (const char* field : {"/metadata/uid", "/metadata/resourceVersion"}) {
    const std::string expected = TextAt(*given, field);
    if (expected.empty() || expected == TextAt(*pod, field)) continue;
    return Failure(
        409, "Conflict",
        "Operation cannot be fulfilled on pods " + Quoted(name) + ": the object has been modified");
  }
  const Json before = *pod;
  Json& meta = *pod->Find("metadata");
  if (meta.Find("annotations") == nullptr) meta.Set("annotations", Json(Json::Object{}));
  for (const auto& [annotation, value] : given->At("/metadata/annotations")->as_object()) {
    meta.Find("annotations")->Set(annotation, value);
  }
  Changed(key, before);
  return Success(pods_[key]);
}

KubeResponse FakeKubeServer::LetGo(const std::string& ns, const std::string& name,
                                   const std::string& uid, const std::string& label,
                                   const std::string& finalizer) {
  const std::string key = KeyOf(ns, name);
  Json* const pod = Mutable(key);
  if (pod == nullptr || (!uid.empty() && uid != TextAt(*pod, "/metadata/uid"))) return {};
  const Json before = *pod;
  Json& meta = *pod->Find("metadata");
  if (Json* const labels = meta.Find("labels")) labels->Remove(label);
  Json kept{Json::Array{}};
  if (const Json* const list = meta.Find("finalizers")) {
    for (const Json& each : list->as_array()) {
      if (each.as_string() != finalizer) kept.Append(each);
    }
  }
  meta.Set("finalizers", std::move(kept));
  Changed(key, before);
  return {};
}

void FakeKubeServer::DeleteByOthers(const std::string& name, std::optional<int64_t> grace) {
  const std::string options =
      grace ? "{\"gracePeriodSeconds\":" + std::to_string(*grace) + "}" : std::string();
  Delete("default", name, options);
}

void FakeKubeServer::Wipe(const std::string& name) {
  const Json last = *Find(name);
  pods_.erase(KeyOf("default", name));
  ++version_;
  if (on_change) on_change({PodChange::Kind::kDeleted, last});
}

void FakeKubeServer::Edit(const std::string& name, const std::function<void(Json& pod)>& change) {
  const std::string key = KeyOf("default", name);
  Json* const pod = Mutable(key);
  if (pod == nullptr) return;
  const Json before = *pod;
  change(*pod);
  Changed(key, before);
}

void FakeKubeServer::Schedule(const std::string& name, const std::string& node) {
  Edit(name, [&](Json& pod) { pod.Find("spec")->Set("nodeName", node); });
}

void FakeKubeServer::SetStatus(const std::string& name, const std::string& status_json) {
  Edit(name, [&](Json& pod) { pod.Set("status", *ParseJson(status_json)); });
}

void FakeKubeServer::Run(const std::string& name) {
  Edit(name, [&](Json& pod) {
    if (TextAt(pod, "/spec/nodeName").empty()) pod.Find("spec")->Set("nodeName", "node-1");
    Json status, statuses{Json::Array{}};
    for (const Json& container : pod.At("/spec/containers")->as_array()) {
      Json running, state;
      running.Set("startedAt", Now());
      state.Set("running", std::move(running));
      statuses.Append(ContainerStatus(TextAt(container, "/name"), std::move(state)));
    }
    status.Set("phase", "Running").Set("startTime", Now());
    status.Set("containerStatuses", std::move(statuses));
    pod.Set("status", std::move(status));
  });
}

void FakeKubeServer::End(const std::string& name, int exit_code, const std::string& message) {
  Edit(name, [&](Json& pod) {
    Json status, statuses{Json::Array{}};
    for (const Json& container : pod.At("/spec/containers")->as_array()) {
      Json ended, state;
      ended.Set("exitCode", exit_code).Set("reason", exit_code == 0 ? "Completed" : "Error");
      ended.Set("startedAt", Now()).Set("finishedAt", Now());
      if (!message.empty()) ended.Set("message", message);
      state.Set("terminated", std::move(ended));
      statuses.Append(ContainerStatus(TextAt(container, "/name"), std::move(state)));
    }
    status.Set("phase", exit_code == 0 ? "Succeeded" : "Failed");
    status.Set("containerStatuses", std::move(statuses));
    pod.Set("status", std::move(status));
  });
}

void FakeKubeServer::ConfirmDeletion(const std::string& name, int exit_code) {
  const Json* const pod = Find(name);
  if (pod == nullptr || TextAt(*pod, "/metadata/deletionTimestamp").empty()) return;
  if (!IsTerminal(*pod)) End(name, exit_code);
  if (Find(name) != nullptr) DeleteByOthers(name, 0);
}

void FakeKubeServer::Write(const std::string& name, const std::string& container,
                           const std::string& line) {
  std::string time = TextOf(now_ns);
  std::string fraction = std::to_string(now_ns % kSecond);
  fraction.insert(0, 9 - fraction.size(), '0');
  time.insert(time.size() - 1, "." + fraction);
  logs_[name + "/" + container].push_back(time + " " + line);
}

void FakeKubeServer::Rotate(const std::string& name, const std::string& container, size_t lines) {
  auto& log = logs_[name + "/" + container];
  log.erase(log.begin(), log.begin() + static_cast<std::ptrdiff_t>(lines));
}

KubeResponse FakeKubeServer::Log(const std::string& ns, const std::string& name,
                                 const std::string& query) const {
  if (pods_.count(KeyOf(ns, name)) == 0) return NotFound(name);
  const std::string container = QueryValue(query, "container");
  const auto log = logs_.find(name + "/" + container);
  if (log == logs_.end()) {
    return Failure(400, "BadRequest",
                   "container " + Quoted(container) + " in pod " + Quoted(name) +
                       " is waiting to start: ContainerCreating");
  }
  const auto since = NanosOf(QueryValue(query, "sinceTime"));
  const std::string tail = QueryValue(query, "tailLines");
  const std::string limit = QueryValue(query, "limitBytes");
  size_t skip = 0;
  if (!tail.empty()) {
    skip = log->second.size() - std::min<size_t>(log->second.size(), std::stoul(tail));
  }
  std::string text;
  for (size_t i = skip; i < log->second.size(); ++i) {
    const std::string& line = log->second[i];
    if (NanosOf(line.substr(0, line.find(' '))) < since) continue;
    text += line + "\n";
  }
  if (!limit.empty()) text.resize(std::min<size_t>(text.size(), std::stoul(limit)));
  return {200, "", "", text};
}

}  // namespace detent::testing
