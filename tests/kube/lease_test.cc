// Leases as they are read and written, and what an elector makes of them, case by case. The
// simulation (lease_simulation_test.cc) looks for the cases that nobody thought of.

#include <gtest/gtest.h>

#include "core/kube/lease_election.h"
#include "tests/sim/sim_clock.h"

namespace detent {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using Do = LeaseStep::Do;

constexpr WallTime kNoon{seconds(1'800'000'000)};  // 2027-01-15T08:00:00Z

// ---- Reading and writing.

TEST(LeaseRecord, ReadsWhatAServerSends) {
  const auto lease = ReadLease(R"({
    "kind": "Lease", "apiVersion": "coordination.k8s.io/v1",
    "metadata": {"name": "detent", "namespace": "default", "uid": "u", "resourceVersion": "17",
                 "creationTimestamp": "2027-01-15T08:00:00Z", "managedFields": [{}]},
    "spec": {"holderIdentity": "a_1", "leaseDurationSeconds": 15, "leaseTransitions": 3,
             "acquireTime": "2027-01-15T08:00:01.000002Z",
             "renewTime": "2027-01-15T08:00:05.123456Z"}})");
  ASSERT_TRUE(lease) << lease.error().message();
  EXPECT_TRUE(lease->exists);
  EXPECT_EQ(lease->version, "17");
  EXPECT_EQ(lease->created, kNoon);
  EXPECT_EQ(lease->holder, "a_1");
  EXPECT_EQ(lease->duration_s, 15);
  EXPECT_EQ(lease->transitions, 3);
  EXPECT_EQ(lease->acquired, kNoon + microseconds(1'000'002));
  EXPECT_EQ(lease->renewed, kNoon + microseconds(5'123'456));
}

constexpr const char* kMetadata =
    R"("metadata":{"resourceVersion":"1","creationTimestamp":"2027-01-15T08:00:00Z"})";

TEST(LeaseRecord, WhatALeaseDoesNotSayIsEmpty) {
  for (const std::string spec :
       {"", R"(,"spec":{})", R"(,"spec":{"holderIdentity":null,"renewTime":null})"}) {
    const auto lease = ReadLease("{" + std::string(kMetadata) + spec + "}");
    ASSERT_TRUE(lease) << lease.error().message();
    EXPECT_EQ(lease->holder, "");
    EXPECT_EQ(lease->duration_s, 0);
    EXPECT_EQ(lease->transitions, 0);
    EXPECT_FALSE(lease->renewed);
  }
}

TEST(LeaseRecord, NamesTheFieldThatCannotBe) {
  const struct {
    std::string text;
    const char* error;
  } rows[] = {
      {"<html>", "read the Lease: "},
      {"{}", "read the Lease: metadata.resourceVersion: is missing"},
      {R"({"metadata":{"resourceVersion":7}})", "metadata.resourceVersion: must be a string"},
      {R"({"metadata":{"resourceVersion":"7"}})", "metadata.creationTimestamp: is missing"},
      {"{" + std::string(kMetadata) + R"(,"spec":{"leaseTransitions":-1}})",
       "spec.leaseTransitions: must be a number of 0 to 2147483647"},
      {"{" + std::string(kMetadata) + R"(,"spec":{"leaseDurationSeconds":2147483648}})",
       "spec.leaseDurationSeconds: must be a number"},
      {"{" + std::string(kMetadata) + R"(,"spec":{"leaseDurationSeconds":"15"}})",
       "spec.leaseDurationSeconds: must be a number"},
      {"{" + std::string(kMetadata) + R"(,"spec":{"renewTime":"yesterday"}})",
       "spec.renewTime: must be a time"},
      {"{" + std::string(kMetadata) + R"(,"spec":{"holderIdentity":["a"]}})",
       "spec.holderIdentity: must be a string"},
  };
  for (const auto& row : rows) {
    const auto lease = ReadLease(row.text);
    ASSERT_FALSE(lease) << row.error;
    EXPECT_EQ(lease.error().code(), Code::kInvalid);
    EXPECT_NE(lease.error().message().find(row.error), std::string::npos)
        << lease.error().message();
  }
}

TEST(LeaseRecord, IsWrittenAsTheApiWantsIt) {
  LeaseRecord lease;
  lease.version = "17";
  lease.duration_s = 15;
  EXPECT_EQ(NewLease("default", "detent", lease),
            R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease",)"
            R"("metadata":{"name":"detent","namespace":"default"},)"
            R"("spec":{"holderIdentity":null,"leaseDurationSeconds":15,"leaseTransitions":0,)"
            R"("acquireTime":null,"renewTime":null}})");
  lease.holder = "a_1";
  lease.transitions = 2;
  lease.acquired = kNoon;
  lease.renewed = kNoon + microseconds(1);
  EXPECT_EQ(LeasePatch(lease),
            R"({"metadata":{"resourceVersion":"17"},)"
            R"("spec":{"holderIdentity":"a_1","leaseDurationSeconds":15,"leaseTransitions":2,)"
            R"("acquireTime":"2027-01-15T08:00:00.000000Z",)"
            R"("renewTime":"2027-01-15T08:00:00.000001Z"}})");
}

TEST(LeaseRecord, EpochsRiseWithTakeoversAndOverADeletion) {
  LeaseRecord lease;
  lease.created = kNoon;
  lease.transitions = 7;
  EXPECT_EQ(EpochOf(lease), 1'800'000'000'000'007);
  LeaseRecord again;
  again.created = kNoon + seconds(1);
  EXPECT_GT(EpochOf(again), EpochOf(lease));
}

TEST(LeaseOptions, ThoseThatCannotWorkAreRefused) {
  const struct {
    void (*spoil)(LeaseOptions&);
    const char* error;
  } rows[] = {
      {[](LeaseOptions& o) { o.ns = ""; }, "ns: "},
      {[](LeaseOptions& o) { o.name = "De tent"; }, "name: "},
      {[](LeaseOptions& o) { o.identity = ""; }, "identity: "},
      {[](LeaseOptions& o) { o.duration = milliseconds(999); }, "duration: "},
      {[](LeaseOptions& o) { o.duration = seconds(3601); }, "duration: "},
      {[](LeaseOptions& o) { o.renew_deadline = milliseconds(13'501); }, "renew_deadline: "},
      {[](LeaseOptions& o) { o.retry_period = milliseconds(5'001); }, "retry_period: "},
      {[](LeaseOptions& o) { o.retry_period = milliseconds(9); }, "retry_period: "},
  };
  LeaseOptions good;
  good.ns = "default";
  good.identity = "host";
  EXPECT_TRUE(CheckLeaseOptions(good));
  for (const auto& row : rows) {
    LeaseOptions options = good;
    row.spoil(options);
    const auto checked = CheckLeaseOptions(options);
    ASSERT_FALSE(checked) << row.error;
    EXPECT_EQ(checked.error().message().find(row.error), 0u) << checked.error().message();
  }
}

TEST(LeaseFence, EndsWithTheTimeThatItWasSetFor) {
  SimClock clock(kNoon);
  LeaseFence fence;
  EXPECT_EQ(fence.At(clock), std::nullopt);
  fence.Set(Leadership{7, clock.Mono() + seconds(2)});
  EXPECT_EQ(fence.At(clock), 7);
  clock.Advance(microseconds(1'999'999));
  EXPECT_EQ(fence.At(clock), 7);
  clock.Advance(microseconds(1));
  EXPECT_EQ(fence.At(clock), std::nullopt);
  fence.Set(Leadership{7, clock.Mono() + seconds(1)});
  EXPECT_EQ(fence.At(clock), 7);
  fence.Set(std::nullopt);
  EXPECT_EQ(fence.At(clock), std::nullopt);
}

// ---- Electing: duration 15 s, deadline 10 s, retry 2 s.

LeaseRecord Held(const std::string& holder, const std::string& version) {
  LeaseRecord lease;
  lease.exists = true;
  lease.version = version;
  lease.created = kNoon;
  lease.holder = holder;
  lease.duration_s = 15;
  lease.transitions = 1;
  lease.acquired = lease.renewed = kNoon;
  return lease;
}

class ElectionTest : public ::testing::Test {
 protected:
  LeaseStep Next() {
    const LeaseStep step = election_.Next(clock_.Mono(), clock_.Now());
    fence_.Set(election_.leadership());
    return step;
  }
  void Pass(nanoseconds time) { clock_.Advance(std::chrono::ceil<microseconds>(time)); }
  void PassUntil(MonoTime time) { Pass(time - clock_.Mono()); }
  void Answer(const LeaseStep& step, const std::optional<LeaseRecord>& found) {
    election_.OnAnswer(step.id, found, clock_.Mono());
  }
  // As the server does it where nobody was faster.
  void Win(const LeaseStep& step) {
    LeaseRecord lease = step.write;
    lease.exists = true;
    lease.created = kNoon;
    lease.version = std::to_string(++version_);
    Answer(step, lease);
  }
  // The next step that is no wait; time passes as it says.
  LeaseStep NextDeed() {
    for (;;) {
      const LeaseStep step = Next();
      if (step.what != Do::kWait) return step;
      PassUntil(step.until);
    }
  }
  // Looks, and finds `lease`, until it would do something else.
  LeaseStep LookUntilDeed(const LeaseRecord& lease) {
    for (;;) {
      const LeaseStep step = NextDeed();
      if (step.what != Do::kLook) return step;
      Answer(step, lease);
    }
  }
  void Lead() {
    LeaseRecord free = Held("", "100");
    Answer(NextDeed(), free);
    Win(NextDeed());
    Next();
    ASSERT_TRUE(Fence());
  }
  std::optional<int64_t> Fence() const { return fence_.At(clock_); }

  static LeaseOptions Options() {
    LeaseOptions options;
    options.ns = "default";
    options.identity = "me";
    return options;
  }

  SimClock clock_{kNoon};
  SeededRandom random_{7};
  LeaseElection election_{Options(), "me", random_};
  LeaseFence fence_;
  int version_ = 200;
};

TEST_F(ElectionTest, WhenALeaseIsTakenOver) {
  LeaseRecord free = Held("", "1"), unled = Held("", "1"), hasty = Held("other", "1"),
              patient = Held("other", "1"), silent = Held("other", "1");
  unled.transitions = 0;
  hasty.duration_s = 1;
  patient.duration_s = 60;
  silent.duration_s = 0;
  const struct {
    LeaseRecord lease;
    int after_s;
    const char* because;
  } rows[] = {
      {free, 0, "its holder gave it back"},
      {Held("me", "1"), 0, "a write of ours had won, and its answer was lost"},
      {Held("other", "1"), 15, "the other may lead for so long"},
      {hasty, 15, "we wait for no less than we promise"},
      {patient, 60, "the holder was promised more"},
      {silent, 15, "it does not say for how long"},
      {unled, 15, "it may stand in the place of one that was deleted"},
  };
  for (const auto& row : rows) {
    SimClock clock(kNoon);
    LeaseElection election(Options(), "me", random_);
    election.OnAnswer(election.Next(clock.Mono(), kNoon).id, row.lease, clock.Mono());
    const MonoTime seen = clock.Mono();
    LeaseStep step;
    for (;;) {
      step = election.Next(clock.Mono(), kNoon);
      if (step.what == Do::kLook) election.OnAnswer(step.id, row.lease, clock.Mono());
      if (step.what == Do::kWait) {
        clock.Advance(std::chrono::ceil<microseconds>(step.until - clock.Mono()));
      }
      if (step.what != Do::kLook && step.what != Do::kWait) break;
    }
    EXPECT_EQ(step.what, Do::kUpdate) << row.because;
    EXPECT_EQ(clock.Mono() - seen, seconds(row.after_s)) << row.because;
    EXPECT_EQ(step.write.version, "1") << row.because;
    EXPECT_EQ(step.write.holder, "me") << row.because;
    EXPECT_EQ(step.write.transitions, row.lease.transitions + 1) << row.because;
    EXPECT_EQ(step.write.acquired, kNoon) << row.because;
    EXPECT_EQ(step.write.duration_s, 15) << row.because;
  }
}

TEST_F(ElectionTest, ARenewalOfTheOtherBeginsTheWaitAnew) {
  Answer(NextDeed(), Held("other", "1"));
  Pass(seconds(14));
  Answer(NextDeed(), Held("other", "2"));
  const MonoTime seen = clock_.Mono();
  const LeaseStep taken = LookUntilDeed(Held("other", "2"));
  EXPECT_EQ(taken.write.version, "2");
  EXPECT_EQ(clock_.Mono() - seen, seconds(15));
}

TEST_F(ElectionTest, LooksTwiceInARetryPeriodSoThatATakeoverIsNotLate) {
  Answer(NextDeed(), Held("other", "1"));
  for (int i = 0; i < 10; ++i) {
    const MonoTime before = clock_.Mono();
    const LeaseStep look = NextDeed();
    EXPECT_EQ(look.what, Do::kLook);
    EXPECT_LE(clock_.Mono() - before, seconds(1));
    EXPECT_GE(clock_.Mono() - before, milliseconds(750));
    Answer(look, Held("other", "1"));
  }
}

TEST_F(ElectionTest, ALookThatIsNotAnsweredDoesNotHoldUpTheNext) {
  for (int i = 0; i < 5; ++i) EXPECT_EQ(NextDeed().what, Do::kLook);
  EXPECT_LE(clock_.Mono(), MonoTime(seconds(1)) + seconds(4));
}

TEST_F(ElectionTest, ALeaseThatIsNotThereIsMadeAndThenWaitedForLikeAnyOther) {
  Answer(NextDeed(), LeaseRecord{});
  const LeaseStep made = NextDeed();
  EXPECT_EQ(made.what, Do::kCreate);
  EXPECT_EQ(made.write.holder, "");
  EXPECT_EQ(made.write.transitions, 0);
  Win(made);
  const MonoTime there = clock_.Mono();
  LeaseRecord lease = made.write;
  lease.version = std::to_string(version_);
  lease.exists = true;
  EXPECT_EQ(LookUntilDeed(lease).write.holder, "me");
  EXPECT_EQ(clock_.Mono() - there, seconds(15));
}

TEST_F(ElectionTest, TheDeadlineCountsFromWhenTheRenewalWasSent) {
  Lead();
  const LeaseStep renewal = NextDeed();
  EXPECT_EQ(renewal.what, Do::kUpdate);
  const MonoTime sent = clock_.Mono();
  Pass(seconds(3));
  Win(renewal);
  Next();
  EXPECT_EQ(election_.leadership()->until, sent + seconds(10));
}

TEST_F(ElectionTest, ARenewalChangesNothingButItsTime) {
  Lead();
  const LeaseStep renewal = NextDeed();
  EXPECT_EQ(renewal.write.version, std::to_string(version_));
  EXPECT_EQ(renewal.write.holder, "me");
  EXPECT_EQ(renewal.write.transitions, 2);
  EXPECT_EQ(renewal.write.acquired, kNoon);
  EXPECT_EQ(renewal.write.renewed, clock_.Now());
}

TEST_F(ElectionTest, ARenewalChangesTheTimeEvenWhereTheWallClockStandsStill) {
  Lead();
  std::optional<WallTime> before;
  for (int i = 0; i < 4; ++i) {
    LeaseStep step;
    while ((step = election_.Next(clock_.Mono(), kNoon)).what == Do::kWait) PassUntil(step.until);
    EXPECT_NE(step.write.renewed, before);
    before = step.write.renewed;
    Win(step);
  }
}

TEST_F(ElectionTest, WithoutAnAnswerTheLeadershipEndsByItself) {
  Lead();
  const MonoTime until = election_.leadership()->until;
  NextDeed();
  PassUntil(until - microseconds(1));
  EXPECT_TRUE(Fence());
  Pass(microseconds(1));
  EXPECT_FALSE(Fence()) << "before the elector had a chance to run";
  Next();
  EXPECT_FALSE(election_.leadership());
  EXPECT_EQ(election_.why_deposed(), "the Lease could not be renewed in time");
}

TEST_F(ElectionTest, ALeadershipThatEndedIsNotRevivedByALateAnswer) {
  Lead();
  const int64_t epoch = election_.leadership()->epoch;
  const LeaseStep renewal = NextDeed();
  PassUntil(election_.leadership()->until);
  Next();
  Win(renewal);
  const LeaseStep again = Next();
  EXPECT_FALSE(Fence());
  EXPECT_EQ(again.what, Do::kUpdate);
  EXPECT_EQ(again.write.transitions, 3) << "it is ours still, but a new leadership";
  Win(again);
  Next();
  EXPECT_GT(*Fence(), epoch);
}

TEST_F(ElectionTest, AfterAFailedRenewalItLooksAndRenewsUponWhatItFinds) {
  Lead();
  const LeaseStep lost = NextDeed();
  PassUntil(lost.until);
  Answer(lost, std::nullopt);
  const LeaseStep look = Next();
  EXPECT_EQ(look.what, Do::kLook);
  LeaseRecord won = lost.write;
  won.exists = true;
  won.version = "300";
  Answer(look, won);
  const LeaseStep renewal = Next();
  EXPECT_EQ(renewal.what, Do::kUpdate);
  EXPECT_EQ(renewal.write.version, "300");
  EXPECT_EQ(renewal.write.transitions, 2) << "the same leadership goes on";
  EXPECT_TRUE(Fence());
}

TEST_F(ElectionTest, ThereIsTimeForASecondRenewalWhereTheFirstIsLost) {
  Lead();
  const LeaseStep lost = NextDeed();
  EXPECT_LE(lost.until, election_.leadership()->until - seconds(4));
}

TEST_F(ElectionTest, WhatALeaderFindsMayDeposeIt) {
  const struct {
    LeaseRecord found;
    const char* why;
  } rows[] = {
      {Held("other", "300"), "another holds the Lease: other"},
      {Held("", "300"), "the Lease was taken away"},
      {LeaseRecord{}, "the Lease was deleted"},
  };
  for (const auto& row : rows) {
    SimClock clock(kNoon);
    LeaseElection election(Options(), "me", random_);
    election.OnAnswer(election.Next(clock.Mono(), kNoon).id, Held("", "1"), clock.Mono());
    const LeaseStep taken = election.Next(clock.Mono(), kNoon);
    election.OnAnswer(taken.id, Held("me", "2"), clock.Mono());
    clock.Advance(seconds(2));
    election.OnAnswer(election.Next(clock.Mono(), kNoon).id, std::nullopt, clock.Mono());
    EXPECT_TRUE(election.leadership());
    election.OnAnswer(election.Next(clock.Mono(), kNoon).id, row.found, clock.Mono());
    EXPECT_FALSE(election.leadership());
    EXPECT_EQ(election.why_deposed(), row.why);
  }
}

TEST_F(ElectionTest, AnAnswerOlderThanOurWriteIsNotTakenForTheOthersDoing) {
  Answer(NextDeed(), Held("", "1"));
  Pass(seconds(1));
  const LeaseStep take = Next();
  const LeaseStep early = NextDeed();
  ASSERT_EQ(early.what, Do::kLook);
  Win(take);
  Next();
  Answer(early, Held("", "1"));
  EXPECT_TRUE(election_.leadership());
}

TEST_F(ElectionTest, ATakeoverThatCameTooLateIsSeenByALookBeforeItIsAnswered) {
  Answer(NextDeed(), Held("", "1"));
  EXPECT_EQ(NextDeed().what, Do::kUpdate);
  Answer(NextDeed(), Held("other", "2"));
  const MonoTime seen = clock_.Mono();
  EXPECT_EQ(LookUntilDeed(Held("other", "2")).write.version, "2");
  EXPECT_EQ(clock_.Mono() - seen, seconds(15));
}

TEST_F(ElectionTest, ARefusedWriteIsNotRepeatedFasterThanItLooks) {
  Answer(NextDeed(), Held("", "1"));
  for (int i = 0; i < 5; ++i) {
    const MonoTime before = clock_.Mono();
    Answer(LookUntilDeed(Held("", "1")), std::nullopt);
    EXPECT_GE(i == 0 ? seconds(1) : clock_.Mono() - before, milliseconds(750));
  }
}

TEST_F(ElectionTest, StoppingDeposesAndGivesTheLeaseBack) {
  Lead();
  election_.Stop();
  EXPECT_EQ(election_.why_deposed(), "this host stops");
  EXPECT_FALSE(election_.finished());
  const LeaseStep release = Next();
  EXPECT_FALSE(Fence());
  EXPECT_EQ(release.what, Do::kUpdate);
  EXPECT_EQ(release.write.holder, "");
  EXPECT_EQ(release.write.transitions, 2) << "so that it can be told from one never led by";
  Win(release);
  EXPECT_EQ(Next().what, Do::kWait);
  EXPECT_TRUE(election_.finished());
}

TEST_F(ElectionTest, StoppingWaitsForWhatIsUnderWay) {
  Lead();
  const LeaseStep renewal = NextDeed();
  election_.Stop();
  EXPECT_EQ(Next().what, Do::kWait);
  EXPECT_FALSE(Fence());
  Answer(renewal, std::nullopt);
  EXPECT_EQ(Next().what, Do::kLook);
  EXPECT_FALSE(election_.finished());
}

TEST_F(ElectionTest, WhoDoesNotLeadStopsAtOnce) {
  election_.Stop();
  EXPECT_TRUE(election_.finished()) << "before it saw anything";
  LeaseElection follower(Options(), "me", random_);
  follower.OnAnswer(follower.Next(clock_.Mono(), kNoon).id, Held("other", "1"), clock_.Mono());
  follower.Stop();
  EXPECT_EQ(follower.Next(clock_.Mono(), kNoon).what, Do::kWait);
  EXPECT_TRUE(follower.finished());
}

TEST_F(ElectionTest, AHostThatIsNotToGiveItBackLeavesItToTime) {
  LeaseOptions options = Options();
  options.release_on_stop = false;
  LeaseElection election(options, "me", random_);
  election.OnAnswer(election.Next(clock_.Mono(), kNoon).id, Held("me", "1"), clock_.Mono());
  election.Stop();
  EXPECT_EQ(election.Next(clock_.Mono(), kNoon).what, Do::kWait);
  EXPECT_TRUE(election.finished());
}

}  // namespace
}  // namespace detent
