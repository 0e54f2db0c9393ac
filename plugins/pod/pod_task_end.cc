// The other half of PodTask: how it is killed. The Pod is marked before it is deleted, so that in
// the next life it is told from one that somebody else deleted.

#include <algorithm>
#include <utility>

#include "plugins/pod/pod_task.h"
#include "plugins/pod/refusal.h"
#include "plugins/pod/rfc3339.h"

namespace detent::pod {
namespace {

// What Kubernetes calls "now": the node ends the containers by force, and confirms it. With 0 the
// server would forget the Pod without asking the node.
constexpr int64_t kGraceNow = 1;

int64_t GraceSeconds(const sdk::KillRequest& how, int64_t pods_own) {
  if (how.immediate) return kGraceNow;
  const int64_t ns = how.grace.count();
  if (ns <= 0) return pods_own;
  return std::max(kGraceNow, (ns + kNsPerSecond - 1) / kNsPerSecond);
}

}  // namespace

void PodTask::Kill(sdk::Op op, const sdk::KillRequest& how) {
  if (Terminated()) return op.Succeed();
  wish_.killed = true;
  if (wish_.reason.empty()) wish_.reason = how.reason;
  wanted_grace_ = std::min(wanted_grace_, GraceSeconds(how, kPodsOwnGrace));
  kills_.push_back(std::move(op));
  PursueKill();
}

void PodTask::ForceDelete(sdk::Op op) {
  if (Terminated()) return op.Succeed();
  wish_ = {true, "ForceDeleted"};
  forced_ = true;
  wanted_grace_ = 0;
  kills_.push_back(std::move(op));
  PursueKill();
}

// Does what is to be done next, if anything is.
void PodTask::PursueKill() {
  if (Terminated()) return Answer(kills_, sdk::Status());
  if (!wish_.killed) return;
  if (made_ == Made::kAsked && requests_.Withdraw(creating_)) {
    creating_ = 0;
    made_ = haunted_ || maybe_there_ ? Made::kDoubt : Made::kNo;
  }
  if (made_ == Made::kNo) return EndUnmade();
  if (!found()) {
    if (forced_) return GiveUp("it is not known whether the Pod was created");
    // An answer that is under way comes back here.
    if (made_ == Made::kDoubt && !(kills_.empty() && starts_.empty())) LookUp();
    return;
  }
  if (kills_.empty() || deleting_ != 0 || looking_ != 0) return;
  if (accepted_grace_ && *accepted_grace_ <= wanted_grace_) return Answer(kills_, sdk::Status());
  // What is forced must not wait for one more answer, and what others delete is theirs.
  if (!marked_ && !forced_ && !deleting_pod_) return Mark();
  Delete();
}

void PodTask::Mark() {
  if (marking_ != 0) return;
  sdk::KubeRequest request =
      KillMarkRequest({ns_, name(), uid_}, version_, ReasonOr(wish_.reason, "Killed"));
  request.task = handle();
  marking_ = requests_.Ask(Requests::Kind::kSend, std::move(request), Then(&PodTask::OnMarked));
}

void PodTask::OnMarked(const sdk::KubeAnswer& answer) {
  marking_ = 0;
  // It has changed, or is another's by now: what it is like decides what is done next. Another uid
  // is a conflict for some servers, and an invalid change for others.
  if (answer.code() == DETENT_E_CONFLICT || answer.code() == DETENT_E_INVALID) return LookUp();
  if (!answer.ok()) return OnNotEnded(answer, "PatchPods");
  const auto pod = ReadPod(answer.text());
  if (!pod || pod->uid != uid_) return LookUp();
  Apply(*pod);
  PursueKill();
}

void PodTask::Delete() {
  const bool pods_own = wanted_grace_ == kPodsOwnGrace;
  sdk::KubeRequest request =
      DeleteRequest({ns_, name(), uid_}, pods_own ? std::nullopt : std::optional(wanted_grace_));
  request.task = handle();
  asked_grace_ = wanted_grace_;
  deleting_ = requests_.Ask(Requests::Kind::kSend, std::move(request), Then(&PodTask::OnDeleted));
}

void PodTask::OnDeleted(const sdk::KubeAnswer& answer) {
  deleting_ = 0;
  if (answer.ok()) {
    accepted_grace_ = asked_grace_;
    if (const auto pod = ReadPod(answer.text()); pod && pod->uid == uid_) Apply(*pod);
    if (forced_ && asked_grace_ == 0 && !Terminated()) GiveUp("the node has not confirmed its end");
    return PursueKill();
  }
  OnNotEnded(answer, "DeletePods");
}

// The server did not do what would have ended the Pod.
void PodTask::OnNotEnded(const sdk::KubeAnswer& answer, std::string_view verb_and_resource) {
  if (Terminated()) return Answer(kills_, sdk::Status());
  if (answer.code() == DETENT_E_CLOSING) return Answer(kills_, sdk::Status(answer.raw()));
  if (answer.code() == DETENT_E_NOT_FOUND) {
    Tell(DescribeGone(status(), wish_));
    return PursueKill();
  }
  const sdk::Status refusal = RefusalOf(answer, verb_and_resource);
  if (forced_) return GiveUp(refusal.message());
  // The name is another's by now.
  if (answer.code() == DETENT_E_CONFLICT) LookUp();
  Answer(kills_, refusal);
}

// The end of a task whose Pod is certainly not there.
void PodTask::EndUnmade() {
  if (!Terminated()) {
    Tell(seen_alive_ ? DescribeGone(status(), wish_) : DescribeNeverMade(wish_));
  }
  Answer(starts_, sdk::Status());
  Answer(kills_, sdk::Status());
}

// Stops waiting. What is left of the Pod is removed with the release, which is repeated until it
// succeeds.
void PodTask::GiveUp(const std::string& why) {
  sdk::TaskStatus last = DescribeGone(status(), wish_);
  last.message = "given up without confirmation, its containers may still be running: " + why;
  last.finished_ns = host().WallNs();
  Tell(std::move(last));
  Answer(kills_, sdk::Status());
}

}  // namespace detent::pod
