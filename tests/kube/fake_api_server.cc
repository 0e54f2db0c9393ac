#include "tests/kube/fake_api_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "core/base/json_patch.h"

namespace detent::testing {
namespace {

std::string Decoded(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%' || i + 2 >= text.size()) {
      out += text[i];
      continue;
    }
    out += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
    i += 2;
  }
  return out;
}

std::string MemberText(const Json& json, const std::string& pointer) {
  const Json* value = json.At(pointer);
  return value != nullptr && value->is_string() ? value->as_string() : "";
}

bool SendAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

// One request out of a connection; nullopt: it has ended.
std::optional<ApiCall> ReadCall(int fd, std::string& in) {
  size_t end = 0;
  size_t length = 0;
  const auto whole = [&] {
    end = in.find("\r\n\r\n");
    if (end == std::string::npos) return false;
    const char* found = strcasestr(in.c_str(), "content-length:");
    const bool in_head = found != nullptr && found < in.c_str() + end;
    length = in_head ? static_cast<size_t>(std::atoll(found + 15)) : 0;
    return in.size() >= end + 4 + length;
  };
  while (!whole()) {
    char buffer[16384];
    const ssize_t got = recv(fd, buffer, sizeof buffer, 0);
    if (got <= 0) return std::nullopt;
    in.append(buffer, static_cast<size_t>(got));
  }
  ApiCall call;
  call.head = in.substr(0, end);
  call.body = in.substr(end + 4, length);
  in.erase(0, end + 4 + length);
  call.method = call.head.substr(0, call.head.find(' '));
  const size_t target_at = call.method.size() + 1;
  const std::string target =
      call.head.substr(target_at, call.head.find(' ', target_at) - target_at);
  const size_t mark = target.find('?');
  call.path = Decoded(target.substr(0, mark));
  for (size_t at = mark; at != std::string::npos; at = target.find('&', at + 1)) {
    const std::string part = target.substr(at + 1, target.find('&', at + 1) - at - 1);
    const size_t equals = part.find('=');
    if (equals != std::string::npos) {
      call.query[part.substr(0, equals)] = Decoded(part.substr(equals + 1));
    }
  }
  return call;
}

std::string AsChunk(const std::string& bytes) {
  char size[32];
  std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
  return size + bytes + "\r\n";
}

}  // namespace

ApiAnswer Refuse(int status, const std::string& reason, const std::string& message) {
  Json body;
  body.Set("kind", "Status").Set("apiVersion", "v1").Set("status", "Failure");
  body.Set("reason", reason).Set("message", message).Set("code", status);
  return {status, DumpJson(body)};
}

struct FakeApiServer::Watch {
  Place place;
  std::string selector;
  size_t next = 0;  // In history_.
  int64_t next_extra = 0;
  std::string first;  // Lines that come before all others.
};

FakeApiServer::FakeApiServer() {
  Listen();
  acceptor_ = std::thread([this] { Accept(); });
}

FakeApiServer::~FakeApiServer() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    shutdown(listener_, SHUT_RDWR);
    for (const int fd : sockets_) shutdown(fd, SHUT_RDWR);
  }
  changed_.notify_all();
  acceptor_.join();
  for (std::thread& thread : threads_) thread.join();
  close(listener_);
}

void FakeApiServer::Listen() {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int one = 1;
  setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) std::abort();
  listen(listener_, 64);
  socklen_t size = sizeof address;
  getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
}

std::string FakeApiServer::Url() const {
  return "http://127.0.0.1:" + std::to_string(port_);
}

void FakeApiServer::Accept() {
  while (true) {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    std::lock_guard lock(mutex_);
    if (stopping_) {
      if (fd >= 0) close(fd);
      return;
    }
    if (fd < 0) continue;
    if (away_) {
      const linger at_once{1, 0};
      setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
      close(fd);
      continue;
    }
    const int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    sockets_.insert(fd);
    threads_.emplace_back([this, fd] { Serve(fd); });
  }
}

void FakeApiServer::Serve(int fd) {
  std::string in;
  while (auto call = ReadCall(fd, in)) {
    std::optional<ApiAnswer> answer = AskHook(*call);
    if (!answer) {
      std::lock_guard lock(mutex_);
      answer = Answer(*call);
    }
    if (answer->drop) break;
    if (answer->status == 0) {
      StreamWatch(fd, *call);
      break;
    }
    const std::string bytes = "HTTP/1.1 " + std::to_string(answer->status) +
                              " X\r\nContent-Type: application/json\r\nContent-Length: " +
                              std::to_string(answer->body.size()) + "\r\n\r\n" + answer->body;
    if (!SendAll(fd, bytes)) break;
  }
  std::lock_guard lock(mutex_);
  sockets_.erase(fd);
  close(fd);
}

