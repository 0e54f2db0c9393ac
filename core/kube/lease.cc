#include "core/kube/lease.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/mailbox.h"
#include "core/kube/resource.h"

namespace detent {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kReleasePatience{1'000};
constexpr size_t kAnswersMost = 64;  // Nobody waits for room: what is posted are answers.

const KubeResource& Leases() {
  static const KubeResource leases{"coordination.k8s.io", "v1", "leases", ""};
  return leases;
}

// It did not say anything.
bool IsSilence(const KubeReply& reply) {
  return reply.status == 0 && reply.outcome != KubeOutcome::kDenied;
}

bool SameFailure(const KubeReply& a, const KubeReply& b) {
  if (IsSilence(a) && IsSilence(b)) return true;
  return a.outcome == b.outcome && a.status == b.status && a.reason == b.reason;
}

}  // namespace

// Everything but the fence and the mailbox belongs to the thread. Callbacks of the client hold the
// core, and may come when the thread has ended: the mailbox is closed then.
class LeaseElector::Core : public std::enable_shared_from_this<Core> {
 public:
  Core(KubeClient& client, LeaseOptions options, LeadershipSink& sink)
      : client_(client),
        clock_(client.clock()),
        log_(client.log()),
        sink_(sink),
        options_(std::move(options)),
        holder_(options_.identity + "_" + RandomUid(random_)),
        election_(options_, holder_, random_) {}

  void Start() {
    thread_ = std::thread([this] { Run(); });
  }
  void Stop() {
    mailbox_.PostAnswer({});
    if (thread_.joinable()) thread_.join();
  }
  std::optional<int64_t> Fence() const { return fence_.At(clock_); }
  std::string Trouble() const {
    const std::lock_guard lock(mutex_);
    return trouble_;
  }
  const std::string& holder() const { return holder_; }

 private:
  struct Answer {
    uint64_t id = 0;  // 0: no answer, but the order to stop.
    LeaseStep::Do what = LeaseStep::Do::kWait;
    KubeReply reply;
  };
  struct Sent {
    uint64_t id = 0, client_id = 0;
    MonoTime give_up_at{};
  };

  void Run();
  void Send(const LeaseStep& step);
  KubeRequest RequestFor(const LeaseStep& step) const;
  void Take(Answer& answer, MonoTime now);
  std::optional<LeaseRecord> Read(Answer& answer);
  void GiveUpLate(MonoTime now);
  MonoTime WakeAt(const LeaseStep& step) const;
  void TellLeadership();
  void TellHolder();
  void NoteVersion(const LeaseRecord& found);
  void TellTrouble();
  void Failed(const Answer& answer);

