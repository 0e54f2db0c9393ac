// Three electors and one Lease, from thousands of seeds: a server that is slow, refuses, or has its
// replies lost; hosts that are paused between any two steps, killed, stopped and started again;
// clocks that run unevenly or stand still; a Lease that is deleted or touched by others.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/kube/lease_election.h"

namespace detent {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

using Time = nanoseconds;  // True time, which nobody in the simulation knows.

constexpr Time kFaults = seconds(30);
// Deleting it is a fault that lasts: a leader finds out with its next renewal only.
constexpr Time kLastDeletion = kFaults - seconds(3);
constexpr Time kCalm = seconds(6);
constexpr WallTime kEpoch{seconds(1'800'000'000)};

class Chance {
 public:
  explicit Chance(uint64_t seed) : random_(seed) {}
  bool OneIn(uint64_t n) { return random_.Below(n) == 0; }
  Time UpTo(Time most) { return Time(static_cast<int64_t>(random_.Below(most.count() + 1))); }
  int64_t Below(int64_t bound) {
    return static_cast<int64_t>(random_.Below(static_cast<uint64_t>(bound)));
  }
  Random& random() { return random_; }

 private:
  SeededRandom random_;
};

constexpr milliseconds kDuration{3'000};
constexpr milliseconds kDurationMost{5'000};
constexpr milliseconds kRetryPeriod{500};

LeaseOptions SomeOptions(Chance& chance, bool agree) {
  LeaseOptions options;
  options.duration = agree || chance.OneIn(2) ? kDuration : kDurationMost;
  options.renew_deadline = options.duration - milliseconds(1'000);
  options.retry_period = kRetryPeriod;
  options.release_on_stop = !chance.OneIn(4);
  return options;
}

// What happens, in the order of its time.
class Agenda {
 public:
  void At(Time time, std::function<void()> what) {
    entries_.push_back({std::max(time, now_), ++number_, std::move(what)});
    std::push_heap(entries_.begin(), entries_.end());
  }
  Time now() const { return now_; }
  // False: nothing is left before `end`.
  bool Step(Time end) {
    if (entries_.empty() || entries_.front().time > end) return false;
    std::pop_heap(entries_.begin(), entries_.end());
    const Entry entry = std::move(entries_.back());
    entries_.pop_back();
    now_ = entry.time;
    entry.what();
    return true;
  }

 private:
  struct Entry {
    Time time;
    uint64_t number;
    std::function<void()> what;
    bool operator<(const Entry& other) const {
      return time != other.time ? time > other.time : number > other.number;
    }
  };
  std::vector<Entry> entries_;  // A heap: the next is in front.
  Time now_{0};
  uint64_t number_ = 0;
};

// The clocks of one host: neither begins where another's does, and both run at a rate of their own.
class HostClock final : public Clock {
 public:
  HostClock(const Agenda& agenda, Chance& chance)
      : agenda_(agenda),
        offset_(seconds(1) + chance.UpTo(seconds(100'000))),
        parts_per_thousand_(chance.Below(5) - 2),
        wall_stands_(chance.OneIn(4)),
        wall_skew_(chance.UpTo(seconds(7'200)) - seconds(3'600)) {}

  MonoTime Mono() const override { return MonoTime(offset_ + Own(agenda_.now())); }
  WallTime Now() const override {
    const Time passed = wall_stands_ ? Time(0) : Own(agenda_.now()) + wall_skew_;
    return kEpoch + std::chrono::floor<std::chrono::microseconds>(passed);
  }
  void Jump(Time by) { wall_skew_ += by; }
  // When it will show `mono`.
  Time TrueTimeOf(MonoTime mono) const {
    if (mono == MonoTime::min()) return Time(0);
    if (mono == MonoTime::max()) return Time::max();
    const int64_t own = (mono.time_since_epoch() - offset_).count();
    return Time(own / (1000 + parts_per_thousand_) * 1000 + 1000);
  }

 private:
  Time Own(Time time) const { return time + time * parts_per_thousand_ / 1000; }

  const Agenda& agenda_;
  const Time offset_;
  const int64_t parts_per_thousand_;
  const bool wall_stands_;
  Time wall_skew_;
};

// What the API server does with a Lease.
class LeaseServer {
 public:
  explicit LeaseServer(const Agenda& agenda) : agenda_(agenda) {}

  std::optional<LeaseRecord> Do(const LeaseStep& step) {
    if (step.what == LeaseStep::Do::kLook) return lease_;
    const bool creates = step.what == LeaseStep::Do::kCreate;
    if (creates == lease_.exists || step.write.version != lease_.version) return std::nullopt;
    LeaseRecord next = step.write;
    next.exists = true;
    next.version = lease_.version;
    if (creates) next.created = kEpoch + std::chrono::floor<seconds>(agenda_.now());
    const bool same = next.holder == lease_.holder && next.renewed == lease_.renewed &&
                      next.transitions == lease_.transitions;
    if (creates || !same) next.version = std::to_string(++version_);
    lease_ = next;
    return lease_;
  }
  void Delete() { lease_ = LeaseRecord{}; }
  void Touch() {
    if (lease_.exists) lease_.version = std::to_string(++version_);
  }

 private:
  const Agenda& agenda_;
  LeaseRecord lease_;
  int64_t version_ = 100;
};

struct Setting {
  Agenda agenda;
  Chance chance;
  LeaseServer server{agenda};
  const bool agree;  // On the duration. Where hosts do not, no Lease is deleted.
  bool faults = true;
  // What was sent while there were faults has reached the server by then; and a write that did not
  // is given up, since nothing else tells that it will not.
  Time settled{0};

  explicit Setting(uint64_t seed) : chance(seed), agree(seed % 2 == 0) {}
  bool Fault(uint64_t one_in) { return faults && chance.OneIn(one_in); }
  Time Delay() {
    if (!Fault(8)) return milliseconds(1) + chance.UpTo(milliseconds(20));
    return chance.UpTo(chance.OneIn(4) ? seconds(8) : seconds(1));
  }
};

// One life of one host: what the elector does around LeaseElection, in steps between which it may
// be paused.
class Host : public std::enable_shared_from_this<Host> {
 public:
  Host(Setting& setting, const std::string& holder)
      : setting_(setting),
        clock_(setting.agenda, setting.chance),
        election_(SomeOptions(setting.chance, setting.agree), holder, setting.chance.random()) {}

  void Begin() { Soon(&Host::ReadClock); }
  void Kill() { alive_ = false; }
  void Stop() {
    stop_ = true;
    Wake();
  }
  void Pause(Time until) { paused_until_ = std::min(std::max(paused_until_, until), kFaults); }
  void JumpWall(Time by) { clock_.Jump(by); }
  bool alive() const { return alive_; }
  bool running() const { return alive_ && !stop_; }
  std::optional<int64_t> Fence() const { return alive_ ? fence_.At(clock_) : std::nullopt; }

 private:
  struct Request {
    LeaseStep step;
    bool answered = false;
  };
  struct Answer {
    uint64_t id = 0;
    std::optional<LeaseRecord> found;
  };
  using RequestPtr = std::shared_ptr<Request>;

  // The next thing that its thread does; a pause may come before it.
  void Soon(void (Host::*what)()) { At(setting_.agenda.now(), what); }
  void At(Time time, void (Host::*what)()) {
    if (setting_.Fault(200)) Pause(time + setting_.chance.UpTo(seconds(8)));
    const uint64_t number = ++plan_;
    setting_.agenda.At(time, [self = shared_from_this(), what, number] {
      if (!self->alive_ || number != self->plan_) return;
      if (self->setting_.agenda.now() < self->paused_until_) {
        return self->At(self->paused_until_, what);
      }
      ((*self).*what)();
    });
  }

  void ReadClock() {
    waits_ = false;
    if (stop_) election_.Stop();
    now_ = clock_.Mono();
    Soon(&Host::Decide);
  }
  void Decide() {
    step_ = election_.Next(now_, clock_.Now());
    Soon(&Host::Show);
  }
  void Show() {
    fence_.Set(election_.leadership());
    if (step_.what != LeaseStep::Do::kWait) return Soon(&Host::Send);
    if (election_.finished()) return Kill();
    if (!inbox_.empty()) return Soon(&Host::ReadClockForAnswers);
    waits_ = true;
    At(std::min(clock_.TrueTimeOf(step_.until), Time(seconds(1'000))), &Host::ReadClock);
  }
  void ReadClockForAnswers() {
    waits_ = false;
    taken_.swap(inbox_);
    now_ = clock_.Mono();
    Soon(&Host::TakeAnswers);
  }
  void TakeAnswers() {
    for (const Answer& answer : taken_) election_.OnAnswer(answer.id, answer.found, now_);
    taken_.clear();
    Soon(&Host::ReadClock);
  }
  void Wake() {
    if (waits_) Soon(inbox_.empty() ? &Host::ReadClock : &Host::ReadClockForAnswers);
  }

  void Send() {
    Setting& setting = setting_;
    const auto request = std::make_shared<Request>(Request{step_});
    const Time arrives = setting.agenda.now() + setting.Delay();
    const Time returns = arrives + setting.Delay();
    const Time given_up = clock_.TrueTimeOf(step_.until);
    const bool lost = setting.Fault(10);
    const bool writes = step_.what != LeaseStep::Do::kLook;
    if (setting.faults) {
      setting.settled = std::max(setting.settled, lost && writes ? given_up : arrives);
    }
    if (!lost) {
      setting.agenda.At(arrives, [self = shared_from_this(), request, returns] {
        self->Arrive(request, returns);
      });
    }
    setting.agenda.At(given_up, [self = shared_from_this(), request] { self->GiveUp(request); });
    Soon(&Host::ReadClock);
  }
  void Arrive(const RequestPtr& request, Time returns) {
    std::optional<LeaseRecord> found;
    if (!setting_.Fault(12)) {  // Else it is refused.
      found = setting_.server.Do(request->step);
      if (setting_.Fault(10)) return;  // The reply is lost.
    }
    setting_.agenda.At(
        returns, [self = shared_from_this(), request, found] { self->Return(request, found); });
  }
  void Return(const RequestPtr& request, const std::optional<LeaseRecord>& found) {
    if (!alive_ || std::exchange(request->answered, true)) return;
    inbox_.push_back({request->step.id, found});
    Wake();
  }
  // By a thread of the host's, which is paused when the host is.
  void GiveUp(const RequestPtr& request) {
    if (!alive_ || request->answered) return;
    if (setting_.agenda.now() >= paused_until_) return Return(request, std::nullopt);
    setting_.agenda.At(paused_until_ + setting_.chance.UpTo(milliseconds(5)),
                       [self = shared_from_this(), request] { self->GiveUp(request); });
  }

  Setting& setting_;
  HostClock clock_;
  LeaseElection election_;
  LeaseFence fence_;
  bool alive_ = true, stop_ = false, waits_ = false;
  Time paused_until_{0};
  uint64_t plan_ = 0;
  MonoTime now_{};
  LeaseStep step_;
  std::vector<Answer> inbox_, taken_;
};

class LeaseSimulation {
 public:
  explicit LeaseSimulation(uint64_t seed) : setting_(seed) {
    for (size_t i = 0; i < 3; ++i) Start(i);
    PlanFault();
  }

  // What went wrong first; empty: nothing.
  std::string Run() {
    while (breach_.empty() && setting_.agenda.Step(kFaults)) LookAtFences();
    EndFaults();
    const Time begun = std::max(kFaults, setting_.settled);
    const Time by = begun + (setting_.agree ? kDuration : kDurationMost) + kRetryPeriod;
    while (breach_.empty() && setting_.agenda.Step(by)) LookAtFences();
    if (breach_.empty() && !Leader()) breach_ = "nobody leads in time after the faults";
    const std::optional<int64_t> epoch = Leader();
    while (breach_.empty() && setting_.agenda.Step(by + kCalm)) {
      LookAtFences();
      if (breach_.empty() && Leader() != epoch) breach_ = "without a fault the leader changes";
    }
    return breach_;
  }
  int leaderships() const { return leaderships_; }
  int faults() const { return faults_; }

 private:
  void Start(size_t place) {
    hosts_[place] = std::make_shared<Host>(setting_, "host-" + std::to_string(++lives_));
    hosts_[place]->Begin();
  }

  void PlanFault() {
    const Time at = setting_.agenda.now() + setting_.chance.UpTo(seconds(4));
    if (at < kFaults) setting_.agenda.At(at, [this] { Fault(); });
  }
  void Fault() {
    ++faults_;
    Chance& chance = setting_.chance;
    const Time now = setting_.agenda.now();
    const auto place = static_cast<size_t>(chance.Below(3));
    Host& host = *hosts_[place];
    switch (chance.Below(9)) {
      case 0:
      case 1:
        host.Kill();
        break;
      case 2:
        host.Stop();
        break;
      case 3:
        if (setting_.agree && now < kLastDeletion) setting_.server.Delete();
        break;
      case 4:
        setting_.server.Touch();
        break;
      case 5:
        host.JumpWall(chance.UpTo(seconds(600)) - seconds(300));
        break;
      default:
        host.Pause(now + chance.UpTo(seconds(12)));
    }
    if (!host.alive()) {
      const Time back = now + chance.UpTo(seconds(10));
      setting_.agenda.At(back, [this, place, back] {
        if (back < kFaults && !hosts_[place]->alive()) Start(place);
      });
    }
    PlanFault();
  }
  // One host is there at least, and the one that leads may be killed last of all.
  void EndFaults() {
    setting_.faults = false;
    for (const auto& host : hosts_) {
      if (host->Fence() && setting_.chance.OneIn(2)) host->Kill();
    }
    if (std::none_of(hosts_.begin(), hosts_.end(),
                     [](const auto& host) { return host->running(); })) {
      Start(0);
    }
  }

  void LookAtFences() {
    const Host* leader = nullptr;
    for (const auto& host : hosts_) {
      const std::optional<int64_t> epoch = host->Fence();
      if (!epoch) continue;
      if (leader != nullptr) return Breach("two lead");
      leader = host.get();
      if (*epoch < epoch_) return Breach("an epoch is below one before it");
      if (*epoch == epoch_ && epoch_of_ != leader) return Breach("two had one epoch");
      if (*epoch > epoch_) ++leaderships_;
      epoch_ = *epoch;
      epoch_of_ = leader;
    }
    if (++looks_ == 200'000) Breach("somebody spins");
  }
  void Breach(const std::string& what) {
    breach_ = what + " at " + std::to_string(setting_.agenda.now().count()) + " ns";
  }
  std::optional<int64_t> Leader() const {
    for (const auto& host : hosts_) {
      if (const auto epoch = host->Fence()) return epoch;
    }
    return std::nullopt;
  }

  Setting setting_;
  std::array<std::shared_ptr<Host>, 3> hosts_;
  int lives_ = 0;
  int faults_ = 0, leaderships_ = 0, looks_ = 0;
  int64_t epoch_ = 0;
  const Host* epoch_of_ = nullptr;
  std::string breach_;
};

TEST(LeaseSimulation, NeverHasTwoLeadersAndAlwaysOneAgainAfterTheFaults) {
  int64_t leaderships = 0, faults = 0;
  constexpr uint64_t kSeeds = 3'000;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    LeaseSimulation simulation(seed);
    ASSERT_EQ(simulation.Run(), "") << "seed " << seed;
    leaderships += simulation.leaderships();
    faults += simulation.faults();
  }
  // Else it would prove little.
  EXPECT_GT(leaderships, 2 * static_cast<int64_t>(kSeeds));
  EXPECT_GT(faults, 10 * static_cast<int64_t>(kSeeds));
}

}  // namespace
}  // namespace detent
