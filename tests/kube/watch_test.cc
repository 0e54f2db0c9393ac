#include "core/kube/watch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "tests/kube/proto_frames.h"
#include "tests/kube/watch_fixture.h"

namespace detent::testing {
namespace {

using std::chrono::milliseconds;

class WatchTest : public WatchFixture {
 protected:
  KubeWatch& Start() {
    watch_ = std::make_unique<KubeWatch>(*client_, scope_, watch_options_, told_);
    watch_->Start();
    return *watch_;
  }
  // The versions of all objects as the server has them, in the form of There().
  std::string AtTheServer(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) {
      const std::string version = VersionOf(name);
      if (!version.empty()) text += (text.empty() ? "" : " ") + name + "=" + version;
    }
    return text;
  }

  WatchListener told_;
  std::unique_ptr<KubeWatch> watch_;
};

TEST_F(WatchTest, TellsWhatThereIsThenThatThisWasAllThenWhatChanges) {
  server_.Put(ThingPath("a"), R"({"spec":{"n":1},"metadata":{"managedFields":[{"x":1}]}})");
  server_.Put(ThingPath("b"));
  Start();
  ASSERT_TRUE(told_.WaitSynced());
  EXPECT_EQ(told_.TakeTold(), "+a +b synced");
  EXPECT_EQ(told_.Of("a")->json().find("managedFields"), std::string::npos);
  server_.Put(ThingPath("c"));
  server_.Put(ThingPath("a"), R"({"spec":{"n":2}})");
  server_.Remove(ThingPath("b"));
  ASSERT_TRUE(told_.WaitTold("-b"));
  EXPECT_EQ(told_.TakeTold(), "+c +a -b");
  EXPECT_NE(told_.Of("a")->json().find(R"("n":2)"), std::string::npos);
  EXPECT_EQ(server_.Count("GET", "sendInitialEvents=true"), 1);
  EXPECT_EQ(server_.Count("GET", ""), 1) << "one request, however much happens";
}

TEST_F(WatchTest, ListsInPagesWhereTheServerOffersNoStreamingLists) {
  for (const int status : {400, 422}) {
    FakeApiServer server;
    server.SetManners({status, false, false});
    for (int i = 0; i < 7; ++i) server.Put(ThingPath("t" + std::to_string(i)));
    ClusterAccess access;
    access.server = server.Url();
    KubeClient client(access, {}, clock_, log_);
    watch_options_.page_size = 3;
    WatchListener told;
    KubeWatch watch(client, scope_, watch_options_, told);
    watch.Start();
    ASSERT_TRUE(told.WaitSynced()) << status;
    EXPECT_EQ(told.TakeTold(), "+t0 +t1 +t2 +t3 +t4 +t5 +t6 synced");
    EXPECT_EQ(server.Count("GET", "limit=3"), 3) << "seven in pages of three";
    EXPECT_EQ(server.Count("GET", "limit=3&continue="), 2);
    EXPECT_NE(told.Of("t0")->json().find(R"("kind":"Thing")"), std::string::npos)
        << "what a list leaves out is put in";
    server.Put(ThingPath("t9"));
    ASSERT_TRUE(told.WaitTold("+t9"));
  }
}

TEST_F(WatchTest, AsksForProtobufWhereItCanReadItAndTakesWhatItIsGiven) {
  const std::string pod = ProtoObject("v1", "Pod", ProtoPod("p", "7", "Running"));
  const std::string json = R"({"type":"ADDED","object":{"metadata":{"name":"p",)"
                           R"("resourceVersion":"7"},"status":{"phase":"Running"}}})";
  struct Row {
    const char* only;
    bool wanted;
    bool asked;
    const char* because;
  };
  for (const Row& row : {Row{"status.phase", true, true, "what it keeps is known"},
                         Row{"status.hostIPs", true, false, "unknown"},
                         Row{"", true, false, "all of a Pod is not known"},
                         Row{"status.phase", false, false, "not wanted"}}) {
    for (const bool offers : {true, false}) {
      WatchListener told;
      ScopedHook hook(server_, [&](const ApiCall& call) -> std::optional<ApiAnswer> {
        const bool in_proto = call.head.find("vnd.kubernetes.protobuf") != call.head.npos;
        EXPECT_EQ(in_proto, row.asked) << row.because;
        EXPECT_NE(call.head.find("application/json"), call.head.npos);
        return ApiAnswer{200,
                         in_proto && offers ? ProtoFrame(ProtoEvent("ADDED", pod)) : json + "\n"};
      });
      WatchScope scope{{"", "v1", "pods", ""}, "ns", "", "", row.only};
      watch_options_.protobuf = row.wanted;
      KubeWatch watch(*client_, scope, watch_options_, told);
      watch.Start();
      ASSERT_TRUE(told.WaitTold("+p")) << row.because;
      EXPECT_NE(told.Of("p")->json().find("\"name\":\"p\""), std::string::npos);
      watch.Stop();
    }
  }
}

TEST_F(WatchTest, ListsInPagesWhereTheServerNeverEndsAStreamingList) {
  server_.SetManners({0, false, true});
  PutThings(3);
  watch_options_.silence = milliseconds(50);
  Start();
  ASSERT_TRUE(told_.WaitSynced());
  EXPECT_EQ(told_.TakeTold(), "+t0 +t1 +t2 synced") << "what was seen before is not told twice";
  EXPECT_EQ(server_.Count("GET", "limit="), 1);
}

TEST_F(WatchTest, ResumesAnEndedWatchWithoutANewList) {
  PutThings(2);
  Start();
  ASSERT_TRUE(told_.WaitSynced());
  for (int round = 0; round < 3; ++round) {
    server_.EndWatches();
    const std::string name = "x" + std::to_string(round);
    server_.Put(ThingPath(name));
    ASSERT_TRUE(told_.WaitTold("+" + name));
  }
  EXPECT_EQ(server_.Count("GET", "sendInitialEvents"), 1);
  EXPECT_GE(server_.Count("GET", "&resourceVersion="), 3);
}

TEST_F(WatchTest, NoticesByANewListWhatNoEventToldIt) {
  watch_options_.relist = std::chrono::microseconds(1);
  PutThings(2);
  Start();
  ASSERT_TRUE(told_.WaitSynced());
  // As if the events of a new t1 and of the end of x had been lost.
  const std::string event = R"({"type":"%","object":{"kind":"Thing","apiVersion":"v1",)"
                            R"("metadata":{"namespace":"ns","uid":"u","name":")";
  const std::string version = R"(","resourceVersion":")" + VersionOf("t1") + R"("}}})";
  server_.SendLine(std::string(event).replace(event.find('%'), 1, "DELETED") + "t1" + version);
  server_.SendLine(std::string(event).replace(event.find('%'), 1, "ADDED") + "x" + version);
  ASSERT_TRUE(told_.WaitTold("+x"));
  EXPECT_EQ(told_.TakeTold(), "+t0 +t1 synced -t1 +x");
  server_.EndWatches();
  ASSERT_TRUE(told_.WaitTold("synced"));
  EXPECT_EQ(told_.TakeTold(), "+t1 -x synced");
  EXPECT_EQ(told_.There(), AtTheServer({"t0", "t1"}));
  EXPECT_EQ(server_.Count("GET", "sendInitialEvents"), 2);
}

