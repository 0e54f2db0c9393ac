#include "core/kube/watch_hub.h"

#include <gtest/gtest.h>

#include <atomic>

#include "tests/kube/watch_fixture.h"

namespace detent::testing {
namespace {

using std::chrono::milliseconds;

class WatchHubTest : public WatchFixture {
 protected:
  WatchHub& MakeHub(milliseconds linger = milliseconds(10)) {
    hub_ = std::make_unique<WatchHub>(*client_, watch_options_, linger);
    return *hub_;
  }
  std::unique_ptr<WatchHub> hub_;
};

TEST_F(WatchHubTest, SharesOneWatchAmongAllWhoFollowTheSame) {
  PutThings(3);
  WatchHub& hub = MakeHub();
  WatchListener first, second, other;
  const auto one = hub.Subscribe(scope_, first);
  ASSERT_TRUE(first.WaitSynced());
  const auto two = hub.Subscribe(scope_, second);
  ASSERT_TRUE(second.WaitSynced());
  EXPECT_EQ(second.There(), first.There());
  EXPECT_EQ(server_.Count("GET", ""), 1) << "the second needs no list of its own";
  WatchScope elsewhere = scope_;
  elsewhere.ns = "elsewhere";
  const auto three = hub.Subscribe(elsewhere, other);
  ASSERT_TRUE(other.WaitSynced());
  EXPECT_EQ(other.There(), "");
  server_.Put(ThingPath("a"));
  ASSERT_TRUE(first.WaitTold("+a"));
  ASSERT_TRUE(second.WaitTold("+a"));
  EXPECT_EQ(first.Of("a"), second.Of("a")) << "the same text, not a copy";
  const WatchHubStats stats = hub.stats();
  EXPECT_EQ(stats.scopes, 2u);
  EXPECT_EQ(stats.objects, 4u);
  EXPECT_GT(stats.bytes, 4 * 50u);
}

TEST_F(WatchHubTest, TellsALateSubscriberTheFailureThatHolds) {
  std::atomic<bool> refuses{true};
  const ScopedHook hook(server_, [&](const ApiCall&) -> std::optional<ApiAnswer> {
    return refuses ? std::optional(Refuse(403, "Forbidden", "no")) : std::nullopt;
  });
  WatchHub& hub = MakeHub();
  WatchListener first, second;
  const auto one = hub.Subscribe(scope_, first);
  ASSERT_TRUE(first.WaitFailed());
  const auto two = hub.Subscribe(scope_, second);
  ASSERT_TRUE(second.WaitFailed());
  refuses = false;
  ASSERT_TRUE(first.WaitSynced());
  ASSERT_TRUE(second.WaitSynced());
  EXPECT_EQ(second.TakeTold(), "failed: Forbidden synced");
}

TEST_F(WatchHubTest, KeepsAWatchForAWhileAfterItsLastSubscriber) {
  PutThings(1);
  WatchHub& hub = MakeHub(milliseconds(60'000));
  WatchListener first, second;
  auto place = hub.Subscribe(scope_, first);
  ASSERT_TRUE(first.WaitSynced());
  place.reset();
  server_.Put(ThingPath("unheard"));
  place = hub.Subscribe(scope_, second);
  ASSERT_TRUE(second.WaitTold("+unheard"));
  EXPECT_EQ(first.There().find("unheard"), std::string::npos);
  EXPECT_EQ(server_.Count("GET", ""), 1);
}

TEST_F(WatchHubTest, EndsAWatchThatNobodyHasFollowedForAWhile) {
  PutThings(1);
  WatchHub& hub = MakeHub(milliseconds(1));
  WatchListener told;
  auto place = hub.Subscribe(scope_, told);
  ASSERT_TRUE(told.WaitSynced());
  place.reset();
  ASSERT_TRUE(server_.WaitFor([&] { return hub.stats().scopes == 0; }));
  ASSERT_TRUE(server_.WaitFor([&] {
    server_.SendBookmarks();  // Only a write shows a server that the client has gone.
    return server_.watches() == 0;
  }));
  WatchListener again;
  place = hub.Subscribe(scope_, again);
  ASSERT_TRUE(again.WaitSynced()) << "and begins it anew";
}

TEST_F(WatchHubTest, CallsNobodyWhoHasLeft) {
  PutThings(100);
  WatchHub& hub = MakeHub();
  WatchListener stays;
  const auto place = hub.Subscribe(scope_, stays);
  for (int round = 0; round < 50; ++round) {
    auto told = std::make_unique<WatchListener>();
    auto mine = hub.Subscribe(scope_, *told);
    if (round % 2 == 0) {
      ASSERT_TRUE(told->WaitTold("+t0"));
    }
    server_.Put(ThingPath("t" + std::to_string(round)), R"({"spec":{}})");
    mine.reset();
    told.reset();  // A call after this would be seen by the sanitizers.
  }
  ASSERT_TRUE(stays.WaitSynced());
  EXPECT_EQ(server_.Count("GET", ""), 1);
}

TEST_F(WatchHubTest, KnowsTheNewestStateOfAnObjectOfAnyOfItsWatches) {
  PutThings(2);
  WatchHub& hub = MakeHub();
  EXPECT_EQ(hub.Known(scope_.resource, "ns", "t1"), nullptr);
  WatchListener told;
  const auto place = hub.Subscribe(scope_, told);
  ASSERT_TRUE(told.WaitSynced());
  ASSERT_NE(hub.Known(scope_.resource, "ns", "t1"), nullptr);
  EXPECT_EQ(hub.Known(scope_.resource, "ns", "t1")->resource_version(), VersionOf("t1"));
  EXPECT_EQ(hub.Known(scope_.resource, "ns", "other"), nullptr);
  EXPECT_EQ(hub.Known(scope_.resource, "elsewhere", "t1"), nullptr);
  EXPECT_EQ(hub.Known({"", "v1", "others", ""}, "ns", "t1"), nullptr);
}

}  // namespace
}  // namespace detent::testing
