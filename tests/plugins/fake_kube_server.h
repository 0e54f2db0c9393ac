// FakeKubeServer: the Pods of an API server, and what it does with them when it is asked: names
// that are taken, versions, uids, graceful deletion, finalizers that hold what was deleted, quota,
// admission and validation, and the logs of containers. The test is the scheduler, the nodes, and
// whoever else has a kubectl. Source: k8s.io/apiserver, registry/rest (BeforeDelete) and
// registry/generic; k8s.io/kubernetes, registry/core/pod (strategy).
//
// A value in memory, one thread. Time stands still unless the test moves it.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/json.h"

namespace detent::testing {

// What the server answers to one request.
struct KubeResponse {
  uint32_t status = 200;
  std::string reason, message;  // of a failure's Status
  std::string body;             // of a success
};

struct PodChange {
  enum class Kind { kAdded, kModified, kDeleted };
  Kind kind;
  const Json& pod;               // as it is now; for kDeleted as it was
  const Json* before = nullptr;  // for kModified
};

class FakeKubeServer {
 public:
  // Called after each change.
  std::function<void(const PodChange& change)> on_change;

  // --- what clients ask; JSON in, JSON out
  KubeResponse Create(const std::string& ns, Json pod);
  // As Create with dryRun=All: nothing is made.
  KubeResponse TryOut(const std::string& ns, const Json& pod) const;
  KubeResponse Get(const std::string& ns, const std::string& name) const;
  KubeResponse Delete(const std::string& ns, const std::string& name, const std::string& options);
  // A merge patch of annotations, with the uid and the version that are expected.
  KubeResponse Annotate(const std::string& ns, const std::string& name, const std::string& patch);
  // selector: "" or "key in (a,b)"
  KubeResponse List(const std::string& ns, const std::string& selector) const;
  // query: as for pods/log
  KubeResponse Log(const std::string& ns, const std::string& name, const std::string& query) const;
  // Takes a label and a finalizer off. uid: "" or the object's.
  KubeResponse LetGo(const std::string& ns, const std::string& name, const std::string& uid,
                     const std::string& label, const std::string& finalizer);

  // --- as others with a kubectl, in namespace "default"
  const Json* Find(const std::string& name) const;
  const std::map<std::string, Json>& pods() const { return pods_; }  // by "ns/name"
  void DeleteByOthers(const std::string& name, std::optional<int64_t> grace = std::nullopt);
  // Its finalizers are taken off, and it is gone at once.
  void Wipe(const std::string& name);
  // Changes an object as the test likes.
  void Edit(const std::string& name, const std::function<void(Json& pod)>& change);

  // --- as the scheduler and as nodes
  void Schedule(const std::string& name, const std::string& node = "node-1");
  void SetStatus(const std::string& name, const std::string& status_json);
  // All containers run since now.
  void Run(const std::string& name);
  // All containers ended now, and so did the Pod.
  void End(const std::string& name, int exit_code, const std::string& message = "");
  // What a node does with a Pod that is being deleted: its containers end, with that exit code, and
  // it says that the Pod may go.
  void ConfirmDeletion(const std::string& name, int exit_code = 137);

  // --- what the server does not let pass
  std::map<std::string, size_t> quota;         // by namespace: Pods that are not over
  std::set<std::string> missing, terminating;  // namespaces

  // --- time, and what containers write
  int64_t now_ns = 1'795'168'800'000'000'000;  // 2026-11-20T10:00:00Z
  void Advance(int64_t seconds) { now_ns += seconds * 1'000'000'000; }
  std::string Now() const;
  void Write(const std::string& name, const std::string& container, const std::string& line);
  // The node forgets the oldest lines.
  void Rotate(const std::string& name, const std::string& container, size_t lines);

 private:
  KubeResponse Refusal(const std::string& ns, const Json& pod) const;
  Json* Mutable(const std::string& key);
  void Changed(const std::string& key, const Json& before);
  void RemoveIfDone(const std::string& key);

  std::map<std::string, Json> pods_;                      // by "ns/name"
  std::map<std::string, std::vector<std::string>> logs_;  // by "name/container"
  int64_t version_ = 100;
  int next_uid_ = 1;
};

// A text of an object, "" if it is not there. pointer: RFC 6901.
std::string TextAt(const Json& object, const std::string& pointer);

}  // namespace detent::testing