TEST_F(WatchTest, ResumesBehindABookmark) {
  PutThings(2);
  Start();
  ASSERT_TRUE(told_.WaitSynced());
  server_.Put("/api/v1/namespaces/elsewhere/things/x");  // Moves the version on, unseen.
  server_.SendBookmarks();
  server_.Put(ThingPath("seen"));
  ASSERT_TRUE(told_.WaitTold("+seen"));
  server_.Compact();
  server_.SendBookmarks();
  // Once the bookmark was read, the version before it is not needed any more.
  server_.Put(ThingPath("mark"));
  ASSERT_TRUE(told_.WaitTold("+mark"));
  server_.CutWatches();
  server_.Put(ThingPath("after"));
  ASSERT_TRUE(told_.WaitTold("+after"));
  EXPECT_EQ(server_.Count("GET", "sendInitialEvents"), 1);
}

TEST_F(WatchTest, ResumesAWatchThatIsCutInTheMiddle) {
  PutThings(1);
  Start();
  ASSERT_TRUE(told_.WaitSynced());
  server_.SendLine(R"({"type":"ADDED","object":{"metadata":{"name":"half)");
  server_.Put(ThingPath("a"));
  server_.CutWatches();
  server_.Put(ThingPath("b"));
  ASSERT_TRUE(told_.WaitTold("+b"));
  EXPECT_EQ(told_.There(), AtTheServer({"a", "b", "t0"}));
}

TEST_F(WatchTest, NoticesAServerThatHasFallenSilent) {
  watch_options_.silence = milliseconds(60);
  PutThings(1);
  Start();
  ASSERT_TRUE(told_.WaitSynced());
  server_.FallSilent();
  server_.Put(ThingPath("unheard"));
  // Resumes are silent too, until the server finds its voice again.
  ASSERT_TRUE(server_.WaitFor([&] { return server_.Count("GET", "&resourceVersion=") >= 2; }));
  server_.CutWatches();
  ASSERT_TRUE(told_.WaitTold("+unheard"));
  EXPECT_EQ(server_.Count("GET", "sendInitialEvents"), 1);
}

