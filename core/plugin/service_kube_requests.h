// The requests that one instance has made through detent.kube/1 and that are not answered yet.
//
// Any thread makes and cancels them; each is answered once, on the strand. It belongs to its
// instance, and like that it is never freed.

#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/plugin/handle_table.h"
#include "core/plugin/kube_door.h"
#include "detent/services/kube.h"

namespace detent {

class Instance;

// A request of a plugin, found to be well-formed.
struct KubeOrder {
  KubeResource resource;
  std::string ns, name;
  KubeRequest request;  // All of it but the path, and the marks in its body.
  std::string query;    // Without "?".
  detent_task task = 0;
  bool writes = false;
  bool marked = false;    // Its body is an object that gets the marks of `task`.
  bool or_adopt = false;  // Ensure.
};

// A kind as a manifest names it.
struct KindOrder {
  std::string api_version, kind;
  bool fresh = false;  // What is known is asked for anew.
};

class KubeRequests {
 public:
  // Both are borrowed.
  KubeRequests(Instance& instance, KubeDoor& door) : instance_(instance), door_(door) {}

  detent_status Begin(KubeOrder order, detent_cb cb, void* ctx, detent_op* out);
  detent_status LetGo(KubeDoor::LetGoOrder order, detent_cb cb, void* ctx);
  detent_status FindKind(const KindOrder& order, detent_cb cb, void* ctx);
  detent_status Cancel(detent_op request);
  // Answers all with E_CLOSING. The strand.
  void CloseAll();

 private:
  struct Call {
    detent_cb cb = nullptr;
    void* ctx = nullptr;
    uint64_t sent = 0;  // At the client, or of the door's Ensure; 0: not sent yet.
    bool or_adopt = false;
    bool cancelled = false;
    bool finds_kind = false;  // Not counted, and nobody has its name.
  };
  struct Answer {
    detent_status code = DETENT_OK;
    KubeReply reply;
    uint64_t value = 0;
  };

  void Send(detent_op op, KubeOrder& order);
  void SendMarked(detent_op op, KubeOrder& order);
  void NoteSent(detent_op op, uint64_t sent);
  void OnReply(detent_op op, KubeReply&& reply, bool adopted);
  void OnKind(detent_op op, const Result<KubeKind>& kind);
  void AnswerLater(detent_op op, Answer answer);
  void AnswerTogether(detent_op op, Answer answer);
  void Deliver(detent_op op, Answer&& answer);
  bool Take(detent_op op, Call& call);
  void CancelSent(const Call& call);

  Instance& instance_;
  KubeDoor& door_;
  std::mutex mutex_;
  HandleTable<Call, NoMutex> calls_;  // Guarded by mutex_, as are the next three.
  size_t finding_ = 0;                // Of calls_, those that find a kind.
  bool closed_ = false;               // All were answered: nobody would answer another one.
  // Replies of the client's present turn.
  std::vector<std::pair<detent_op, Answer>> answers_;
};

}  // namespace detent
