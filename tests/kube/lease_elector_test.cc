// Electors with their threads and clients, in front of a server that keeps one Lease.

#include <functional>

#include "core/base/json_patch.h"
#include "core/kube/lease.h"
#include "tests/kube/client_fixture.h"

namespace detent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::KubeClientTest;
using testing::Served;
using testing::ServedRequest;

constexpr const char* kPath = "/apis/coordination.k8s.io/v1/namespaces/default/leases";

constexpr const char* kGivenBack =
    R"({"metadata":{"name":"detent","labels":{"kept":"yes"},"resourceVersion":"100",)"
    R"("creationTimestamp":"2027-01-15T08:00:00Z"},"spec":{"leaseTransitions":7}})";

std::string StatusOf(int code, const std::string& reason) {
  Json status;
  status.Set("kind", "Status").Set("code", code).Set("reason", reason);
  status.Set("message", "told so: " + reason);
  return DumpJson(status);
}

// What the API server does with a Lease, and what it does wrong on demand.
class OneLease {
 public:
  enum class Mood { kGood, kSilent, kForbids };

  void Handle(const ServedRequest& request, const std::shared_ptr<Served>& exchange) {
    std::lock_guard lock(mutex_);
    if (mood_ == Mood::kSilent) return;
    if (mood_ == Mood::kForbids) {
      ++refusals_;
      changed_.notify_all();
      return exchange->Answer(403, StatusOf(403, "Forbidden"));
    }
    const bool creates = request.method == "POST";
    if (request.path != kPath + std::string(creates ? "" : "/detent")) {
      return exchange->Answer(404, StatusOf(404, "NotFound"));
    }
    if (request.method == "GET") {
      if (lease_.is_null()) return exchange->Answer(404, StatusOf(404, "NotFound"));
      return exchange->Answer(200, DumpJson(lease_));
    }
    const auto body = ParseJson(request.body);
    if (!body || creates != lease_.is_null()) {
      return exchange->Answer(409, StatusOf(409, "AlreadyExists"));
    }
    if (!creates && *body->At("/metadata/resourceVersion") != Json(std::to_string(version_))) {
      return exchange->Answer(409, StatusOf(409, "Conflict"));
    }
    if (!creates && request.Field("content-type") != "application/merge-patch+json") {
      return exchange->Answer(415, StatusOf(415, "UnsupportedMediaType"));
    }
    lease_ = MergePatch(lease_, *body);
    Json& metadata = *lease_.Find("metadata");
    metadata.Set("resourceVersion", std::to_string(++version_));
    metadata.Set("creationTimestamp", "2027-01-15T08:00:00Z");
    exchange->Answer(creates ? 201 : 200, DumpJson(lease_));
  }
  void Set(Mood mood) {
    std::lock_guard lock(mutex_);
    mood_ = mood;
  }
  void Put(const std::string& json) {
    std::lock_guard lock(mutex_);
    lease_ = *ParseJson(json);
  }
  Json lease() {
    std::lock_guard lock(mutex_);
    return lease_;
  }
  bool AwaitRefusals(int count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, seconds(20), [&] { return refusals_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  Mood mood_ = Mood::kGood;  // Guarded by mutex_, as is all below.
  Json lease_;
  int64_t version_ = 100;
  int refusals_ = 0;
};

// What an elector told, in its order.
class Told final : public LeadershipSink {
 public:
  void OnElected(int64_t epoch) override { Add("elected", epoch); }
  void OnDeposed(const std::string& why) override { Add("deposed: " + why, 0); }
  void OnLeader(const std::string& identity) override {
    Add("leader: " + identity.substr(0, identity.find('_')), 0);
  }
  // Waits at most 20 seconds for so many.
  bool Await(size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, seconds(20), [&] { return told_.size() >= count; });
  }
  std::vector<std::string> told() {
    std::lock_guard lock(mutex_);
    return told_;
  }
  int64_t epoch() {
    std::lock_guard lock(mutex_);
    return epoch_;
  }

 private:
  void Add(const std::string& what, int64_t epoch) {
    std::lock_guard lock(mutex_);
    told_.push_back(what);
    if (epoch != 0) epoch_ = epoch;
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> told_;  // Guarded by mutex_, as is the next.
  int64_t epoch_ = 0;
};

class LeaseElectorTest : public KubeClientTest {
 protected:
  LeaseElectorTest() {
    server_lease_.Put(kGivenBack);
    server_ = Serve([this](const ServedRequest& request, std::shared_ptr<Served> exchange) {
      server_lease_.Handle(request, exchange);
    });
  }
  struct Host {
    std::unique_ptr<KubeClient> client;
    Told told;
    std::unique_ptr<LeaseElector> elector;
  };
  std::unique_ptr<Host> Begin(const std::string& identity) {
    LeaseOptions options;
    options.ns = "default";
    options.identity = identity;
    options.duration = duration_;
    options.renew_deadline = options.duration * 2 / 3;
    options.retry_period = options.duration / 12;
    EXPECT_TRUE(CheckLeaseOptions(options));
    auto host = std::make_unique<Host>();
    host->client = MakeClient();
    host->elector = std::make_unique<LeaseElector>(*host->client, options, host->told);
    host->elector->Start();
    return host;
  }
  std::string LeaseText(const char* pointer) {
    const Json lease = server_lease_.lease();
    const Json* found = lease.At(pointer);
    return found == nullptr ? "" : DumpJson(*found);
  }

  milliseconds duration_{3'000};
  OneLease server_lease_;
  std::unique_ptr<testing::TlsServer> server_;  // After what it serves.
};

using Lines = std::vector<std::string>;

TEST_F(LeaseElectorTest, OneIsElectedTheOtherToldAndFollowsAtOnceWhereTheFirstStops) {
  const auto a = Begin("a");
  ASSERT_TRUE(a->told.Await(2));
  EXPECT_EQ(a->told.told(), (Lines{"leader: ", "elected"}));
  EXPECT_EQ(a->elector->Fence(), a->told.epoch());
  EXPECT_EQ(LeaseText("/spec/holderIdentity"), '"' + a->elector->holder() + '"');
  EXPECT_EQ(LeaseText("/spec/leaseDurationSeconds"), "3");
  EXPECT_EQ(LeaseText("/spec/leaseTransitions"), "8");
  EXPECT_EQ(LeaseText("/metadata/labels"), R"({"kept":"yes"})");

  const auto b = Begin("b");
  ASSERT_TRUE(b->told.Await(1));
  EXPECT_EQ(b->told.told(), (Lines{"leader: a"}));
  EXPECT_EQ(b->elector->Fence(), std::nullopt);

  a->elector->Stop();
  EXPECT_EQ(a->elector->Fence(), std::nullopt);
  EXPECT_EQ(a->told.told().back(), "deposed: this host stops");
  ASSERT_TRUE(b->told.Await(3));
  EXPECT_EQ(b->told.told(), (Lines{"leader: a", "leader: ", "elected"}));
  EXPECT_EQ(b->told.epoch(), a->told.epoch() + 1);
  EXPECT_EQ(b->elector->Fence(), b->told.epoch());
  EXPECT_EQ(Logged("msg=\"this host leads\""), 2u);
  EXPECT_EQ(Logged("msg=\"another host leads\""), 1u);
  EXPECT_EQ(Logged("msg=\"this host leads no more\""), 1u);
}

TEST_F(LeaseElectorTest, AServerThatFallsSilentDeposesInTimeAndIsNotWaitedForAtTheEnd) {
  const auto a = Begin("a");
  ASSERT_TRUE(a->told.Await(2));
  server_lease_.Set(OneLease::Mood::kSilent);
  ASSERT_TRUE(a->told.Await(3));
  EXPECT_EQ(a->told.told().back(), "deposed: the Lease could not be renewed in time");
  EXPECT_EQ(a->elector->Fence(), std::nullopt);
  const MonoTime stops = clock_.Mono();
  a->elector->Stop();
  EXPECT_LT(clock_.Mono() - stops, seconds(5));
}

TEST_F(LeaseElectorTest, LeadsAgainWithAnotherEpochWhereTheServerIsBack) {
  const auto a = Begin("a");
  ASSERT_TRUE(a->told.Await(2));
  const int64_t epoch = a->told.epoch();
  server_lease_.Set(OneLease::Mood::kSilent);
  ASSERT_TRUE(a->told.Await(3));
  server_lease_.Set(OneLease::Mood::kGood);
  ASSERT_TRUE(a->told.Await(4));
  EXPECT_EQ(a->told.told().back(), "elected");
  EXPECT_GT(a->told.epoch(), epoch);
}

TEST_F(LeaseElectorTest, ARefusalIsLoggedOnceInTheServersWords) {
  server_lease_.Set(OneLease::Mood::kForbids);
  const auto a = Begin("a");
  ASSERT_TRUE(server_lease_.AwaitRefusals(5));
  EXPECT_EQ(Logged("the lease cannot be read"), 1u);
  EXPECT_EQ(Logged("reason=Forbidden error=\"told so: Forbidden\""), 1u);
}

TEST_F(LeaseElectorTest, WhyTheLeaseCannotBeReadCanBeAskedForUntilItCanBe) {
  server_lease_.Set(OneLease::Mood::kForbids);
  const auto a = Begin("a");
  ASSERT_TRUE(server_lease_.AwaitRefusals(3));
  EXPECT_EQ(a->elector->Trouble(), "the lease default/detent cannot be read: told so: Forbidden");
  server_lease_.Set(OneLease::Mood::kGood);
  ASSERT_TRUE(a->told.Await(2));
  EXPECT_EQ(a->elector->Trouble(), "");
}

TEST_F(LeaseElectorTest, ALeaseThatIsNotThereIsMadeAndLedByWhenItWasThereForItsDuration) {
  server_lease_.Put("null");
  duration_ = milliseconds(1'200);
  const MonoTime begins = clock_.Mono();
  const auto a = Begin("a");
  ASSERT_TRUE(a->told.Await(2));
  EXPECT_GE(clock_.Mono() - begins, duration_);
  EXPECT_EQ(LeaseText("/metadata/namespace"), "\"default\"");
  EXPECT_EQ(LeaseText("/spec/leaseDurationSeconds"), "2");
}

TEST_F(LeaseElectorTest, StopsBeforeItStartedAndTwice) {
  LeaseOptions options;
  options.ns = "default";
  options.identity = "a";
  Told told;
  const auto client = MakeClient();
  LeaseElector elector(*client, options, told);
  elector.Stop();
  elector.Stop();
  EXPECT_EQ(elector.Fence(), std::nullopt);
  EXPECT_EQ(told.told(), Lines());
}

}  // namespace
}  // namespace detent