  KubeClient& client_;
  const Clock& clock_;
  Logger& log_;
  LeadershipSink& sink_;
  const LeaseOptions options_;
  SystemRandom random_;
  const std::string holder_;
  LeaseElection election_;
  LeaseFence fence_;
  Mailbox<Answer> mailbox_{kAnswersMost};
  std::vector<Sent> sent_;
  std::optional<MonoTime> stop_by_;
  std::optional<int64_t> elected_;                         // What the sink knows.
  std::optional<std::string> leader_;                      // Likewise.
  std::optional<KubeReply> look_failure_, write_failure_;  // Until it works.
  std::string version_;                                    // Of the Lease, as it was last seen.
  mutable std::mutex mutex_;
  std::string trouble_;  // Guarded by mutex_.
  std::thread thread_;
};

void LeaseElector::Core::Run() {
  std::vector<Answer> answers;
  for (;;) {
    const MonoTime now = clock_.Mono();
    const LeaseStep step = election_.Next(now, clock_.Now());
    fence_.Set(election_.leadership());  // First: what follows tells others that it may be over.
    TellLeadership();
    TellHolder();
    if (step.what != LeaseStep::Do::kWait) {
      Send(step);
      continue;
    }
    if (election_.finished() || (stop_by_ && now >= *stop_by_)) break;
    GiveUpLate(now);
    mailbox_.Take(answers, WakeAt(step) - now);
    // Read when the answers are there. An earlier time would say that what they tell is older.
    const MonoTime there = clock_.Mono();
    for (Answer& answer : answers) Take(answer, there);
    answers.clear();
  }
  mailbox_.Close();
  for (const Sent& sent : sent_) client_.Cancel(sent.client_id);
}

KubeRequest LeaseElector::Core::RequestFor(const LeaseStep& step) const {
  KubeRequest request;
  const bool creates = step.what == LeaseStep::Do::kCreate;
  request.path = PathOf(Leases(), options_.ns, creates ? "" : options_.name);
  request.timeout = options_.renew_deadline;  // GiveUpLate is sooner; this is for a paused thread.
  if (creates) {
    request.method = "POST";
    request.body = NewLease(options_.ns, options_.name, step.write);
  } else if (step.what == LeaseStep::Do::kUpdate) {
    request.method = "PATCH";
    request.body = LeasePatch(step.write);
    request.content_type = "application/merge-patch+json";
  }
  return request;
}

void LeaseElector::Core::Send(const LeaseStep& step) {
  Answer answer;
  answer.id = step.id;
  answer.what = step.what;
  try {
    const auto self = shared_from_this();
    const uint64_t id =
        client_.Send(RequestFor(step), [self, id = step.id, what = step.what](KubeReply&& reply) {
          self->mailbox_.PostAnswer({id, what, std::move(reply)});
        });
    sent_.push_back({step.id, id, step.until});
  } catch (const std::exception& error) {  // Memory, threads or descriptors have run out.
    answer.reply.outcome = KubeOutcome::kUnavailable;
    answer.reply.reason = "NotSent";
    answer.reply.message = error.what();
    mailbox_.PostAnswer(std::move(answer));
  }
}

void LeaseElector::Core::Take(Answer& answer, MonoTime now) {
  if (answer.id == 0) {
    election_.Stop();
    stop_by_ = now + kReleasePatience;
    return;
  }
  std::erase_if(sent_, [&](const Sent& sent) { return sent.id == answer.id; });
  election_.OnAnswer(answer.id, Read(answer), now);
  TellTrouble();
}

// nullopt: it says nothing of the Lease.
std::optional<LeaseRecord> LeaseElector::Core::Read(Answer& answer) {
  KubeReply& reply = answer.reply;
  const bool looked = answer.what == LeaseStep::Do::kLook;
  if (reply.outcome == KubeOutcome::kOk) {
    auto lease = ReadLease(reply.body);
    if (lease) {
      (looked ? look_failure_ : write_failure_).reset();
      NoteVersion(*lease);
      return *std::move(lease);
    }
    reply.outcome = KubeOutcome::kInvalid;
    reply.reason = "BadLease";
    reply.message = lease.error().message();
  }
  if (looked && reply.outcome == KubeOutcome::kNotFound) {
    look_failure_.reset();
    return LeaseRecord{};
  }
  Failed(answer);
  return std::nullopt;
}

// Where somebody has written it, that we could not is past.
void LeaseElector::Core::NoteVersion(const LeaseRecord& found) {
  if (version_ == found.version) return;
  version_ = found.version;
  write_failure_.reset();
}

void LeaseElector::Core::TellTrouble() {
  const auto& failure = look_failure_ ? look_failure_ : write_failure_;
  std::string trouble;
  if (failure) {
    trouble = "the lease " + options_.ns + "/" + options_.name + " cannot be " +
              (look_failure_ ? "read: " : "written: ") + failure->message;
  }
  const std::lock_guard lock(mutex_);
  trouble_ = std::move(trouble);
}

// A request that is cancelled is answered all the same.
void LeaseElector::Core::GiveUpLate(MonoTime now) {
  for (Sent& sent : sent_) {
    if (now < sent.give_up_at) continue;
    sent.give_up_at = MonoTime::max();
    client_.Cancel(sent.client_id);
  }
}

MonoTime LeaseElector::Core::WakeAt(const LeaseStep& step) const {
  MonoTime at = stop_by_ ? std::min(step.until, *stop_by_) : step.until;
  for (const Sent& sent : sent_) at = std::min(at, sent.give_up_at);
  return at;
}

void LeaseElector::Core::TellLeadership() {
  const auto& leadership = election_.leadership();
  if (elected_ && (!leadership || leadership->epoch != *elected_)) {
    elected_.reset();
    log_.Log(stop_by_ ? LogLevel::kInfo : LogLevel::kWarning, "this host leads no more",
             {{"lease", options_.ns + "/" + options_.name}, {"why", election_.why_deposed()}});
    sink_.OnDeposed(election_.why_deposed());
  }
  if (!leadership || elected_) return;
  elected_ = leadership->epoch;
  leader_ = holder_;
  log_.Info("this host leads", {{"lease", options_.ns + "/" + options_.name},
                                {"epoch", leadership->epoch},
                                {"as", holder_}});
  sink_.OnElected(leadership->epoch);
}

void LeaseElector::Core::TellHolder() {
  const std::string* holder = election_.holder();
  if (holder == nullptr || *holder == holder_ || leader_ == *holder || stop_by_) return;
  leader_ = *holder;
  if (holder->empty()) {
    log_.Info("nobody leads", {{"lease", options_.ns + "/" + options_.name}});
  } else {
    log_.Info("another host leads",
              {{"lease", options_.ns + "/" + options_.name}, {"leader", *holder}});
  }
  sink_.OnLeader(*holder);
}

// Logged once, until it works again or fails in another way. Who loses a race has not failed, and
// of a server that cannot be reached the client tells.
void LeaseElector::Core::Failed(const Answer& answer) {
  KubeReply reply = answer.reply;
  if (reply.outcome == KubeOutcome::kConflict || reply.outcome == KubeOutcome::kAlreadyExists) {
    return;
  }
  if (stop_by_) return;
  if (reply.outcome == KubeOutcome::kCancelled) {
    reply.reason = "Deadline";
    reply.message = reply.last_try.empty() ? "no answer in time" : reply.last_try;
  }
  const bool looked = answer.what == LeaseStep::Do::kLook;
  std::optional<KubeReply>& last = looked ? look_failure_ : write_failure_;
  const bool is_known = last && SameFailure(*last, reply);
  const bool is_unreachable = reply.outcome == KubeOutcome::kUnavailable && reply.status == 0;
  last = reply;
  if (is_known || is_unreachable) return;
  log_.Warning(looked ? "the lease cannot be read" : "the lease cannot be written",
               {{"lease", options_.ns + "/" + options_.name},
                {"reason", reply.reason},
                {"error", reply.message}});
}

LeaseElector::LeaseElector(KubeClient& client, LeaseOptions options, LeadershipSink& sink)
    : core_(std::make_shared<Core>(client, std::move(options), sink)) {}

LeaseElector::~LeaseElector() {
  core_->Stop();
}

void LeaseElector::Start() {
  core_->Start();
}

void LeaseElector::Stop() {
  core_->Stop();
}

std::optional<int64_t> LeaseElector::Fence() const {
  return core_->Fence();
}

std::string LeaseElector::Trouble() const {
  return core_->Trouble();
}

const std::string& LeaseElector::holder() const {
  return core_->holder();
}

}  // namespace detent