std::optional<ApiAnswer> FakeApiServer::AskHook(const ApiCall& call) {
  std::unique_lock lock(mutex_);
  calls_.push_back(Decoded(call.head.substr(0, call.head.find(" HTTP/"))));
  changed_.notify_all();
  changed_.wait(lock, [&] { return !held_ || stopping_; });
  const Hook hook = hook_;
  if (hook == nullptr) return std::nullopt;
  ++hooks_running_;
  lock.unlock();
  std::optional<ApiAnswer> answer = hook(call);
  lock.lock();
  --hooks_running_;
  changed_.notify_all();
  return answer;
}

FakeApiServer::Place FakeApiServer::PlaceOf(const std::string& path) {
  std::vector<std::string> parts;
  for (size_t at = 0; at != std::string::npos;) {
    const size_t next = path.find('/', at + 1);
    parts.push_back(path.substr(at + 1, next == std::string::npos ? next : next - at - 1));
    at = next;
  }
  Place place;
  size_t i = parts[0] == "api" ? 2 : 3;
  for (size_t part = 0; part < i && part < parts.size(); ++part) place.api += "/" + parts[part];
  if (i + 1 < parts.size() && parts[i] == "namespaces") {
    place.ns = parts[i + 1];
    i += 2;
  }
  if (i < parts.size()) place.plural = parts[i];
  if (i + 1 < parts.size()) place.name = parts[i + 1];
  if (i + 2 < parts.size()) place.subresource = parts[i + 2];
  return place;
}

bool FakeApiServer::Matches(const Json& object, const std::string& selector) {
  if (!object.is_object()) return false;
  for (size_t at = 0; at < selector.size();) {
    const size_t end = std::min(selector.find(',', at), selector.size());
    const std::string part = selector.substr(at, end - at);
    const size_t equals = part.find('=');
    const std::string wanted = part.substr(equals + 1);
    if (MemberText(object, "/metadata/labels" + PointerToken(part.substr(0, equals))) != wanted) {
      return false;
    }
    at = end + 1;
  }
  return true;
}

bool FakeApiServer::IsIn(const Place& place, const Place& collection) {
  return place.api == collection.api && place.plural == collection.plural &&
         (collection.ns.empty() || place.ns == collection.ns);
}

std::vector<Json> FakeApiServer::ObjectsIn(const Place& collection,
                                           const std::string& selector) const {
  std::vector<Json> found;
  for (const auto& [path, entry] : objects_) {
    if (IsIn(entry.first, collection) && Matches(entry.second, selector)) {
      found.push_back(entry.second);
    }
  }
  return found;
}

// Under mutex_. Status 0: a watch.
ApiAnswer FakeApiServer::Answer(const ApiCall& call) {
  const Place place = PlaceOf(call.path);
  if (call.method == "POST") return Create(call, place);
  if (call.method == "PATCH" || call.method == "PUT") return Change(call, place);
  if (call.method == "DELETE") return Delete(call, place);
  if (place.plural.empty() && call.path.starts_with("/api")) return Discover(call.path);
  if (place.name.empty()) return List(call, place);
  const auto found = objects_.find(call.path);
  if (found == objects_.end()) return Refuse(404, "NotFound", "\"" + place.name + "\" not found");
  return {200, DumpJson(found->second.second)};
}

// "/api", "/api/v1", "/apis/apps", "/apis/apps/v1".
ApiAnswer FakeApiServer::Discover(const std::string& path) const {
  const std::string place = path.starts_with("/apis/") ? path.substr(6) : path.substr(4);
  const std::string api_version = place.starts_with("/") ? place.substr(1) : place;
  Json body, versions{Json::Array()};
  if (const auto found = installed_.find(api_version); found != installed_.end()) {
    body.Set("kind", "APIResourceList").Set("apiVersion", "v1").Set("groupVersion", api_version);
    body.Set("resources", found->second);
    return {200, DumpJson(body)};
  }
  for (const auto& [name, resources] : installed_) {
    const size_t slash = name.find('/');
    if (place.empty() && slash == name.npos) versions.Append(name);
    if (place.empty() || slash == name.npos || name.substr(0, slash) != place) continue;
    Json version;
    version.Set("groupVersion", name).Set("version", name.substr(slash + 1));
    versions.Append(std::move(version));
  }
  if (versions.as_array().empty()) return {404, "404 page not found\n"};
  body.Set("kind", place.empty() ? "APIVersions" : "APIGroup").Set("name", place);
  body.Set("versions", std::move(versions));
  return {200, DumpJson(body)};
}