TEST_F(WatchTest, TellsOnlyDifferencesAfterTheVersionHasExpired) {
  for (const bool as_event : {false, true}) {
    server_.SetManners({0, as_event, false});
    for (const char* name : {"stays", "changes", "goes", "replaced"}) server_.Put(ThingPath(name));
    WatchListener told;
    KubeWatch watch(*client_, scope_, watch_options_, told);
    watch.Start();
    ASSERT_TRUE(told.WaitSynced());
    told.TakeTold();
    server_.FallSilent();  // What happens now, the watch does not hear.
    server_.Put(ThingPath("changes"), R"({"spec":{"n":2}})");
    server_.Remove(ThingPath("goes"));
    server_.Remove(ThingPath("replaced"));
    server_.Put(ThingPath("replaced"));
    server_.Put(ThingPath("new"));
    server_.Compact();
    server_.CutWatches();
    ASSERT_TRUE(told.WaitSynced(2)) << as_event;
    const std::string all = told.TakeTold();
    EXPECT_EQ(all, "+changes +new -replaced +replaced -goes synced");
    EXPECT_EQ(told.There(), AtTheServer({"changes", "new", "replaced", "stays"}));
    for (const char* name : {"stays", "changes", "replaced", "new"}) {
      server_.Remove(ThingPath(name));
    }
  }
}

TEST_F(WatchTest, BeginsAgainWhenAListExpiresBetweenTwoPages) {
  server_.SetManners({422, false, false});
  PutThings(6);
  watch_options_.page_size = 2;
  // Each second page comes too late, until the list is asked for in one piece.
  const ScopedHook hook(server_, [&](const ApiCall& call) -> std::optional<ApiAnswer> {
    if (!call.Query("continue").empty()) return Refuse(410, "Expired", "too old");
    return std::nullopt;
  });
  Start();
  ASSERT_TRUE(told_.WaitSynced());
  EXPECT_EQ(told_.There(), AtTheServer({"t0", "t1", "t2", "t3", "t4", "t5"}));
  EXPECT_EQ(server_.Count("GET", "continue="), 2);
  const std::vector<std::string> calls = server_.calls();
  const bool whole = std::any_of(calls.begin(), calls.end(), [](const std::string& call) {
    return call.find('?') == std::string::npos;
  });
  EXPECT_TRUE(whole) << "a list without a limit";
}

TEST_F(WatchTest, TellsARefusalOnceAndGoesOnAsking) {
  const struct {
    int status;
    const char* reason;
  } rows[] = {{403, "Forbidden"}, {404, "NotFound"}, {401, "Unauthorized"}};
  for (const auto& row : rows) {
    FakeApiServer server;
    server.Put(ThingPath("a"));
    std::atomic<int> refused{0};
    std::atomic<bool> refuses{true};
    const ScopedHook hook(server, [&](const ApiCall&) -> std::optional<ApiAnswer> {
      if (!refuses) return std::nullopt;
      // The message is never the same twice; the reason is.
      return Refuse(row.status, row.reason, "no " + std::to_string(++refused));
    });
    ClusterAccess access;
    access.server = server.Url();
    KubeClient client(access, {}, clock_, log_);
    WatchListener told;
    KubeWatch watch(client, scope_, watch_options_, told);
    watch.Start();
    ASSERT_TRUE(told.WaitFailed());
    ASSERT_TRUE(server.WaitFor([&] { return refused >= 5; }));
    refuses = false;
    ASSERT_TRUE(told.WaitSynced());
    EXPECT_EQ(told.TakeTold(), "failed: " + std::string(row.reason) + " +a synced");
  }
}

TEST_F(WatchTest, TellsARefusalOfPagesWhereStreamingIsRefusedToo) {
  const ScopedHook hook(server_, [](const ApiCall&) -> std::optional<ApiAnswer> {
    return Refuse(400, "BadRequest", "unable to parse the selector");
  });
  Start();
  ASSERT_TRUE(told_.WaitFailed());
  EXPECT_EQ(told_.TakeTold(), "failed: BadRequest");
  EXPECT_GE(server_.Count("GET", "limit="), 1);
}

TEST_F(WatchTest, TellsAServerThatFailsOnlyAfterSeveralTimesAndThatItIsBack) {
  PutThings(1);
  Start();
  ASSERT_TRUE(told_.WaitSynced());
  told_.TakeTold();
  server_.GoAway();
  ASSERT_TRUE(told_.WaitFailed());
  server_.Put(ThingPath("meanwhile"));
  server_.ComeBack();
  ASSERT_TRUE(told_.WaitTold("+meanwhile"));
  ASSERT_TRUE(told_.WaitSynced(2));
  EXPECT_EQ(server_.Count("GET", "sendInitialEvents"), 1) << "no list is needed for that";
  std::atomic<int> failing{2};
  const ScopedHook hook(server_, [&](const ApiCall&) -> std::optional<ApiAnswer> {
    if (failing-- <= 0) return std::nullopt;
    return Refuse(500, "InternalError", "oops");
  });
  told_.TakeTold();
  server_.CutWatches();
  server_.Put(ThingPath("again"));
  ASSERT_TRUE(told_.WaitTold("+again"));
  EXPECT_EQ(told_.TakeTold(), "+again") << "two failures in a row are nobody's business";
}

