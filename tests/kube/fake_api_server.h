// A small Kubernetes API server for tests, speaking plain HTTP/1.1: objects with versions, lists
// whole and in pages, watches with bookmarks, merge patches, finalizers and preconditions, and what
// discovery says of kinds. And all the ways in which a real one lets a client down, on demand.
//
// A thread for each connection. Any thread of the test calls. It knows no schema: what is at
// ".../PLURAL/NAME" is an object of PLURAL. Selectors are "key=value", comma separated.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/base/json.h"

namespace detent::testing {

struct ApiCall {
  std::string method;
  std::string path;                          // Without the query.
  std::map<std::string, std::string> query;  // Decoded.
  std::string head, body;

  std::string Query(const std::string& key) const {
    const auto found = query.find(key);
    return found == query.end() ? "" : found->second;
  }
  bool watches() const { return Query("watch") == "true"; }
};

struct ApiAnswer {
  int status = 200;
  std::string body;
  bool drop = false;  // The connection is closed instead.
};

// A Status as the server sends it.
ApiAnswer Refuse(int status, const std::string& reason, const std::string& message);

struct ApiManners {
  int refuse_streaming = 0;        // With this status; 0: it offers streaming lists.
  bool gone_as_event = false;      // 410 comes as an ERROR event of a watch, not as a status.
  bool ignores_streaming = false;  // Sends what there is, and never the end of it.
};

class FakeApiServer {
 public:
  // May answer in the server's place. On a thread of the server, without any lock.
  using Hook = std::function<std::optional<ApiAnswer>(const ApiCall& call)>;

  FakeApiServer();
  ~FakeApiServer();
  FakeApiServer(const FakeApiServer&) = delete;
  FakeApiServer& operator=(const FakeApiServer&) = delete;

  std::string Url() const;
  void SetManners(ApiManners manners);
  // Once it returned, the hook before is not called any more, nor under way.
  void SetHook(Hook hook);
  // Calls are taken and not answered, until they are let pass.
  void Hold();
  void LetPass();

  // Creates or replaces the object at a path such as "/api/v1/namespaces/default/pods/a".
  void Put(const std::string& path, const std::string& json = "{}");
  void Remove(const std::string& path);
  // Null: there is none.
  Json Get(const std::string& path) const;
  size_t size() const;

  // What discovery answers of a group and version ("apps/v1"), with the resources of an
  // APIResourceList, a JSON array. None is there at first. Objects need none.
  void Install(const std::string& api_version, const std::string& resources_json);
  void Uninstall(const std::string& api_version);

  // No version before the present one is kept.
  void Compact();
  // Sends a bookmark with the present version to every watch.
  void SendBookmarks();
  // Sends a line to every watch as it is.
  void SendLine(const std::string& line);
  // Ends every watch: in good order, or by closing its connection in the middle.
  void EndWatches();
  void CutWatches();
  // Nothing is said by watches any more, though they stay open; until they are cut.
  void FallSilent();
  // The server is away: connections are closed and none is accepted.
  void GoAway();
  void ComeBack();

  // "GET /api/v1/pods?watch=true&...", as they came.
  std::vector<std::string> calls() const;
  // How many calls begin and go on with these texts.
  int Count(const std::string& method, const std::string& part) const;
  // Under way now; one that the client has left counts until something is sent to it.
  int watches() const;
  int watches_begun() const;
  // Waits until `holds`; false after ten seconds.
  bool WaitFor(const std::function<bool()>& holds);

 private:
  struct Place {  // Where an object is, or a collection (without a name).
    std::string api, plural, ns, name, subresource;
  };
  struct Event {
    int64_t version = 0;
    std::string type;
    Place place;
    Json object, before;
  };
  struct Watch;

  static Place PlaceOf(const std::string& path);
  static bool Matches(const Json& object, const std::string& selector);
  static bool IsIn(const Place& place, const Place& collection);
  std::vector<Json> ObjectsIn(const Place& collection, const std::string& selector) const;

  void Accept();
  void Serve(int fd);
  std::optional<ApiAnswer> AskHook(const ApiCall& call);
  ApiAnswer Answer(const ApiCall& call);
  ApiAnswer Discover(const std::string& path) const;
  ApiAnswer List(const ApiCall& call, const Place& place);
  ApiAnswer Create(const ApiCall& call, Place place);
  ApiAnswer Change(const ApiCall& call, const Place& place);
  ApiAnswer Delete(const ApiCall& call, const Place& place);
  void Store(const Place& place, Json object);
  void Erase(const Place& place);
  void StreamWatch(int fd, const ApiCall& call);
  std::string LinesFor(Watch& watch);
  void Listen();

  int listener_ = -1;
  int port_ = 0;
  std::thread acceptor_;

  mutable std::mutex mutex_;  // Guards all below.
  std::condition_variable changed_;
  ApiManners manners_;
  Hook hook_;
  int hooks_running_ = 0;
  bool held_ = false;
  std::map<std::string, std::pair<Place, Json>> objects_;  // By path.
  std::map<std::string, Json> installed_;                  // Resources, by "apps/v1".
  std::vector<Event> history_;
  std::map<int64_t, std::vector<Json>> snapshots_;  // Of lists in pages, by version.
  std::vector<std::string> calls_;
  std::vector<std::pair<int64_t, std::string>> extra_lines_;
  int64_t version_ = 100;
  int64_t compacted_ = 0;
  int64_t uids_ = 0;
  int64_t extra_ = 0;
  int watches_ = 0, watches_begun_ = 0;
  int ends_ = 0, cuts_ = 0;  // How often that was asked for.
  bool silent_ = false, away_ = false, stopping_ = false;
  std::vector<std::thread> threads_;
  std::set<int> sockets_;
};

// A hook for as long as this lives: declare it behind what it refers to.
class ScopedHook {
 public:
  ScopedHook(FakeApiServer& server, FakeApiServer::Hook hook) : server_(server) {
    server_.SetHook(std::move(hook));
  }
  ~ScopedHook() { server_.SetHook(nullptr); }
  ScopedHook(const ScopedHook&) = delete;
  ScopedHook& operator=(const ScopedHook&) = delete;

 private:
  FakeApiServer& server_;
};

}  // namespace detent::testing
