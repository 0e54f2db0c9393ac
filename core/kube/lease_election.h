// Who leads, decided: from what was seen of a Lease, what was sent and the monotonic time, what to
// do next. No thread, no network, no clock: core/kube/lease.h drives it, and a simulator does.
//
// There are never two leaders, because
// - each write names the version of the Lease that it replaces, so that of all writes made upon one
//   version a single one wins;
// - a leader's time ends `renew_deadline` after it *sent* the last write of its own that it knows
//   to have won;
// - another takes the Lease over when it was told nothing new of it for `duration`, counted from
//   when the *answer* came. Had the leader won a later write, the takeover would lose.
// The sending was before the server took that write, the answer after it. So the leader's time is
// over by `duration - renew_deadline` before another's begins, whatever was late, lost or paused
// and wherever. No clock is compared with another; they only have to run equally fast, within that
// margin. What is left of it is for writes that were on their way when Fence was asked.
//
// Three cases beside: what its holder gave back may be taken at once, since it has stopped leading
// before. A Lease held in our name, by a write whose answer was lost, is ours to take again. And
// one that nobody has led by yet is waited for like any other: it may stand in the place of one
// that was deleted under a leader. How long such a leader may go on is not known then, so for this
// case hosts must agree on `duration`; for all others, the Lease says how long to wait.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "core/base/clock.h"
#include "core/base/random.h"
#include "core/base/result.h"
#include "core/kube/lease_record.h"

namespace detent {

struct LeaseOptions {
  std::string ns;
  std::string name = "detent";
  std::string identity;  // For people: the pod's or the host's name. What makes it unique is added.
  std::chrono::milliseconds duration{15'000};        // Others wait for so long after a renewal.
  std::chrono::milliseconds renew_deadline{10'000};  // Without a renewal for so long it gives up.
  std::chrono::milliseconds retry_period{2'000};  // Between renewals; others look twice as often.
  bool release_on_stop = true;                    // So that another leads at once.
};

// kInvalid: options that cannot work; the message names the first.
Result<void> CheckLeaseOptions(const LeaseOptions& options);

struct Leadership {
  int64_t epoch = 0;
  MonoTime until{};  // It is over then, unless it was renewed.
};

// The epoch of a leadership, for as long as nobody else can be leading. One thread sets, any reads.
class LeaseFence {
 public:
  void Set(const std::optional<Leadership>& leadership);
  // What holds at the instant of `clock`, which is asked last.
  std::optional<int64_t> At(const Clock& clock) const;

 private:
  std::atomic<int64_t> epoch_{0};
  std::atomic<MonoTime> until_{MonoTime::min()};
};

struct LeaseStep {
  enum class Do : uint8_t { kWait, kLook, kCreate, kUpdate };
  Do what = Do::kWait;
  MonoTime until{};   // kWait: for answers, until then. Else: give the request up then.
  uint64_t id = 0;    // Of the request, for its answer.
  LeaseRecord write;  // kCreate, kUpdate.
};

class LeaseElection {
 public:
  // `holder` is unique to this object. `random` is borrowed.
  LeaseElection(const LeaseOptions& options, std::string holder, Random& random);

  // Call it until it says kWait, after each answer and when the time has come. `wall` goes into
  // the Lease, for people; nothing depends on it.
  LeaseStep Next(MonoTime now, WallTime wall);

  // Of each request once, in any order. `found`: the Lease as the server has it; nullopt: a refusal
  // or no answer, whose effect is unknown. `now` was read when the answer was there, not before.
  void OnAnswer(uint64_t id, const std::optional<LeaseRecord>& found, MonoTime now);

  // Stops leading; the Lease is given back by what Next says from now on, until finished().
  void Stop();
  bool finished() const;

  // As of the last Next; to be shown (LeaseFence) before what it said is done.
  const std::optional<Leadership>& leadership() const { return leadership_; }
  const std::string& why_deposed() const { return why_deposed_; }
  // Who holds the Lease, as it was last seen; empty: nobody. Null before it was.
  const std::string* holder() const { return seen_ ? &seen_->holder : nullptr; }

 private:
  enum class Write : uint8_t { kNone, kCreate, kTake, kRenew, kRelease };
  Write Choose(MonoTime now) const;
  LeaseStep Begin(Write write, MonoTime now, WallTime wall);
  LeaseRecord RecordFor(Write write, WallTime wall) const;
  MonoTime TakeAt() const;
  bool WantsLook() const;
  MonoTime WakeAt() const;
  void See(const LeaseRecord& found, MonoTime now);
  void OnLook(const LeaseRecord& found, MonoTime now);
  void OnWrite(const std::optional<LeaseRecord>& found, MonoTime now);
  void Depose(std::string why);
  std::chrono::nanoseconds Jittered(std::chrono::nanoseconds most);

  const LeaseOptions options_;
  const std::string self_;
  Random& random_;
  const std::chrono::nanoseconds patience_;  // With one request.

  std::optional<LeaseRecord> seen_;
  MonoTime seen_at_{};   // When this version of it was there for the first time.
  bool unsure_ = false;  // The last write did not win, or had an unknown effect: look first.
  MonoTime look_at_ = MonoTime::min();
  uint64_t next_id_ = 1;
  uint64_t looks_from_ = 1;  // Answers to earlier looks may be older than what is known.

  Write writing_ = Write::kNone;  // Under way: one at a time.
  uint64_t write_id_ = 0;
  std::string replaced_;  // The version that it is made upon.
  MonoTime write_sent_{};

  std::optional<Leadership> leadership_;
  MonoTime renew_at_{};
  std::string why_deposed_;
  bool stopping_ = false;
};

}  // namespace detent