TEST_F(WatchTest, GivesUpARequestThatBringsNonsense) {
  PutThings(1);
  Start();
  ASSERT_TRUE(told_.WaitSynced());
  for (const char* line :
       {"this is no JSON", R"({"type":"ADDED","object":{}})", "{\"type\":\"\xFF\"}",
        R"({"type":"ERROR","object":{"code":500,"reason":"InternalError"}})"}) {
    const int before = server_.watches_begun();
    server_.SendLine(line);
    ASSERT_TRUE(server_.WaitFor([&] { return server_.watches_begun() > before; })) << line;
  }
  server_.Put(ThingPath("a"));
  ASSERT_TRUE(told_.WaitTold("+a"));
  EXPECT_EQ(server_.Count("GET", "sendInitialEvents"), 1);
}

TEST_F(WatchTest, FollowsWhatMatchesItsSelectors) {
  WatchScope scope = scope_;
  scope.label_selector = "app=x";
  server_.Put(ThingPath("a"), R"({"metadata":{"labels":{"app":"x"}}})");
  server_.Put(ThingPath("b"), R"({"metadata":{"labels":{"app":"y"}}})");
  KubeWatch watch(*client_, scope, watch_options_, told_);
  watch.Start();
  ASSERT_TRUE(told_.WaitSynced());
  server_.Put(ThingPath("b"), R"({"metadata":{"labels":{"app":"x"}}})");
  server_.Put(ThingPath("a"), R"({"metadata":{"labels":{"app":"y"}}})");
  ASSERT_TRUE(told_.WaitTold("-a"));
  EXPECT_EQ(told_.TakeTold(), "+a synced +b -a");
}

TEST_F(WatchTest, SaysNothingOnceItIsStopped) {
  PutThings(50);
  for (int round = 0; round < 20; ++round) {
    auto told = std::make_unique<WatchListener>();
    KubeWatch watch(*client_, scope_, watch_options_, *told);
    watch.Start();
    if (round % 2 == 0) {
      ASSERT_TRUE(told->WaitTold("+t0"));
    }
    watch.Stop();
    told.reset();   // A call after this would be seen by the sanitizers.
    watch.Start();  // Does nothing any more.
  }
  ASSERT_TRUE(server_.WaitFor([&] {
    server_.SendBookmarks();
    return server_.watches() == 0;
  })) << "and the server is left alone";
}

TEST_F(WatchTest, CanBeLookedIntoBetweenTwoCalls) {
  PutThings(3);
  KubeWatch& watch = Start();
  ASSERT_TRUE(told_.WaitSynced());
  watch.Look([&](const KubeWatch::View& view) {
    EXPECT_TRUE(view.synced);
    EXPECT_EQ(view.failure, nullptr);
    EXPECT_EQ(view.objects.size(), 3u);
    EXPECT_EQ(view.objects.Find("ns", "t1")->resource_version(), VersionOf("t1"));
  });
  server_.GoAway();
  ASSERT_TRUE(told_.WaitFailed());
  watch.Look([&](const KubeWatch::View& view) {
    EXPECT_FALSE(view.synced);
    EXPECT_NE(view.failure, nullptr);
    EXPECT_EQ(view.objects.size(), 3u) << "what was known is known still";
  });
}

TEST_F(WatchTest, KeepsUpWithManyChangesOverCutsAndExpiredVersions) {
  PutThings(200);
  Start();
  ASSERT_TRUE(told_.WaitSynced());
  std::vector<std::string> names;
  for (int i = 0; i < 200; ++i) names.push_back("t" + std::to_string(i));
  for (int step = 0; step < 3000; ++step) {
    const std::string& name = names[static_cast<size_t>(step * 7919) % names.size()];
    step % 5 == 4
        ? server_.Remove(ThingPath(name))
        : server_.Put(ThingPath(name), R"({"spec":{"step":)" + std::to_string(step) + "}}");
    if (step % 250 == 100) server_.CutWatches();
    if (step % 700 == 300) server_.EndWatches();
    if (step % 1000 == 600) server_.FallSilent();
    if (step % 1000 == 650) {
      server_.Compact();
      server_.CutWatches();
    }
  }
  // The last may be told in the course of a list that has not said yet what is gone.
  std::map<std::string, std::string> versions;
  for (const std::string& name : names) {
    const std::string version = VersionOf(name);
    if (!version.empty()) versions[name] = version;
  }
  EXPECT_TRUE(told_.WaitVersions(versions)) << told_.There();
}

}  // namespace
}  // namespace detent::testing