ApiAnswer FakeApiServer::List(const ApiCall& call, const Place& place) {
  if (call.watches()) {
    const bool streams = call.Query("sendInitialEvents") == "true";
    if (streams && manners_.refuse_streaming != 0) {
      return Refuse(manners_.refuse_streaming, "Invalid", "sendInitialEvents is forbidden");
    }
    const std::string since = call.Query("resourceVersion");
    const bool gone = !since.empty() && std::stoll(since) < compacted_;
    if (gone && !manners_.gone_as_event) return Refuse(410, "Expired", "too old resource version");
    return {0, ""};
  }
  const std::string limit = call.Query("limit"), token = call.Query("continue");
  int64_t version = version_;
  size_t offset = 0;
  if (!token.empty()) {
    version = std::stoll(token);
    offset = static_cast<size_t>(std::stoll(token.substr(token.find('.') + 1)));
    if (version < compacted_) return Refuse(410, "Expired", "the continue token is too old");
  } else {
    snapshots_[version] = ObjectsIn(place, call.Query("labelSelector"));
  }
  const std::vector<Json>& all = snapshots_[version];
  const size_t end =
      limit.empty() ? all.size() : std::min<size_t>(all.size(), offset + std::stoul(limit));
  Json metadata, items{Json::Array()};
  for (size_t i = offset; i < end; ++i) {
    Json item = all[i];
    item.Remove("kind");
    item.Remove("apiVersion");
    items.Append(std::move(item));
  }
  metadata.Set("resourceVersion", std::to_string(version));
  if (end < all.size()) {
    metadata.Set("continue", std::to_string(version) + "." + std::to_string(end));
  }
  Json body;
  body.Set("kind", "ThingList").Set("apiVersion", "v1").Set("metadata", std::move(metadata));
  body.Set("items", std::move(items));
  return {200, DumpJson(body)};
}

ApiAnswer FakeApiServer::Create(const ApiCall& call, Place place) {
  auto object = ParseJson(call.body);
  if (!object) return Refuse(400, "BadRequest", object.error().message());
  place.name = MemberText(*object, "/metadata/name");
  const std::string path = call.path + "/" + place.name;
  if (objects_.count(path) > 0) {
    return Refuse(409, "AlreadyExists", "\"" + place.name + "\" already exists");
  }
  if (call.Query("dryRun") == "All") return {201, DumpJson(*object)};
  Store(place, *std::move(object));
  return {201, DumpJson(objects_.at(path).second)};
}

ApiAnswer FakeApiServer::Change(const ApiCall& call, const Place& place) {
  const auto found = objects_.find(call.path);
  if (found == objects_.end()) return Refuse(404, "NotFound", "\"" + place.name + "\" not found");
  const auto change = ParseJson(call.body);
  if (!change) return Refuse(400, "BadRequest", change.error().message());
  const Json& before = found->second.second;
  for (const char* field : {"/metadata/resourceVersion", "/metadata/uid"}) {
    const std::string wanted = MemberText(*change, field);
    if (!wanted.empty() && wanted != MemberText(before, field)) {
      return Refuse(409, "Conflict", "the object has been modified");
    }
  }
  Json object = call.method == "PUT" ? *change : MergePatch(before, *change);
  const Json* finalizers = object.At("/metadata/finalizers");
  const bool held =
      finalizers != nullptr && finalizers->is_array() && !finalizers->as_array().empty();
  const bool ends = object.At("/metadata/deletionTimestamp") != nullptr && !held;
  Store(place, object);
  if (ends) Erase(place);
  return {200, DumpJson(object)};
}

ApiAnswer FakeApiServer::Delete(const ApiCall& call, const Place& place) {
  const auto found = objects_.find(call.path);
  if (found == objects_.end()) return Refuse(404, "NotFound", "\"" + place.name + "\" not found");
  Json object = found->second.second;
  const auto options = ParseJson(call.body.empty() ? "{}" : call.body);
  const std::string uid = options ? MemberText(*options, "/preconditions/uid") : "";
  if (!uid.empty() && uid != MemberText(object, "/metadata/uid")) {
    return Refuse(409, "Conflict", "the UID in the precondition is another");
  }
  const Json* finalizers = object.At("/metadata/finalizers");
  if (finalizers != nullptr && finalizers->is_array() && !finalizers->as_array().empty()) {
    object.Find("metadata")->Set("deletionTimestamp", "2026-11-21T10:00:00Z");
    Store(place, object);
    return {200, DumpJson(objects_.at(call.path).second)};
  }
  Erase(place);
  return {200, R"({"kind":"Status","apiVersion":"v1","status":"Success"})"};
}

