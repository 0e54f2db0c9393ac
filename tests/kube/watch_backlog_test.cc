#include "core/kube/watch_backlog.h"

#include <gtest/gtest.h>

#include "core/kube/watched_set.h"

namespace detent {
namespace {

WatchedObjectPtr Thing(const std::string& name, const std::string& version,
                       const std::string& uid = "") {
  const std::string known_uid = uid.empty() ? "uid-" + name : uid;
  const std::string json = "{\"" + name + "\":" + version + "}";
  return std::make_shared<const WatchedObject>(
      WatchedObject::Parts{"ns", name, known_uid, version, "", json});
}

// "+a1" an upsert, "-a2" a delete, "synced", "failed: why".
std::string Told(WatchBacklog& backlog, size_t most = 1000) {
  std::string told;
  for (const WatchNews& news : backlog.Take(most)) {
    if (!told.empty()) told += ' ';
    if (news.kind == WatchNews::Kind::kSynced) told += "synced";
    if (news.kind == WatchNews::Kind::kFailed) told += "failed: " + news.failure->message;
    if (news.object == nullptr) continue;
    told += news.kind == WatchNews::Kind::kUpsert ? "+" : "-";
    told.append(news.object->name()).append(news.object->resource_version());
  }
  return told;
}

KubeReply FailureSaying(const std::string& message) {
  KubeReply reply;
  reply.outcome = KubeOutcome::kDenied;
  reply.message = message;
  return reply;
}

TEST(WatchBacklog, TellsOfEachObjectTheNewestStateInTheOrderOfTheFirst) {
  WatchBacklog backlog;
  backlog.Upsert(Thing("a", "1"));
  backlog.Upsert(Thing("b", "2"));
  backlog.Upsert(Thing("a", "3"));
  backlog.Delete(Thing("b", "4"));
  backlog.Upsert(Thing("c", "5"));
  EXPECT_EQ(backlog.size(), 3u);
  EXPECT_EQ(Told(backlog), "+a3 -b4 +c5");
  EXPECT_TRUE(backlog.empty());
  backlog.Upsert(Thing("a", "6"));
  EXPECT_EQ(Told(backlog), "+a6") << "what was taken is forgotten";
}

TEST(WatchBacklog, KeepsTheEndOfAnObjectApartFromItsSuccessorOfTheSameName) {
  WatchBacklog backlog;
  backlog.Upsert(Thing("a", "1", "first"));
  backlog.Delete(Thing("a", "2", "first"));
  backlog.Upsert(Thing("a", "3", "second"));
  EXPECT_EQ(Told(backlog), "-a2 +a3");
}

TEST(WatchBacklog, AnObjectThatComesBackIsThereAgain) {
  WatchBacklog backlog;
  backlog.Delete(Thing("a", "1"));
  EXPECT_EQ(backlog.deletes(), 1u);
  backlog.Upsert(Thing("a", "2"));
  EXPECT_EQ(backlog.deletes(), 0u);
  EXPECT_EQ(Told(backlog), "+a2");
}

TEST(WatchBacklog, SyncedComesAfterWhatWasThereBefore) {
  WatchBacklog backlog;
  backlog.Upsert(Thing("a", "1"));
  backlog.Synced();
  backlog.Upsert(Thing("b", "2"));
  backlog.Upsert(Thing("a", "3"));
  backlog.Synced();
  EXPECT_EQ(Told(backlog), "+a3 synced +b2") << "the first promise is the one that is waited for";
}

TEST(WatchBacklog, OfTwoStatesOfTheWatchOnlyTheLastIsTold) {
  WatchBacklog backlog;
  backlog.Upsert(Thing("a", "1"));
  backlog.Failed(FailureSaying("no"));
  backlog.Upsert(Thing("b", "2"));
  backlog.Failed(FailureSaying("never"));
  EXPECT_EQ(Told(backlog, 2), "+a1 +b2");
  EXPECT_EQ(Told(backlog), "failed: never");
  for (int i = 0; i < 1000; ++i) {
    backlog.Failed(FailureSaying("no"));
    backlog.Synced();
  }
  EXPECT_LE(backlog.size(), 2u) << "a watch that fails and works in turn costs nothing";
  EXPECT_EQ(Told(backlog), "synced");
}

TEST(WatchBacklog, IsTakenInPieces) {
  WatchBacklog backlog;
  for (int i = 0; i < 5; ++i)
    backlog.Upsert(Thing(std::string(1, static_cast<char>('a' + i)), "1"));
  EXPECT_EQ(Told(backlog, 2), "+a1 +b1");
  backlog.Upsert(Thing("d", "2"));
  backlog.Upsert(Thing("a", "2"));
  EXPECT_EQ(Told(backlog), "+c1 +d2 +e1 +a2");
  backlog.Delete(Thing("a", "3"));
  backlog.Synced();
  backlog.Clear();
  EXPECT_TRUE(backlog.empty());
  EXPECT_EQ(backlog.deletes(), 0u);
  backlog.Upsert(Thing("a", "4"));
  EXPECT_EQ(Told(backlog), "+a4");
}

TEST(WatchBacklog, DoesNotKeepTheTextsThatWereOvertaken) {
  WatchBacklog backlog;
  WatchedObjectPtr first = Thing("a", "1");
  const std::weak_ptr<const WatchedObject> seen = first;
  backlog.Upsert(std::exchange(first, nullptr));
  backlog.Upsert(Thing("a", "2"));
  EXPECT_TRUE(seen.expired());
}

TEST(WatchedSet, KnowsTheNewestStateByName) {
  WatchedSet set;
  EXPECT_EQ(set.Put(Thing("a", "1")), nullptr);
  EXPECT_EQ(set.bytes(), Thing("a", "1")->json().size());
  EXPECT_EQ(set.Put(Thing("a", "22"))->resource_version(), "1");
  EXPECT_EQ(set.bytes(), Thing("a", "22")->json().size());
  EXPECT_EQ(set.Find("ns", "a")->resource_version(), "22");
  EXPECT_EQ(set.Find("other", "a"), nullptr);
  const WatchedObjectPtr kept = set.Find("ns", "a");
  set.Put(Thing("a", "22"));
  EXPECT_EQ(set.Find("ns", "a"), kept) << "the same version is not held twice";
  EXPECT_EQ(set.Take("ns", "a")->resource_version(), "22");
  EXPECT_EQ(set.Take("ns", "a"), nullptr);
  EXPECT_EQ(set.size() + set.bytes(), 0u);
}

TEST(WatchedSet, KnowsWhatANewListDidNotName) {
  WatchedSet set;
  for (const char* name : {"a", "b", "c"}) set.Put(Thing(name, "1"));
  set.BeginList();
  set.Put(Thing("b", "1"));
  set.Put(Thing("d", "2"));
  std::string gone;
  for (const WatchedObjectPtr& object : set.TakeUnlisted()) gone += object->name();
  std::sort(gone.begin(), gone.end());
  EXPECT_EQ(gone, "ac");
  EXPECT_EQ(set.size(), 2u);
  EXPECT_TRUE(set.TakeUnlisted().empty());
}

}  // namespace
}  // namespace detent
