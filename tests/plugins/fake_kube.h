// FakeKube: detent.kube/1 and detent.watch/1 over a FakeKubeServer, for a FakeHost. Requests take
// effect when they are made (or when the test lets them), and answers and events come when the test
// delivers them, in any order it likes; so every race can be had, and had again.
//
// It outlives hosts: attach it to the next one, and that is a restart. One host at a time, one
// thread.

#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "detent/services/kube.h"
#include "detent/services/watch.h"
#include "tests/plugins/fake_host.h"
#include "tests/plugins/fake_kube_server.h"

namespace detent::testing {

// The marks that the host puts on Pods.
inline constexpr const char* kTrackedLabel = "detent.dev/tracked-by";
inline constexpr const char* kKeyLabel = "detent.dev/task";
inline constexpr const char* kFinalizer = "detent.dev/task-tracking";

enum class KubeAct { kCreate, kTryOut, kGet, kList, kPatch, kDelete, kLog, kLetGo, kFindKind };

struct KubeAsked {
  KubeAct act = KubeAct::kGet;
  // Of kFindKind: the apiVersion, the kind, and "fresh" where it is asked for anew.
  std::string ns, name, query, body, uid;
  bool remove = false;  // of kLetGo, as is the next
  bool ended = false;
};

// The next requests of that kind end so.
struct KubeFault {
  KubeAct act = KubeAct::kCreate;
  detent_status code = DETENT_E_UNAVAILABLE;
  uint32_t http_status = 0;
  std::string reason, message;
  bool with_effect = false;  // the server did it, and its reply was lost
  int times = 1;
  uint32_t retry_after_ms = 0;
  std::string body = {};  // the Status, where it is looked at
};

class FakeKube {
 public:
  FakeKube();
  ~FakeKube();
  FakeKube(const FakeKube&) = delete;
  FakeKube& operator=(const FakeKube&) = delete;

  // Before the host's Create.
  void Attach(FakeHost& host);

  FakeKubeServer& server() { return server_; }

  void Inject(KubeFault fault) { faults_.push_back(std::move(fault)); }
  void ForgetFaults() { faults_.clear(); }
  // Requests of that kind reach the server only with Arrive, even if their host has ended since.
  void Hold(KubeAct act) { held_act_ = act; }
  void Arrive();
  void ArriveLate();  // only those whose host has ended
  // The Pods that were asked for by such ones.
  const std::set<std::string>& late() const { return late_; }
  // How many requests may be in flight.
  size_t capacity = 64;
  // What find_kind finds: "apps/v1 Deployment", and the answer's body.
  std::map<std::string, std::string> kinds = {
      {"v1 Pod",
       R"({"gvr":"v1/pods","namespaced":true,"verbs":["create","delete","get","list","patch",)"
       R"("update","watch"],"subresources":["log","status"]})"}};

  // The watch: whether a subscriber is told SYNCED; its events all come again; it does not work.
  bool syncs = true;
  void Sync();
  void RestartWatch();
  void FailWatch(const std::string& message);

  // Gives what is due to the plugin; what it asks for meanwhile is due, too.
  void Deliver();
  void DeliverAnswers();
  void DeliverOne();  // the next answer
  void DeliverEvents();
  bool idle() const { return answers_.empty() && events_.empty(); }

  const std::vector<KubeAsked>& asked() const { return asked_; }
  size_t count(KubeAct act) const;
  void ForgetAsked() { asked_.clear(); }

 private:
  friend struct FakeKubeTable;
  struct Answer {
    detent_op op = 0;
    detent_cb cb = nullptr;
    void* ctx = nullptr;
    detent_status code = DETENT_OK;
    KubeResponse response = {};
    uint64_t value = 0;
    uint32_t retry_after_ms = 0;
  };
  struct Event {
    uint32_t kind = 0;
    std::string object, message;
  };
  struct Held {
    Answer answer;  // without a callback once its host has ended
    std::function<void(Answer&)> act;
    std::string name;
  };

  detent_status Take(const detent_kube_request& request, bool ensure, Answer answer);
  detent_status LetGo(const detent_kube_object& object);
  void FindKind(const KubeAsked& asked, Answer answer);
  void Act(const KubeAsked& asked, Answer answer, std::function<void(Answer&)> effect);
  void Ensure(const KubeAsked& asked, Json pod, Answer& answer);
  Json WithMarks(const std::string& body, detent_task task) const;
  void OnChange(const PodChange& change);
  void SayAll();
  void Give(const Answer& answer);
  void Tell(const Event& event);
  void EndHost();

  FakeHost* host_ = nullptr;
  FakeKubeServer server_;
  std::vector<KubeAsked> asked_;
  std::deque<KubeFault> faults_;
  std::optional<KubeAct> held_act_;
  std::deque<Held> held_;
  std::set<std::string> late_;
  std::deque<Answer> answers_;
  std::deque<Event> events_;
  detent_watch_cb watch_cb_ = nullptr;
  void* watch_ctx_ = nullptr;
  uint64_t next_ = 1;
};

}  // namespace detent::testing