namespace {

std::string PathOfPlace(const std::string& api, const std::string& ns, const std::string& rest) {
  return api + (ns.empty() ? "" : "/namespaces/" + ns) + "/" + rest;
}

}  // namespace

void FakeApiServer::Store(const Place& place, Json object) {
  const std::string path = PathOfPlace(place.api, place.ns, place.plural + "/" + place.name);
  const auto found = objects_.find(path);
  Json before;
  if (found != objects_.end()) before = found->second.second;
  if (object.is_null()) object = Json::Object();
  if (object.Find("kind") == nullptr) object.Set("kind", "Thing").Set("apiVersion", "v1");
  if (object.Find("metadata") == nullptr) object.Set("metadata", Json::Object());
  Json& metadata = *object.Find("metadata");
  metadata.Set("name", place.name);
  if (!place.ns.empty()) metadata.Set("namespace", place.ns);
  if (metadata.Find("uid") == nullptr) {
    const std::string uid = MemberText(before, "/metadata/uid");
    metadata.Set("uid", uid.empty() ? "uid-" + std::to_string(++uids_) : uid);
  }
  metadata.Set("resourceVersion", std::to_string(++version_));
  history_.push_back({version_, before.is_null() ? "ADDED" : "MODIFIED", place, object, before});
  objects_[path] = {place, std::move(object)};
  changed_.notify_all();
}

void FakeApiServer::Erase(const Place& place) {
  const std::string path = PathOfPlace(place.api, place.ns, place.plural + "/" + place.name);
  const auto found = objects_.find(path);
  if (found == objects_.end()) return;
  Json object = found->second.second;
  object.Find("metadata")->Set("resourceVersion", std::to_string(++version_));
  history_.push_back({version_, "DELETED", place, object, found->second.second});
  objects_.erase(found);
  changed_.notify_all();
}

// What a watch has not sent yet. Under mutex_.
std::string FakeApiServer::LinesFor(Watch& watch) {
  std::string lines = std::exchange(watch.first, "");
  const auto line = [&](const std::string& type, const Json& object) {
    Json event;
    event.Set("type", type).Set("object", object);
    lines += DumpJson(event) + "\n";
  };
  for (; watch.next < history_.size(); ++watch.next) {
    const Event& event = history_[watch.next];
    if (!IsIn(event.place, watch.place)) continue;
    const bool was = Matches(event.before, watch.selector);
    const bool is = event.type != "DELETED" && Matches(event.object, watch.selector);
    if (is) line(was ? "MODIFIED" : "ADDED", event.object);
    if (was && !is) line("DELETED", event.object);
  }
  for (const auto& [number, text] : extra_lines_) {
    if (number >= watch.next_extra) lines += text + "\n";
  }
  watch.next_extra = extra_;
  return lines;
}

void FakeApiServer::StreamWatch(int fd, const ApiCall& call) {
  if (!SendAll(fd,
               "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
               "Transfer-Encoding: chunked\r\n\r\n")) {
    return;
  }
  Watch watch;
  watch.place = PlaceOf(call.path);
  watch.selector = call.Query("labelSelector");
  std::unique_lock lock(mutex_);
  const int ends = ends_, cuts = cuts_;
  watch.next_extra = extra_;
  const std::string since = call.Query("resourceVersion");
  const auto line = [&](const std::string& type, const Json& object) {
    Json event;
    event.Set("type", type).Set("object", object);
    watch.first += DumpJson(event) + "\n";
  };
  if (!since.empty()) {
    if (std::stoll(since) < compacted_) {
      line("ERROR", *ParseJson(Refuse(410, "Expired", "too old resource version").body));
    }
    while (watch.next < history_.size() && history_[watch.next].version <= std::stoll(since)) {
      ++watch.next;
    }
  } else {
    for (const Json& object : ObjectsIn(watch.place, watch.selector)) line("ADDED", object);
    watch.next = history_.size();
    if (call.Query("sendInitialEvents") == "true" && !manners_.ignores_streaming) {
      watch.first += R"({"type":"BOOKMARK","object":{"kind":"Thing","apiVersion":"v1","metadata":)"
                     R"({"resourceVersion":")" +
                     std::to_string(version_) +
                     R"(","annotations":{"k8s.io/initial-events-end":"true"}}}})"
                     "\n";
    }
  }
  ++watches_;
  ++watches_begun_;
  changed_.notify_all();
  bool alive = true;
  while (alive && !stopping_ && cuts == cuts_ && ends == ends_) {
    const std::string lines = silent_ ? "" : LinesFor(watch);
    if (lines.empty()) {
      changed_.wait(lock);
      continue;
    }
    lock.unlock();
    alive = SendAll(fd, AsChunk(lines));
    lock.lock();
  }
  --watches_;
  const bool in_order = ends != ends_ && cuts == cuts_;
  lock.unlock();
  changed_.notify_all();
  if (in_order) SendAll(fd, "0\r\n\r\n");
}

