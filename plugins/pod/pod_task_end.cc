// The other half of PodTask: how it is killed. What is asked for first is made durable, so that in
// the next life a Pod that was deleted by us is told from one that somebody else deleted.

#include <algorithm>
#include <utility>

#include "detent/sdk/json_writer.h"
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

std::string CheckpointText(const Wish& wish) {
  sdk::JsonWriter json;
  json.BeginObject().Key("kill").String(wish.reason).EndObject();
  return std::move(json).text();
}

}  // namespace

// Whatever stands in it that is no wish to kill is no reason to stop: it only means that none of
// ours is known of.
void PodTask::TakeCheckpoint(const sdk::TaskRef& ref) {
  wish_.killed = wish_durable_ = ref.KillAsked();
  if (!ref.has_blob) return;
  const auto doc = sdk::JsonDoc::Parse(host().table(), host().instance(), ref.blob);
  const auto reason = doc ? doc->root()["kill"].Text() : std::nullopt;
  if (!reason) return;
  wish_ = {true, std::string(*reason)};
  wish_durable_ = true;
}

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
  if (kills_.empty() || deleting_ != 0) return;
  if (accepted_grace_ && *accepted_grace_ <= wanted_grace_) return Answer(kills_, sdk::Status());
  // What is forced must not wait for a disk.
  if (!wish_durable_ && !forced_) return MakeWishDurable();
  Delete();
}

void PodTask::MakeWishDurable() {
  if (std::exchange(checkpointing_, true)) return;
  Checkpoint(kStateVersion, CheckpointText(wish_), [this](const sdk::Status& status) {
    checkpointing_ = false;
    // A host that keeps no record beside the Pod itself asks for the kill again by its own means.
    wish_durable_ = status.ok() || status.code() == DETENT_E_UNSUPPORTED;
    if (!wish_durable_) Answer(kills_, status);
    PursueKill();
  });
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
  if (Terminated()) return Answer(kills_, sdk::Status());
  if (answer.code() == DETENT_E_CLOSING) return Answer(kills_, sdk::Status(answer.raw()));
  if (answer.ok()) {
    accepted_grace_ = asked_grace_;
    if (const auto pod = ReadPod(answer.text()); pod && pod->uid == uid_) Apply(*pod);
    if (forced_ && asked_grace_ == 0 && !Terminated()) GiveUp("the node has not confirmed its end");
    return PursueKill();
  }
  if (answer.code() == DETENT_E_NOT_FOUND) {
    Tell(DescribeGone(status(), wish_));
    return PursueKill();
  }
  const sdk::Status refusal = RefusalOf(answer, "DeletePods");
  if (forced_) return GiveUp(refusal.message());
  // Perhaps the name is another's by now.
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
