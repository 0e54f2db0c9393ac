// PodTask: one task and its Pod: how it comes to be, what is known of it, and how it is ended.
//
// A Pod is made by one request and found by its name. Whatever makes it unclear whether the request
// took effect (a lost reply, a slow server) leads to a look at the server, and a wish to kill waits
// for that: nothing is left running behind our back. Strand only.

#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "detent/sdk/executor.h"
#include "plugins/pod/outcome.h"
#include "plugins/pod/pod.h"
#include "plugins/pod/requests.h"
#include "plugins/pod/spec.h"

namespace detent::pod {

class PodTask final : public sdk::Task {
 public:
  struct Options {
    // What of the spec matters after the start.
    DeletePods delete_pods = DeletePods::kNever;
    std::string result_path;
    bool maybe_there = false;  // an earlier start may have made it, and no list has said that not
    bool maybe_late = false;   // a request of an earlier life may still be on its way
    uint64_t round = 0;        // of the watch's list: what is begun in it need not be in it
  };

  // requests outlives this.
  PodTask(const sdk::Host& host, const sdk::TaskRef& ref, Requests& requests, Options options);

  // Makes the Pod, or finds it. Again: harmless.
  void Start(sdk::Op op, std::string manifest);
  // The Pod is not in the list of all that are tracked. Looks on the server, where that is no
  // proof, and answers.
  void Recover(sdk::Op op);
  void Kill(sdk::Op op, const sdk::KillRequest& how);
  void ForceDelete(sdk::Op op);
  // Ends the interest in the Pod.
  void LetGo();
  // Whether another Pod may still come to be for this task, and must not: by a request of which
  // nobody knows what became of it, of this life; or of the one before, where the task is over.
  // What was only asked about may be begun again, and then takes up what it finds.
  bool haunted() const {
    return haunted_ || made_ == Made::kAsked || made_ == Made::kDoubt ||
           (options_.maybe_late && (started_ || Terminated()));
  }
  // Whether that is one: it has this task's key, and is not its Pod.
  bool IsGhost(const Pod& pod) const { return found() && pod.uid != uid_ && pod.task_key == key(); }

  // The Pod, as the watch shows it in its list of that round. Another's is ignored.
  void Watched(const Pod& pod, uint64_t round);
  // The watch has it no more; last: as it was, or null.
  void Vanish(const Pod* last);

  // Answers an op that the host waits for no longer; 0: all of them.
  void AnswerOp(detent_op op, const sdk::Status& status);

  const std::string& ns() const { return ns_; }
  const std::string& uid() const { return uid_; }  // of the Pod; empty: not found yet
  bool found() const { return made_ == Made::kYes; }
  // From here on the whole Pod is kept as it is shown, for those who read its log: elsewhere a
  // kilobyte that nobody looks at again. `pod`: as it is now; another's is ignored.
  void Keep(const Pod& pod);
  const Pod* kept_pod() const { return kept_.get(); }
  // The Pod should have been in the watch's list of that round, and was not.
  bool IsMissing(uint64_t round) const {
    return found() && !by_hand_ && !Terminated() && round_ < round;
  }

 private:
  enum class Made : uint8_t {
    kNo,     // certainly not there
    kAsked,  // the request waits or is under way
    kDoubt,  // may be there
    kYes,    // uid_ is known
  };
  enum class Look : uint8_t { kOurs, kAbsent, kAnothers, kUnclear };
  static constexpr int64_t kPodsOwnGrace = std::numeric_limits<int64_t>::max();
  using Ops = std::vector<sdk::Op>;

  sdk::KubeCallback Then(void (PodTask::*method)(const sdk::KubeAnswer&));
  sdk::KubeRequest Request(uint32_t verb) const;

  void OnCreated(const sdk::KubeAnswer& answer);
  void LookUp();
  void OnLooked(const sdk::KubeAnswer& answer);
  Look Judge(const sdk::KubeAnswer& answer);
  void AnswerStarts(Look look);
  void AnswerRecovers(Look look);
  void LookAgainLater();

  void Show(const Pod& pod);
  void Apply(const Pod& pod);
  void Tell(sdk::TaskStatus status);
  void EndUnmade();

  void PursueKill();
  void Mark();
  void OnMarked(const sdk::KubeAnswer& answer);
  void Delete();
  void OnDeleted(const sdk::KubeAnswer& answer);
  void OnNotEnded(const sdk::KubeAnswer& answer, std::string_view verb_and_resource);
  void GiveUp(const std::string& why);

  sdk::Status Refused();
  static void Answer(Ops& ops, const sdk::Status& status);

  Requests& requests_;
  const Options options_;
  const std::string ns_;
  const bool seen_alive_;  // in an earlier life

  Made made_ = Made::kNo;
  bool started_ = false;      // in this life
  bool maybe_there_ = false;  // when its creation was asked for
  std::string uid_;
  // Of the Pod as it was shown last.
  uint64_t version_ = 0;
  bool marked_ = false;  // it says why it is going to be deleted
  bool deleting_pod_ = false;
  std::unique_ptr<Pod> kept_;
  bool over_ = false;     // nothing of the Pod runs any more
  bool haunted_ = false;  // a request to make it may take effect late
  bool by_hand_ = false;  // looked at now and then, because the watch does not show it
  uint64_t round_ = 0;    // of the watch's list in which it was seen last

  Requests::Ticket creating_ = 0, looking_ = 0, marking_ = 0, deleting_ = 0;  // 0: no such request
  std::unique_ptr<sdk::Status> refusal_;  // of the last creation or look; null: none yet
  uint32_t refusals_ = 0;
  sdk::Timer look_again_;

  Wish wish_;
  bool forced_ = false;
  int64_t wanted_grace_ = kPodsOwnGrace;   // seconds
  int64_t asked_grace_ = kPodsOwnGrace;    // of the request under way
  std::optional<int64_t> accepted_grace_;  // of the last one that was accepted

  Ops starts_, recovers_, kills_;
};

}  // namespace detent::pod