void FakeApiServer::SetManners(ApiManners manners) {
  std::lock_guard lock(mutex_);
  manners_ = manners;
}

void FakeApiServer::SetHook(Hook hook) {
  std::unique_lock lock(mutex_);
  hook_ = std::move(hook);
  changed_.wait(lock, [&] { return hooks_running_ == 0; });
}

void FakeApiServer::Hold() {
  std::lock_guard lock(mutex_);
  held_ = true;
}

void FakeApiServer::LetPass() {
  {
    std::lock_guard lock(mutex_);
    held_ = false;
  }
  changed_.notify_all();
}

void FakeApiServer::Put(const std::string& path, const std::string& json) {
  std::lock_guard lock(mutex_);
  Store(PlaceOf(path), *ParseJson(json));
}

void FakeApiServer::Remove(const std::string& path) {
  std::lock_guard lock(mutex_);
  Erase(PlaceOf(path));
}

void FakeApiServer::Install(const std::string& api_version, const std::string& resources_json) {
  std::lock_guard lock(mutex_);
  installed_[api_version] = *ParseJson(resources_json);
}

void FakeApiServer::Uninstall(const std::string& api_version) {
  std::lock_guard lock(mutex_);
  installed_.erase(api_version);
}

Json FakeApiServer::Get(const std::string& path) const {
  std::lock_guard lock(mutex_);
  const auto found = objects_.find(path);
  return found == objects_.end() ? Json() : found->second.second;
}

size_t FakeApiServer::size() const {
  std::lock_guard lock(mutex_);
  return objects_.size();
}

void FakeApiServer::Compact() {
  std::lock_guard lock(mutex_);
  compacted_ = ++version_;
}

void FakeApiServer::SendLine(const std::string& line) {
  {
    std::lock_guard lock(mutex_);
    extra_lines_.emplace_back(extra_++, line);
  }
  changed_.notify_all();
}

void FakeApiServer::SendBookmarks() {
  std::string version;
  {
    std::lock_guard lock(mutex_);
    version = std::to_string(version_);
  }
  SendLine(R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":")" + version + "\"}}}");
}

void FakeApiServer::EndWatches() {
  {
    std::lock_guard lock(mutex_);
    ++ends_;
  }
  changed_.notify_all();
}

void FakeApiServer::CutWatches() {
  {
    std::lock_guard lock(mutex_);
    ++cuts_;
    silent_ = false;
  }
  changed_.notify_all();
}

void FakeApiServer::FallSilent() {
  std::lock_guard lock(mutex_);
  silent_ = true;
}

void FakeApiServer::GoAway() {
  {
    std::lock_guard lock(mutex_);
    away_ = true;
    ++cuts_;
    for (const int fd : sockets_) shutdown(fd, SHUT_RDWR);
  }
  changed_.notify_all();
}

void FakeApiServer::ComeBack() {
  std::lock_guard lock(mutex_);
  away_ = false;
}

std::vector<std::string> FakeApiServer::calls() const {
  std::lock_guard lock(mutex_);
  return calls_;
}

int FakeApiServer::Count(const std::string& method, const std::string& part) const {
  int count = 0;
  for (const std::string& call : calls()) {
    if (call.starts_with(method + " ") && call.find(part) != std::string::npos) ++count;
  }
  return count;
}

int FakeApiServer::watches_begun() const {
  std::lock_guard lock(mutex_);
  return watches_begun_;
}

int FakeApiServer::watches() const {
  std::lock_guard lock(mutex_);
  return watches_;
}

// What is asked for may depend on more than the server, so it is looked at now and then as well.
bool FakeApiServer::WaitFor(const std::function<bool()>& holds) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!holds()) {
    if (std::chrono::steady_clock::now() >= give_up) return false;
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::milliseconds(10));
  }
  return true;
}

}  // namespace detent::testing
