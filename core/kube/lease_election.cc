#include "core/kube/lease_election.h"

#include <algorithm>
#include <utility>

#include "core/base/names.h"

namespace detent {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

Error BadLeaseOption(const char* field, const std::string& why) {
  return Error(Code::kInvalid, std::string(field) + ": " + why);
}

}  // namespace

Result<void> CheckLeaseOptions(const LeaseOptions& options) {
  if (auto good = CheckDns1123Label(options.ns); !good) {
    return BadLeaseOption("ns", good.error().message());
  }
  if (auto good = CheckDns1123Subdomain(options.name); !good) {
    return BadLeaseOption("name", good.error().message());
  }
  if (options.identity.empty()) return BadLeaseOption("identity", "must not be empty");
  if (options.duration < seconds(1) || options.duration > std::chrono::hours(1)) {
    return BadLeaseOption("duration", "must be from 1s to 1h");
  }
  if (options.renew_deadline > options.duration * 9 / 10) {
    return BadLeaseOption("renew_deadline", "must be at least a tenth shorter than duration");
  }
  if (options.retry_period < milliseconds(10) ||
      options.retry_period > options.renew_deadline / 2) {
    return BadLeaseOption("retry_period", "must be from 10ms to half of renew_deadline");
  }
  return {};
}

// A reader that sees an `until` sees the epoch that it was set for, or a later one; and then it
// sees the epoch change between its two looks at it.
void LeaseFence::Set(const std::optional<Leadership>& leadership) {
  if (!leadership || leadership->epoch != epoch_) until_ = MonoTime::min();
  if (!leadership) return;
  epoch_ = leadership->epoch;
  until_ = leadership->until;
}

std::optional<int64_t> LeaseFence::At(const Clock& clock) const {
  const int64_t epoch = epoch_;
  const MonoTime until = until_;
  if (epoch_ != epoch || clock.Mono() >= until) return std::nullopt;
  return epoch;
}

LeaseElection::LeaseElection(const LeaseOptions& options, std::string holder, Random& random)
    : options_(options),
      self_(std::move(holder)),
      random_(random),
      // So that a leader whose renewal is lost has time for one more, and for a look before it.
      patience_((options.renew_deadline - options.retry_period) / 2) {}

LeaseStep LeaseElection::Next(MonoTime now, WallTime wall) {
  if (leadership_ && now >= leadership_->until) Depose("the Lease could not be renewed in time");
  const Write write = Choose(now);
  if (write != Write::kNone) return Begin(write, now, wall);
  LeaseStep step;
  if (WantsLook() && now >= look_at_) {
    look_at_ = now + Jittered(options_.retry_period / 2);
    step.what = LeaseStep::Do::kLook;
    step.id = next_id_++;
    step.until = now + patience_;
    return step;
  }
  step.until = WakeAt();
  return step;
}

LeaseElection::Write LeaseElection::Choose(MonoTime now) const {
  if (writing_ != Write::kNone || !seen_ || unsure_) return Write::kNone;
  if (stopping_) return finished() ? Write::kNone : Write::kRelease;
  if (leadership_) return now >= renew_at_ ? Write::kRenew : Write::kNone;
  if (!seen_->exists) return Write::kCreate;
  return now >= TakeAt() ? Write::kTake : Write::kNone;
}

LeaseStep LeaseElection::Begin(Write write, MonoTime now, WallTime wall) {
  LeaseStep step;
  step.what = write == Write::kCreate ? LeaseStep::Do::kCreate : LeaseStep::Do::kUpdate;
  step.until = now + patience_;
  step.id = next_id_++;
  step.write = RecordFor(write, wall);
  writing_ = write;
  write_id_ = step.id;
  replaced_ = step.write.version;
  write_sent_ = now;
  return step;
}

