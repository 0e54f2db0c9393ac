// Takes the marks of tracking off objects, a bounded number of them at a time, each as often as it
// needs: the outcome of its task is recorded, so all that is left is to end the host's interest.
//
// An order begins with the newest state that a watch knows of the object, which spares a read; a
// patch that the server refuses because that state is old is made again of a fresh one. Any thread
// adds; all steps are taken on the client's thread.

#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "core/plugin/kube_door.h"

namespace detent {

class LetGoQueue : public std::enable_shared_from_this<LetGoQueue> {
 public:
  using Done = std::function<void(KubeOutcome outcome)>;

  explicit LetGoQueue(KubeDoor& door) : door_(door) {}

  void Add(KubeDoor::LetGoOrder order, Done done);
  // Answers what is left with kCancelled. No step is under way once it returned, or comes: the door
  // may end then.
  void Close();
  size_t size() const;

 private:
  struct Letting {
    KubeDoor::LetGoOrder order;
    Done done;
    bool removed = false;  // Its deletion has been asked for.
    int conflicts = 0;     // Since it was last put in the queue.
    int failures = 0;
  };
  using LettingPtr = std::shared_ptr<Letting>;

  template <typename Step>
  KubeCallback OnReply(const LettingPtr& letting, Step step);
  void PumpAfter(std::chrono::milliseconds delay);
  void Pump();
  void Begin(const LettingPtr& letting);
  void Read(const LettingPtr& letting);
  void Act(const LettingPtr& letting, std::string_view object_json);
  void Delete(const LettingPtr& letting, const TrackedObject& object);
  void Patch(const LettingPtr& letting, const TrackedObject& object);
  void Conflict(const LettingPtr& letting);
  void Again(const LettingPtr& letting, const KubeReply& reply);
  void End(const LettingPtr& letting);

  KubeDoor& door_;
  std::mutex step_mutex_;  // Held over each step. Taken before mutex_.
  mutable std::mutex mutex_;
  bool closed_ = false;   // Guarded by mutex_, as is all below.
  bool pumping_ = false;  // A Pump is due.
  int in_flight_ = 0;
  int failing_ = 0;  // Lettings that have failed and not succeeded yet.
  std::deque<LettingPtr> waiting_;
  std::set<LettingPtr> all_;
};

}  // namespace detent
