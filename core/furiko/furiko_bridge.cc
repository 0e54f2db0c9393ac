#include "core/furiko/furiko_bridge.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "core/api/furiko.h"
#include "core/api/labels.h"
#include "core/base/alarms.h"
#include "core/base/limits.h"
#include "core/base/mailbox.h"
#include "core/furiko/furiko_plan.h"
#include "core/kube/watch.h"

namespace detent {
namespace {

using std::chrono::milliseconds;

constexpr Kind kBridgedKinds[] = {Kind::kJobConfig, Kind::kJob};
constexpr FurikoSide kSides[] = {FurikoSide::kTheirs, FurikoSide::kOurs};
// A write that the watch does not show by then is decided anew.
constexpr milliseconds kShownWithin{5'000};
constexpr milliseconds kRetryFirst{500};
constexpr milliseconds kRetryMost{30'000};

// From the client's thread to the bridge's.
struct Seen {
  enum class What : uint8_t { kUpsert, kDelete, kSynced, kFailed };
  uint64_t life = 0;  // Of the watches; those of a former life are over.
  FurikoSide side = FurikoSide::kTheirs;
  Kind kind = Kind::kJob;
  What what = What::kUpsert;
  WatchedObjectPtr object;
  KubeOutcome outcome = KubeOutcome::kOk;  // Of kFailed.
};
struct Definition {
  bool is_ours = false;
};
struct Answer {
  uint64_t life = 0;
  ObjectKey key;
  FurikoStep::Write write = FurikoStep::Write::kChange;
  FurikoSide side = FurikoSide::kOurs;
  KubeReply reply;
};
using Note = std::variant<Seen, Definition, Answer>;
using Inbox = Mailbox<Note>;

WatchScope ScopeOn(FurikoSide side, Kind kind) {
  WatchScope scope;
  const bool theirs = side == FurikoSide::kTheirs;
  scope.resource = {theirs ? kFurikoGroup : kApiGroup, theirs ? kFurikoVersion : kApiVersion,
                    PluralOf(kind), ""};
  return scope;
}

WatchOptions PatientWatch() {
  WatchOptions options;
  options.backoff_most = std::chrono::seconds(2);
  return options;
}

// The watch of one kind on one side.
class Follower final : public WatchSink {
 public:
  Follower(KubeClient& client, Inbox& inbox, Seen mark)
      : inbox_(inbox),
        mark_(std::move(mark)),
        watch_(client, ScopeOn(mark_.side, mark_.kind), PatientWatch(), *this) {
    watch_.Start();
  }
  ~Follower() override { watch_.Stop(); }

  void OnUpsert(const WatchedObjectPtr& object) override { Tell(Seen::What::kUpsert, object); }
  void OnDelete(const WatchedObjectPtr& object) override { Tell(Seen::What::kDelete, object); }
  void OnSynced() override { Tell(Seen::What::kSynced, nullptr); }
  void OnFailed(const KubeReply& reply) override {
    Tell(Seen::What::kFailed, nullptr, reply.outcome);
  }

 private:
  void Tell(Seen::What what, const WatchedObjectPtr& object,
            KubeOutcome outcome = KubeOutcome::kOk) {
    Seen seen = mark_;
    seen.what = what;
    seen.object = object;
    seen.outcome = outcome;
    inbox_.PostAnswer(std::move(seen));
  }

  Inbox& inbox_;
  const Seen mark_;
  KubeWatch watch_;
};

}  // namespace

class FurikoBridge::Core {
 public:
  Core(KubeClient& client, const SpecValidator& validator, FurikoBridgeOptions options, Logger& log)
      : client_(client), validator_(validator), options_(std::move(options)), log_(log) {}

  void Run();
  void Close() { inbox_->Close(); }

 private:
  // What there is to remember of a name beside what is stored. Losing it costs a request.
  struct Memory {
    bool in_flight = false;
    int failures = 0;
    std::optional<MonoTime> status_at;  // The last write of a status.
    // A write that the watch has not shown yet, and until when that is waited for.
    std::optional<FurikoSide> awaited;
    int64_t version = 0;
    MonoTime await_until{};
    // What the API server said against what was made of an origin, and of which.
    std::string refusal, refused_uid;
    int64_t refused_generation = 0;
  };

  MonoTime Now() const { return client_.clock().Mono(); }
  std::chrono::nanoseconds Patience() const;
  void AskForDefinitions();
  void Take(Definition&& definition);
  void Take(Seen&& seen);
  void Take(Answer&& answer);
  void BeginToFollow();
  void EndFollowing();
  void Upsert(const Seen& seen, const ObjectKey& key);
  void ConfigChanged(const std::string& ns);
  void Decide(const ObjectKey& key);
  std::string RefusalOf(Memory& memory, const ObjectKey& key) const;
  bool IsShown(const ObjectKey& key, FurikoSide side, int64_t version) const;
  void Refused(Memory& memory, const Answer& answer);

  KubeClient& client_;
  const SpecValidator& validator_;
  const FurikoBridgeOptions options_;
  Logger& log_;
  // Shared with answers that come when the bridge is gone.
  const std::shared_ptr<Inbox> inbox_ = std::make_shared<Inbox>(limits::kMailboxEvents);

  // The bridge's thread alone.
  std::optional<MonoTime> ask_at_ = MonoTime{};  // When the definitions are looked for next.
  size_t definitions_ = 0, definitions_of_ours_ = 0;
  uint64_t life_ = 0;
  std::set<std::pair<FurikoSide, Kind>> unsynced_;  // What has not been told whole yet.
  std::vector<std::unique_ptr<Follower>> followers_;
  FurikoState state_;
  Alarms<ObjectKey, MonoTime> agenda_;  // Which names are to be looked at, and when.
  std::map<ObjectKey, Memory> memories_;
  size_t in_flight_ = 0;
};

std::chrono::nanoseconds FurikoBridge::Core::Patience() const {
  std::optional<MonoTime> next = ask_at_;
  if (unsynced_.empty() && in_flight_ < options_.in_flight_max) {
    if (const auto due = agenda_.next()) next = next ? std::min(*next, *due) : *due;
  }
  if (!next) return std::chrono::hours(1);
  return std::max(*next - Now(), std::chrono::nanoseconds(0));
}

void FurikoBridge::Core::Run() {
  std::vector<Note> notes;
  while (inbox_->Take(notes, Patience())) {
    for (Note& note : notes) {
      std::visit([this](auto& one) { Take(std::move(one)); }, note);
    }
    notes.clear();
    if (ask_at_ && *ask_at_ <= Now()) AskForDefinitions();
    if (followers_.empty() || !unsynced_.empty()) continue;
    while (in_flight_ < options_.in_flight_max) {
      const auto key = agenda_.PopDue(Now());
      if (!key) break;
      Decide(*key);
    }
  }
  followers_.clear();
}

void FurikoBridge::Core::AskForDefinitions() {
  ask_at_.reset();
  definitions_ = definitions_of_ours_ = 0;
  const KubeResource crds{"apiextensions.k8s.io", "v1", "customresourcedefinitions", ""};
  for (const Kind kind : kBridgedKinds) {
    KubeRequest request;
    request.path = PathOf(crds, "", std::string(PluralOf(kind)) + "." + kFurikoGroup);
    client_.Send(std::move(request), [inbox = inbox_](KubeReply&& reply) {
      Definition found;
      if (reply.outcome == KubeOutcome::kOk) {
        const auto crd = ParseJson(reply.body);
        const std::string mark = "/metadata/annotations" + PointerToken(labels::kVersion);
        found.is_ours = crd && crd->At(mark) != nullptr;
      }
      inbox->PostAnswer(found);
    });
  }
}

void FurikoBridge::Core::Take(Definition&& definition) {
  ++definitions_;
  if (definition.is_ours) ++definitions_of_ours_;
  if (definitions_ < std::size(kBridgedKinds)) return;
  if (definitions_of_ours_ == definitions_) return BeginToFollow();
  ask_at_ = Now() + options_.poll;
}

void FurikoBridge::Core::BeginToFollow() {
  log_.Info("Furiko's kinds are served here, and their objects are followed");
  ++life_;
  for (const FurikoSide side : kSides) {
    for (const Kind kind : kBridgedKinds) {
      Seen mark;
      mark.life = life_;
      mark.side = side;
      mark.kind = kind;
      unsynced_.emplace(side, kind);
      followers_.push_back(std::make_unique<Follower>(client_, *inbox_, std::move(mark)));
    }
  }
}

void FurikoBridge::Core::EndFollowing() {
  log_.Info("Furiko's kinds are not served here any more");
  followers_.clear();
  unsynced_.clear();
  ++life_;
  in_flight_ = 0;
  state_ = {};
  agenda_.ClearAll();
  memories_.clear();
  ask_at_ = Now() + options_.poll;
}

void FurikoBridge::Core::Take(Seen&& seen) {
  if (seen.life != life_) return;
  if (seen.what == Seen::What::kSynced) {
    unsynced_.erase({seen.side, seen.kind});
    return;
  }
  if (seen.what == Seen::What::kFailed) {
    const bool gone =
        seen.outcome == KubeOutcome::kNotFound || seen.outcome == KubeOutcome::kDenied;
    if (gone && seen.side == FurikoSide::kTheirs) EndFollowing();
    return;
  }
  const ObjectKey key{seen.kind, std::string(seen.object->ns()), std::string(seen.object->name())};
  if (seen.what == Seen::What::kUpsert) return Upsert(seen, key);
  state_.Of(seen.side).erase(key);
  Memory& memory = memories_[key];
  if (memory.awaited == seen.side) memory.awaited.reset();
  if (key.kind == Kind::kJobConfig) ConfigChanged(key.ns);
  agenda_.SetNoLater(key, Now());
}

void FurikoBridge::Core::Upsert(const Seen& seen, const ObjectKey& key) {
  auto known = ReadKnownObject(seen.object->json());
  if (!known) {
    log_.Error("an object of the cluster cannot be read",
               {{"object", ToString(key)}, {"error", known.error().message()}});
    return;
  }
  const KnownObject* before = state_.Find(seen.side, key);
  const bool is_new = before == nullptr || before->meta.uid != known->meta.uid;
  Memory& memory = memories_[key];
  if (memory.awaited == seen.side && known->meta.resource_version >= memory.version) {
    memory.awaited.reset();
  }
  state_.Of(seen.side)[key] = *std::move(known);
  if (is_new && key.kind == Kind::kJobConfig) ConfigChanged(key.ns);
  agenda_.SetNoLater(key, Now());
}

// Jobs may have waited for it to come.
void FurikoBridge::Core::ConfigChanged(const std::string& ns) {
  const ObjectKey first{Kind::kJob, ns, ""};
  for (const FurikoSide side : kSides) {
    const FurikoState::Objects& objects = state_.Of(side);
    for (auto at = objects.lower_bound(first); at != objects.end(); ++at) {
      if (at->first.kind != Kind::kJob || at->first.ns != ns) break;
      agenda_.SetNoLater(at->first, Now());
    }
  }
}

std::string FurikoBridge::Core::RefusalOf(Memory& memory, const ObjectKey& key) const {
  const KnownObject* theirs = state_.Find(FurikoSide::kTheirs, key);
  if (theirs == nullptr || memory.refusal.empty()) return {};
  const bool same = theirs->meta.uid == memory.refused_uid &&
                    theirs->meta.generation == memory.refused_generation;
  if (!same) memory.refusal.clear();
  return memory.refusal;
}

void FurikoBridge::Core::Decide(const ObjectKey& key) {
  Memory& memory = memories_[key];
  if (memory.in_flight) return;  // Its answer asks again.
  const MonoTime now = Now();
  if (memory.awaited && now < memory.await_until)
    return agenda_.SetNoLater(key, memory.await_until);
  memory.awaited.reset();
  FurikoPlanContext context;
  context.admission.validator = &validator_;
  context.admission.now = client_.clock().Now();
  context.admission.default_timezone = options_.default_timezone;
  context.refusal = RefusalOf(memory, key);
  auto step = NextFurikoStep(state_, key, context);
  if (!step) {
    const bool gone = state_.Find(FurikoSide::kTheirs, key) == nullptr &&
                      state_.Find(FurikoSide::kOurs, key) == nullptr;
    if (gone) memories_.erase(key);
    return;
  }
  if (step->write == FurikoStep::Write::kStatus) {
    const bool early = memory.status_at && now < *memory.status_at + options_.status_every;
    if (early) return agenda_.SetNoLater(key, *memory.status_at + options_.status_every);
    memory.status_at = now;
  }
  memory.in_flight = true;
  ++in_flight_;
  Answer answer{life_, key, step->write, step->side, {}};
  client_.Send(std::move(step->request),
               [inbox = inbox_, answer = std::move(answer)](KubeReply&& reply) mutable {
                 answer.reply = std::move(reply);
                 inbox->PostAnswer(std::move(answer));
               });
}

bool FurikoBridge::Core::IsShown(const ObjectKey& key, FurikoSide side, int64_t version) const {
  const KnownObject* known = state_.Find(side, key);
  return known != nullptr && known->meta.resource_version >= version;
}

void FurikoBridge::Core::Take(Answer&& answer) {
  if (answer.life != life_) return;
  --in_flight_;
  Memory& memory = memories_[answer.key];
  memory.in_flight = false;
  const MonoTime now = Now();
  const KubeOutcome outcome = answer.reply.outcome;
  // What the watch will show, or has shown already.
  const bool done = outcome == KubeOutcome::kOk;
  if (!done) return Refused(memory, answer);
  memory.failures = 0;
  agenda_.SetNoLater(answer.key, now);
  if (answer.write == FurikoStep::Write::kDelete) return;
  const auto written = ReadKnownObject(answer.reply.body);
  if (!written || IsShown(answer.key, answer.side, written->meta.resource_version)) return;
  memory.awaited = answer.side;
  memory.version = written->meta.resource_version;
  memory.await_until = now + kShownWithin;
}

// Others may have been faster, and then what the watch shows says what is left to do. What the API
// server will not have at all is said to the user.
void FurikoBridge::Core::Refused(Memory& memory, const Answer& answer) {
  const KubeReply& reply = answer.reply;
  const KubeOutcome outcome = reply.outcome;
  const KnownObject* theirs = state_.Find(FurikoSide::kTheirs, answer.key);
  const bool refused =
      outcome == KubeOutcome::kInvalid && answer.write == FurikoStep::Write::kCreate;
  if (refused && answer.side == FurikoSide::kOurs && theirs != nullptr) {
    memory.refusal = reply.message;
    memory.refused_uid = theirs->meta.uid;
    memory.refused_generation = theirs->meta.generation;
    return agenda_.SetNoLater(answer.key, Now());
  }
  const milliseconds wait = std::min(kRetryMost, kRetryFirst * (1 << std::min(memory.failures, 6)));
  ++memory.failures;
  agenda_.Set(answer.key, Now() + wait);
  // A conflict is no news, nor is what went meanwhile, or fails again.
  const bool news = memory.failures == 1 && outcome != KubeOutcome::kConflict &&
                    outcome != KubeOutcome::kAlreadyExists && outcome != KubeOutcome::kNotFound &&
                    outcome != KubeOutcome::kCancelled;
  if (!news) return;
  log_.Warning("an object of Furiko's group cannot be followed now; it is tried again",
               {{"object", ToString(answer.key)}, {"error", reply.message}});
}

FurikoBridge::FurikoBridge(KubeClient& client, const SpecValidator& validator,
                           FurikoBridgeOptions options, Logger& log)
    : core_(std::make_unique<Core>(client, validator, std::move(options), log)) {}

FurikoBridge::~FurikoBridge() {
  Stop();
}

void FurikoBridge::Start() {
  thread_ = std::thread([this] { core_->Run(); });
}

void FurikoBridge::Stop() {
  core_->Close();
  if (thread_.joinable()) thread_.join();
}

}  // namespace detent