LeaseRecord LeaseElection::RecordFor(Write write, WallTime wall) const {
  LeaseRecord record = *seen_;
  record.duration_s = std::chrono::ceil<seconds>(options_.duration).count();
  if (write == Write::kCreate) return record;
  record.holder = write == Write::kRelease ? "" : self_;
  if (write == Write::kTake) {
    ++record.transitions;
    record.acquired = wall;
  }
  // A write that changes nothing leaves the version as it was, and others would take the Lease for
  // not renewed. Wall clocks may stand still.
  record.renewed = record.renewed == wall ? wall + std::chrono::microseconds(1) : wall;
  return record;
}

// When the Lease may be taken over, unless something new is seen of it.
MonoTime LeaseElection::TakeAt() const {
  if (seen_->holder == self_) return MonoTime::min();
  if (seen_->holder.empty() && seen_->transitions > 0) return MonoTime::min();  // Given back.
  return seen_at_ + std::max<nanoseconds>(options_.duration, seconds(seen_->duration_s));
}

bool LeaseElection::WantsLook() const {
  if (leadership_ || stopping_) return unsure_;
  return true;
}

MonoTime LeaseElection::WakeAt() const {
  MonoTime at = MonoTime::max();
  if (leadership_) at = leadership_->until;
  if (WantsLook()) at = std::min(at, look_at_);
  if (writing_ != Write::kNone || !seen_ || unsure_ || stopping_) return at;
  return std::min(at, leadership_ ? renew_at_ : TakeAt());
}

void LeaseElection::OnAnswer(uint64_t id, const std::optional<LeaseRecord>& found, MonoTime now) {
  if (writing_ != Write::kNone && id == write_id_) {
    looks_from_ = next_id_;
    OnWrite(found, now);
  } else if (found && id >= looks_from_) {
    looks_from_ = id + 1;
    OnLook(*found, now);
  }
}

void LeaseElection::See(const LeaseRecord& found, MonoTime now) {
  if (seen_ && seen_->version == found.version) return;
  seen_ = found;
  seen_at_ = now;
}

void LeaseElection::OnLook(const LeaseRecord& found, MonoTime now) {
  unsure_ = false;
  // Versions do not come back: a write that replaces another one has won by now, or never will.
  if (found.version != replaced_) writing_ = Write::kNone;
  See(found, now);
  if (!leadership_) return;
  if (found.holder == self_) {
    renew_at_ = now;  // A leader looks only where a renewal failed.
  } else if (!found.exists) {
    Depose("the Lease was deleted");
  } else if (found.holder.empty()) {
    Depose("the Lease was taken away");
  } else {
    Depose("another holds the Lease: " + found.holder);
  }
}

void LeaseElection::OnWrite(const std::optional<LeaseRecord>& found, MonoTime now) {
  const Write write = std::exchange(writing_, Write::kNone);
  const bool ours = write == Write::kTake || write == Write::kRenew;
  if (!found || (ours && found->holder != self_)) {
    unsure_ = true;
    return;
  }
  See(*found, now);
  if (stopping_ || !ours) return;
  // A leadership that ended while its renewal was under way stays ended: the next has a new epoch.
  if (write == Write::kTake) leadership_ = Leadership{EpochOf(*found), MonoTime::min()};
  if (!leadership_) return;
  leadership_->until = write_sent_ + options_.renew_deadline;
  renew_at_ = write_sent_ + Jittered(options_.retry_period);
}

void LeaseElection::Stop() {
  if (leadership_) Depose("this host stops");
  stopping_ = true;
}

bool LeaseElection::finished() const {
  if (!stopping_ || writing_ != Write::kNone) return false;
  return !options_.release_on_stop || (!unsure_ && (!seen_ || seen_->holder != self_));
}

void LeaseElection::Depose(std::string why) {
  leadership_.reset();
  why_deposed_ = std::move(why);
}

// Between three quarters of it and all, so that hosts that began together do not stay so.
nanoseconds LeaseElection::Jittered(nanoseconds most) {
  const auto quarter = static_cast<uint64_t>(most.count() / 4);
  return most - nanoseconds(static_cast<int64_t>(random_.Below(quarter + 1)));
}

}  // namespace detent
