#include "plugins/pod/pod_task.h"

#include <algorithm>
#include <utility>

#include "detent/sdk/json_writer.h"
#include "plugins/pod/marks.h"
#include "plugins/pod/output.h"
#include "plugins/pod/refusal.h"

namespace detent::pod {
namespace {

constexpr std::chrono::seconds kLookAgain(15);
constexpr uint32_t kLookAgainMs = 1'000;
constexpr uint32_t kAskedAgainMs = 100;
constexpr uint32_t kBackoffFirstMs = 1'000;
constexpr uint32_t kBackoffDoublings = 6;  // to about a minute

// The pause after the n-th refusal: doubled each time, and a quarter more or less from task to
// task, so that what was refused together does not come back together.
uint32_t Backoff(uint32_t refusals, const std::string& key) {
  const uint32_t doublings = std::min(refusals, kBackoffDoublings);
  const uint32_t pause = kBackoffFirstMs << doublings;
  const auto spread = static_cast<uint32_t>(std::hash<std::string>()(key) % 512);
  return pause - pause / 4 + static_cast<uint32_t>(uint64_t{pause} * spread / 1024);
}

bool IsSame(const sdk::TaskStatus& a, const sdk::TaskStatus& b) {
  return a.phase == b.phase && a.result == b.result && a.flags == b.flags &&
         a.created_ns == b.created_ns && a.running_ns == b.running_ns &&
         a.finished_ns == b.finished_ns && a.exit_code == b.exit_code && a.signal == b.signal &&
         a.reason == b.reason && a.message == b.message && a.object_ref == b.object_ref &&
         a.output == b.output && a.extra == b.extra;
}

}  // namespace

PodTask::PodTask(const sdk::Host& host, const sdk::TaskRef& ref, Requests& requests,
                 Options options)
    : Task(host, ref),
      requests_(requests),
      options_(std::move(options)),
      ns_(ref.namespace_),
      seen_alive_(ref.last_phase >= DETENT_PHASE_RUNNING),
      made_(options_.maybe_there ? Made::kDoubt : Made::kNo),
      round_(options_.round) {
  wish_.killed = ref.KillAsked();
}

// A callback to `method`, unless this task is let go of before.
sdk::KubeCallback PodTask::Then(void (PodTask::*method)(const sdk::KubeAnswer&)) {
  return [this, method, alive = Alive()](const sdk::KubeAnswer& answer) {
    if (!alive.expired()) (this->*method)(answer);
  };
}

sdk::KubeRequest PodTask::Request(uint32_t verb) const {
  sdk::KubeRequest request;
  request.verb = verb;
  request.gvr = kPods;
  request.namespace_ = ns_;
  request.name = name();
  request.task = handle();
  return request;
}

void PodTask::Start(sdk::Op op, std::string manifest) {
  started_ = true;
  if (Terminated() || found()) {
    if (Terminated()) Update(status());
    return op.Succeed();
  }
  starts_.push_back(std::move(op));
  // What is under way answers this one, too.
  if (made_ == Made::kAsked || looking_ != 0) return;
  if (wish_.killed) return PursueKill();
  maybe_there_ = made_ == Made::kDoubt;
  made_ = Made::kAsked;
  sdk::KubeRequest create = Request(DETENT_KUBE_CREATE);
  create.name.clear();  // It stands in the manifest.
  create.body = std::move(manifest);
  create.flags = DETENT_KUBE_METADATA;  // The rest is known: it is what was sent.
  creating_ = requests_.Ask(Requests::Kind::kEnsure, std::move(create), Then(&PodTask::OnCreated));
}

void PodTask::OnCreated(const sdk::KubeAnswer& answer) {
  creating_ = 0;
  if (found()) {  // The watch was faster.
    Answer(starts_, sdk::Status());
    return PursueKill();
  }
  made_ = Made::kDoubt;
  if (answer.code() == DETENT_E_CLOSING) {
    haunted_ = true;
    return AnswerOp(0, sdk::Status(answer.raw()));
  }
  auto pod = answer.ok() ? ReadPod(answer.text()) : std::nullopt;
  if (pod && pod->phase.empty()) pod->phase = "Pending";  // Its metadata: each begins so.
  if (pod) Show(*pod);
  if (found()) {
    // What an earlier life made may have lost its label since, and then the watch does not show it.
    if (answer.adopted()) LookAgainLater();
    return Answer(starts_, sdk::Status());
  }
  refusal_ = std::make_unique<sdk::Status>(RefusalOf(answer));
  haunted_ = haunted_ || answer.ok() || IsInDoubt(answer.code());
  // The server refuses by quota before it sees that there is one already, perhaps for that very
  // one.
  if (haunted_ || maybe_there_) return LookUp();
  made_ = Made::kNo;
  if (wish_.killed) return EndUnmade();
  Answer(starts_, Refused());
}

// The refusal of the last creation, with a pause that grows.
sdk::Status PodTask::Refused() {
  const bool said = refusal_ != nullptr && !refusal_->ok();
  sdk::Status refusal =
      said ? *refusal_ : sdk::Unavailable("NotCreated", "the Pod was not created yet");
  const bool later = refusal.code() == DETENT_E_BUSY || refusal.code() == DETENT_E_UNAVAILABLE;
  if (!later) return refusal;
  const uint32_t pause = std::max(Backoff(refusals_++, key()), refusal.retry_after_ms());
  return std::move(refusal).Retry(DETENT_HINT_LATER, pause);
}

void PodTask::Recover(sdk::Op op) {
  if (Terminated() || found()) {
    Update(status());
    return op.Answer(Terminated() ? sdk::Recovered::kTerminated : sdk::Recovered::kAdopted);
  }
  if (made_ == Made::kAsked) {
    return op.Answer(sdk::Recovered::kRetryLater, "the Pod is being created", kAskedAgainMs);
  }
  if (!haunted_ && !seen_alive_) {
    made_ = Made::kNo;
    if (wish_.killed) EndUnmade();
    return op.Answer(wish_.killed ? sdk::Recovered::kTerminated : sdk::Recovered::kNotFound);
  }
  made_ = Made::kDoubt;
  recovers_.push_back(std::move(op));
  LookUp();
}

void PodTask::LookUp() {
  if (looking_ != 0) return;
  looking_ =
      requests_.Ask(Requests::Kind::kSend, Request(DETENT_KUBE_GET), Then(&PodTask::OnLooked));
}

PodTask::Look PodTask::Judge(const sdk::KubeAnswer& answer) {
  if (answer.code() == DETENT_E_NOT_FOUND) return Look::kAbsent;
  const auto pod = answer.ok() ? ReadPod(answer.text()) : std::nullopt;
  if (!pod) return Look::kUnclear;
  if (uid_.empty() ? pod->task_key != key() : pod->uid != uid_) return Look::kAnothers;
  // The watch may be behind, or not show it at all: see Watched.
  by_hand_ = by_hand_ || !found();
  Show(*pod);
  return Look::kOurs;
}

void PodTask::OnLooked(const sdk::KubeAnswer& answer) {
  looking_ = 0;
  if (answer.code() == DETENT_E_CLOSING) return AnswerOp(0, sdk::Status(answer.raw()));
  const Look look = Judge(answer);
  const bool absent = look == Look::kAbsent || look == Look::kAnothers;
  if (absent && found() && !Terminated()) Tell(DescribeGone(status(), wish_));
  if (absent && made_ == Made::kDoubt) {
    made_ = Made::kNo;
    haunted_ = true;  // A request may still be on its way, of an earlier life even.
  }
  if (look == Look::kUnclear) {
    refusal_ = std::make_unique<sdk::Status>(RefusalOf(answer, "GetPods"));
    Answer(kills_, *refusal_);
  } else {
    PursueKill();  // It may end here, and then that is the answer to all.
  }
  AnswerStarts(look);
  AnswerRecovers(look);
  if (by_hand_) LookAgainLater();
}

void PodTask::AnswerStarts(Look look) {
  switch (look) {
    case Look::kOurs:
      return Answer(starts_, sdk::Status());
    case Look::kAbsent:
      return starts_.empty() ? void() : Answer(starts_, Refused());
    case Look::kAnothers:
      return Answer(starts_, {DETENT_E_ALREADY_EXISTS, "NameTaken",
                              "another's Pod has the name " + ns_ + "/" + name()});
    case Look::kUnclear:
      // Neither E_BUSY nor E_UNAVAILABLE, which promise that nothing runs: the host asks recover.
      return Answer(starts_,
                    {DETENT_E_DEADLINE, "StartUnknown",
                     "it is not known whether the Pod was created: " + refusal_->message()});
  }
}

void PodTask::AnswerRecovers(Look look) {
  for (sdk::Op& op : std::exchange(recovers_, {})) {
    if (Terminated()) {
      op.Answer(sdk::Recovered::kTerminated);
    } else if (look == Look::kOurs) {
      op.Answer(sdk::Recovered::kAdopted);
    } else if (look == Look::kUnclear) {
      op.Answer(sdk::Recovered::kRetryLater, refusal_->message(), kLookAgainMs);
    } else {
      op.Answer(sdk::Recovered::kNotFound, "there is no Pod of this task");
    }
  }
}

void PodTask::LookAgainLater() {
  by_hand_ = !Terminated();
  if (!by_hand_) return;
  look_again_ = host().After(kLookAgain, [this] {
    if (by_hand_ && !Terminated()) LookUp();
  });
}

void PodTask::Watched(const Pod& pod, uint64_t round) {
  // A level may skip the end of the one and the begin of the other.
  if (!uid_.empty() && pod.uid != uid_) return Vanish(nullptr);
  by_hand_ = false;
  round_ = round;
  Show(pod);
}

void PodTask::Show(const Pod& pod) {
  if (uid_.empty()) {
    if (pod.task_key != key() || pod.name != name() || pod.ns != ns_) return;
    uid_ = pod.uid;
    made_ = Made::kYes;
    refusals_ = 0;
  }
  Apply(pod);
  PursueKill();
}

void PodTask::Apply(const Pod& pod) {
  // Answers and events overtake each other.
  if (pod.version != 0 && pod.version <= version_) return;
  version_ = pod.version;
  marked_ = pod.kill.has_value();
  deleting_pod_ = pod.deleting();
  if (kept_ != nullptr) *kept_ = pod;
  over_ = IsOver(pod);
  if (Terminated()) return;
  if (pod.kill && !wish_.killed) wish_ = {true, *pod.kill};
  // A deletion is ours where the Pod says so: what others did before our wish had reached it is
  // theirs, in this life as in the next.
  const bool ours = pod.kill.has_value() || forced_;
  sdk::TaskStatus next = Describe(pod, ours ? wish_ : Wish());
  if (next.phase == DETENT_PHASE_TERMINATED) {
    Output output = OutputOf(pod, options_.result_path, {host().table(), host().instance()});
    next.output = std::move(output.json);
    if (output.truncated) next.flags |= DETENT_TASK_OUTPUT_TRUNCATED;
  }
  Tell(std::move(next));
}

void PodTask::Keep(const Pod& pod) {
  if (pod.uid == uid_ && pod.version >= version_) kept_ = std::make_unique<Pod>(pod);
}

void PodTask::Vanish(const Pod* last) {
  if (!found() || Terminated()) return;
  if (last != nullptr && last->uid == uid_) Apply(*last);
  if (Terminated()) return PursueKill();
  // Perhaps only its label is gone; then it runs on, and is looked at now and then.
  by_hand_ = true;
  LookUp();
}

void PodTask::Tell(sdk::TaskStatus next) {
  const sdk::TaskStatus& before = status();
  if (before.running_ns != 0 && (next.running_ns == 0 || before.running_ns < next.running_ns)) {
    next.running_ns = before.running_ns;  // A restarted container forgets its first run.
  }
  // Phases do not go back; a Pod whose sandbox is made anew does.
  if (next.phase != DETENT_PHASE_UNKNOWN) next.phase = std::max(next.phase, before.phase);
  if (next.object_ref.empty()) next.object_ref = ns_ + "/" + name();
  if (IsSame(before, next)) return;
  const detent_status told = Update(next);
  if (told == DETENT_E_INVALID || told == DETENT_E_TOO_LARGE) {
    // What a container wrote must not keep its end from being known.
    host().Log(DETENT_LOG_WARN, "an output was refused by the host", {}, handle());
    next.output.clear();
    next.extra.clear();
    next.flags |= DETENT_TASK_OUTPUT_TRUNCATED;
    Update(std::move(next));
  }
}

void PodTask::LetGo() {
  if (!found()) return;
  sdk::KubeObject object{std::string(kPods), ns_, name(), uid_};
  const bool unwanted = options_.delete_pods == DeletePods::kAlways ||
                        (options_.delete_pods == DeletePods::kOnSuccess &&
                         status().result == DETENT_RESULT_SUCCEEDED);
  // Nobody waits any more for what was given up.
  object.remove = unwanted || !over_;
  object.ended = true;
  const sdk::Status taken = KubeLetGo(host(), object);
  if (!taken.ok() && taken.code() != DETENT_E_CLOSING) {
    host().Log(DETENT_LOG_WARN, "a Pod could not be let go of",
               {{"pod", ns_ + "/" + name()}, {"why", taken.message()}}, handle());
  }
}

void PodTask::AnswerOp(detent_op op, const sdk::Status& status) {
  for (Ops* ops : {&starts_, &recovers_, &kills_}) {
    Ops kept;
    for (sdk::Op& each : std::exchange(*ops, {})) {
      if (op == 0 || each.id() == op) {
        each.Fail(status);
      } else {
        kept.push_back(std::move(each));
      }
    }
    for (sdk::Op& each : kept) ops->push_back(std::move(each));
  }
}

void PodTask::Answer(Ops& ops, const sdk::Status& status) {
  for (sdk::Op& op : std::exchange(ops, {})) op.Finish(status);
}

}  // namespace detent::pod
