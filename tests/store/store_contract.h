// What core/store/store.h promises, as tests that every implementation of it must pass.
//
// Include this from one source file of a test binary and instantiate StoreContract there, with a
// maker for each implementation. Nothing here knows what is below the interface.

#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <ostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/limits.h"
#include "core/store/store.h"
#include "tests/store/store_fixture.h"

namespace detent {

// A store that is empty, and whatever it needs to live. Held as long as the test runs.
class StoreHolder {
 public:
  virtual ~StoreHolder() = default;
  virtual Store& store() = 0;
};

struct StoreMaker {
  const char* name;
  std::function<std::unique_ptr<StoreHolder>()> make;
};

inline void PrintTo(const StoreMaker& maker, std::ostream* out) {
  *out << maker.name;
}

class StoreContract : public testing::TestWithParam<StoreMaker> {
 protected:
  StoreContract() : holder_(GetParam().make()), store_(holder_->store()) {}

  std::vector<std::string> NamesOf(const ListQuery& query) {
    const Result<Page> page = store_.List(query);
    if (!page) return {"error: " + page.error().message()};
    std::vector<std::string> names;
    for (const ObjectPtr& object : page->objects) {
      names.push_back(object->meta.ns + "/" + object->meta.name);
    }
    return names;
  }

  // All changes behind a version, once there are `count` of them.
  std::vector<Change> ChangesAfter(int64_t version, size_t count) {
    std::vector<Change> all;
    std::vector<Change> some;
    while (all.size() < count) {
      const auto result =
          store_.changes(Kind::kJob).Read(version, 100, std::chrono::seconds(30), some);
      if (result != ChangeLog::ReadResult::kChanges) break;
      all.insert(all.end(), some.begin(), some.end());
      version = all.back().version;
    }
    EXPECT_EQ(all.size(), count);
    return all;
  }

  std::unique_ptr<StoreHolder> holder_;
  Store& store_;
};

using Names = std::vector<std::string>;

TEST_P(StoreContract, GivesBackWhatWasCreated) {
  std::shared_ptr<Object> object = MakeObject("a");
  object->status = StatusSaying("it waits");
  object->meta.annotations = {{"note", "\"quoted\" \xC3\xA9"}};
  object->meta.finalizers = {"detent.dev/tracking"};
  const Object before = *object;
  const ObjectPtr created = MustCreate(store_, object);
  EXPECT_GT(created->meta.resource_version, 0);

  const Result<ObjectPtr> read = store_.Read(created->key());
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(**read, *created);
  Object expected = before;
  expected.meta.resource_version = created->meta.resource_version;
  if (!store_.atomic()) {  // Such a store says itself who an object is, and since when.
    EXPECT_NE(created->meta.uid, "");
    expected.meta.uid = created->meta.uid;
    expected.meta.created = created->meta.created;
  }
  EXPECT_EQ(**read, expected);
}

TEST_P(StoreContract, SaysNotFoundOfWhatIsNotThere) {
  MustCreate(store_, MakeObject("a"));
  const ObjectKey keys[] = {
      {Kind::kJob, "default", "b"}, {Kind::kJob, "other", "a"}, {Kind::kJobConfig, "default", "a"}};
  for (const ObjectKey& key : keys) {
    const Result<ObjectPtr> read = store_.Read(key);
    ASSERT_FALSE(read) << ToString(key);
    EXPECT_EQ(read.error().code(), Code::kNotFound) << ToString(key);
  }
}

TEST_P(StoreContract, RefusesWritesThatDoNotFitWhatIsStored) {
  const ObjectPtr stored = MustCreate(store_, MakeObject("there"));
  const int64_t version = stored->meta.resource_version;
  std::shared_ptr<Object> large = MakeObject("large");
  large->spec = "{\"x\":\"" + std::string(limits::kObjectBytes, 'x') + "\"}";
  struct Case {
    Write write;
    Code code;
    const char* because;
  };
  Case cases[] = {
      {CreateOf(MakeObject("there")), Code::kAlreadyExists, "the name is taken"},
      {UpdateOf(MakeObject("absent")), Code::kNotFound, "nothing to update"},
      {UpdateOf(MakeObject("absent"), 7), Code::kNotFound, "absence comes before the version"},
      {DeleteOf(MakeObject("absent")), Code::kNotFound, "nothing to delete"},
      {UpdateOf(CopyOf(stored), version + 1), Code::kConflict, "another version is stored"},
      {DeleteOf(stored, version + 1), Code::kConflict, "of a deletion likewise"},
      {CreateOf(large), Code::kTooLarge, "over the limit of one object"},
  };
  for (Case& c : cases) {
    const Result<Committed> result = Submit(store_, std::move(c.write));
    ASSERT_FALSE(result) << c.because;
    EXPECT_EQ(result.error().code(), c.code) << c.because << ": " << result.error().message();
  }
  EXPECT_EQ((*store_.Read(stored->key()))->meta.resource_version, version);
}

TEST_P(StoreContract, UpdatesWithTheRightVersionOrWithNone) {
  const ObjectPtr first = MustCreate(store_, MakeObject("a"));
  std::shared_ptr<Object> change = CopyOf(first);
  change->status = StatusSaying("it runs");
  const auto second = Submit(store_, UpdateOf(change, first->meta.resource_version));
  ASSERT_TRUE(second) << second.error().message();
  EXPECT_GT(second->objects.at(0)->meta.resource_version, first->meta.resource_version);

  change = CopyOf(second->objects.at(0));
  change->meta.labels["app"] = "changed";
  ASSERT_TRUE(Submit(store_, UpdateOf(change)));
  const Result<ObjectPtr> read = store_.Read(first->key());
  ASSERT_TRUE(read);
  EXPECT_EQ((*read)->status, StatusSaying("it runs"));
  EXPECT_EQ((*read)->meta.labels.at("app"), "changed");
}

TEST_P(StoreContract, RaisesTheVersionByDeletionsToo) {
  const ObjectPtr created = MustCreate(store_, MakeObject("a"));
  const auto deleted = Submit(store_, DeleteOf(created, created->meta.resource_version));
  ASSERT_TRUE(deleted) << deleted.error().message();
  EXPECT_GT(deleted->objects.at(0)->meta.resource_version, created->meta.resource_version);
  EXPECT_FALSE(store_.Read(created->key()));
  const ObjectPtr again = MustCreate(store_, MakeObject("a"));
  EXPECT_GT(again->meta.resource_version, deleted->objects.at(0)->meta.resource_version);
}

TEST_P(StoreContract, ListsByNamespaceThenName) {
  for (const char* name : {"b", "a", "a-1", "c"}) MustCreate(store_, MakeObject(name, "two"));
  MustCreate(store_, MakeObject("z", "one"));
  MustCreate(store_, MakeObject("config", "one", Kind::kJobConfig));
  ListQuery query;
  EXPECT_EQ(NamesOf(query), (Names{"one/z", "two/a", "two/a-1", "two/b", "two/c"}));
  query.ns = "two";
  EXPECT_EQ(NamesOf(query), (Names{"two/a", "two/a-1", "two/b", "two/c"}));
  query.keep = [](const Object& object) { return object.meta.name.starts_with("a"); };
  EXPECT_EQ(NamesOf(query), (Names{"two/a", "two/a-1"}));
  query.ns = "three";
  EXPECT_EQ(NamesOf(query), Names());
  query.ns.clear();
  query.keep = nullptr;
  query.kind = Kind::kJobConfig;
  EXPECT_EQ(NamesOf(query), (Names{"one/config"}));
}

TEST_P(StoreContract, GoesOnBehindAnyKey) {
  for (const char* name : {"a", "b"}) {
    MustCreate(store_, MakeObject(name, "one"));
    MustCreate(store_, MakeObject(name, "two"));
  }
  struct Case {
    const char* ns;
    std::pair<std::string, std::string> after;
    Names names;
    const char* because;
  };
  const Case cases[] = {
      {"", {"one", "a"}, {"one/b", "two/a", "two/b"}, "the next namespace follows"},
      {"", {"one", "aa"}, {"one/b", "two/a", "two/b"}, "the key need not exist"},
      {"", {"one", "zz"}, {"two/a", "two/b"}, "nothing is left of the first"},
      {"", {"two", "b"}, {}, "the last key"},
      {"two", {"two", "a"}, {"two/b"}, "within one namespace"},
      {"two", {"one", "zz"}, {"two/a", "two/b"}, "a key before the namespace"},
      {"one", {"two", "a"}, {}, "a key behind the namespace"},
  };
  for (const Case& c : cases) {
    ListQuery query;
    query.ns = c.ns;
    query.after = c.after;
    EXPECT_EQ(NamesOf(query), c.names) << c.because;
  }
}

TEST_P(StoreContract, CutsPagesAndSaysSo) {
  for (const char* name : {"a", "b", "c", "d", "e"}) MustCreate(store_, MakeObject(name));
  ListQuery query;
  query.limit = 2;
  query.keep = [](const Object& object) { return object.meta.name != "b"; };
  Result<Page> page = store_.List(query);
  ASSERT_TRUE(page && page->objects.size() == 2);
  EXPECT_EQ(page->objects[1]->meta.name, "c");
  EXPECT_TRUE(page->more);
  query.after = {page->objects[1]->meta.ns, page->objects[1]->meta.name};
  page = store_.List(query);
  ASSERT_TRUE(page && page->objects.size() == 2);
  EXPECT_EQ(page->objects[1]->meta.name, "e");
  EXPECT_FALSE(page->more) << "exactly as many as the limit, and none beyond";
}

TEST_P(StoreContract, ListsWhatAnOwnerControls) {
  MustCreate(store_, MakeOwned("a", "uid-1"));
  MustCreate(store_, MakeOwned("b", "uid-2"));
  const ObjectPtr moved = MustCreate(store_, MakeOwned("c", "uid-1"));
  MustCreate(store_, MakeObject("free", "default", Kind::kTask));
  std::shared_ptr<Object> member = MakeOwned("d", "uid-1");
  member->meta.owners[0].controller = false;
  MustCreate(store_, member);

  ListQuery query;
  query.kind = Kind::kTask;
  query.owner_uid = "uid-1";
  EXPECT_EQ(NamesOf(query), (Names{"default/a", "default/c"}));
  query.after = {"default", "a"};
  EXPECT_EQ(NamesOf(query), (Names{"default/c"}));
  query.after.reset();
  query.kind = Kind::kJob;
  EXPECT_EQ(NamesOf(query), Names());

  query.kind = Kind::kTask;
  std::shared_ptr<Object> orphan = CopyOf(moved);
  orphan->meta.owners.clear();
  ASSERT_TRUE(Submit(store_, UpdateOf(orphan)));
  EXPECT_EQ(NamesOf(query), (Names{"default/a"})) << "an update may take the owner away";
}

TEST_P(StoreContract, PutsEveryChangeInTheLogInOrder) {
  const int64_t start = store_.changes(Kind::kJob).version();
  const ObjectPtr created = MustCreate(store_, MakeObject("a"));
  std::shared_ptr<Object> change = CopyOf(created);
  change->meta.labels["app"] = "changed";
  Write update = UpdateOf(change, created->meta.resource_version);
  update.previous = created;
  const auto updated = Submit(store_, std::move(update));
  ASSERT_TRUE(updated);
  const auto deleted = Submit(store_, DeleteOf(updated->objects[0]));
  ASSERT_TRUE(deleted);

  const std::vector<Change> changes = ChangesAfter(start, 3);
  ASSERT_EQ(changes.size(), 3u);
  EXPECT_EQ(changes[0].type, ChangeType::kAdded);
  EXPECT_EQ(*changes[0].object, *created);
  EXPECT_EQ(changes[1].type, ChangeType::kModified);
  EXPECT_EQ(*changes[1].object, *updated->objects[0]);
  ASSERT_NE(changes[1].previous, nullptr);
  EXPECT_EQ(changes[1].previous->meta.labels.at("app"), "test");
  EXPECT_EQ(changes[2].type, ChangeType::kDeleted);
  EXPECT_EQ(*changes[2].object, *deleted->objects[0]);
  for (const Change& c : changes) EXPECT_EQ(c.version, c.object->meta.resource_version);
  EXPECT_LT(changes[0].version, changes[1].version);
  EXPECT_LT(changes[1].version, changes[2].version);
}

TEST_P(StoreContract, LogsAChangeBeforeItIsAcknowledged) {
  std::promise<int64_t> seen;
  Transaction transaction;
  transaction.push_back(CreateOf(MakeObject("a")));
  store_.Submit(std::move(transaction), [&](Result<Committed> result) {
    const int64_t logged = store_.changes(Kind::kJob).version();
    seen.set_value(result ? logged - result->objects[0]->meta.resource_version : -1);
  });
  EXPECT_GE(seen.get_future().get(), 0);
}

TEST_P(StoreContract, ListsAndThenWatchesWithoutAGap) {
  MustCreate(store_, MakeObject("a"));
  const Result<Page> page = store_.List(ListQuery());
  ASSERT_TRUE(page && page->objects.size() == 1);
  EXPECT_GE(page->version, page->objects[0]->meta.resource_version);
  MustCreate(store_, MakeObject("b"));
  const std::vector<Change> changes = ChangesAfter(page->version, 1);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].object->meta.name, "b");
}

TEST_P(StoreContract, AcknowledgesInTheOrderOfSubmit) {
  constexpr int kCount = 200;
  std::promise<void> all;
  std::mutex mutex;
  std::vector<int> order;
  for (int i = 0; i < kCount; ++i) {
    Transaction transaction;
    // Every second one is refused, and keeps its place all the same.
    transaction.push_back(CreateOf(MakeObject("n" + std::to_string(i / 2))));
    store_.Submit(std::move(transaction), [&, i](Result<Committed> result) {
      EXPECT_EQ(result.has_value(), i % 2 == 0) << i;
      const std::lock_guard lock(mutex);
      order.push_back(i);
      if (order.size() == kCount) all.set_value();
    });
  }
  all.get_future().wait();
  const std::lock_guard lock(mutex);
  for (int i = 0; i < kCount && store_.atomic(); ++i) {
    EXPECT_EQ(order[static_cast<size_t>(i)], i);
  }
}

TEST_P(StoreContract, TakesATransactionAsAWholeOrNotAtAll) {
  if (!store_.atomic()) GTEST_SKIP() << "it writes one object at a time";
  const ObjectPtr old = MustCreate(store_, MakeObject("old"));
  const int64_t version = store_.changes(Kind::kJob).version();
  std::shared_ptr<Object> change = CopyOf(old);
  change->status = R"({"state":"Lost"})";
  Transaction transaction;
  transaction.push_back(CreateOf(MakeObject("new")));
  transaction.push_back(UpdateOf(change));
  transaction.push_back(DeleteOf(MakeObject("absent")));
  const auto refused = SubmitAndWait(store_, std::move(transaction));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::kNotFound);
  EXPECT_EQ(NamesOf(ListQuery()), (Names{"default/old"}));
  EXPECT_EQ((*store_.Read(old->key()))->status, "");
  EXPECT_EQ(store_.changes(Kind::kJob).version(), version);
  // What the refused writes would have stored is not mistaken for what is.
  EXPECT_TRUE(Submit(store_, CreateOf(MakeObject("new"))));
  EXPECT_TRUE(Submit(store_, UpdateOf(CopyOf(old), old->meta.resource_version)));
}

TEST_P(StoreContract, LetsLaterWritesOfATransactionSeeEarlierOnes) {
  if (!store_.atomic()) GTEST_SKIP() << "it writes one object at a time";
  const ObjectPtr old = MustCreate(store_, MakeObject("old"));
  const int64_t start = store_.changes(Kind::kJob).version();
  std::shared_ptr<Object> updated = MakeObject("new");
  updated->status = R"({"state":"Running"})";
  Transaction transaction;
  transaction.push_back(CreateOf(MakeObject("new")));
  transaction.push_back(UpdateOf(updated));
  transaction.push_back(DeleteOf(old));
  transaction.push_back(CreateOf(MakeObject("old")));
  transaction.push_back(CreateOf(MakeObject("brief")));
  transaction.push_back(DeleteOf(MakeObject("brief")));
  const auto result = SubmitAndWait(store_, std::move(transaction));
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_EQ(result->objects.size(), 6u);
  EXPECT_EQ(NamesOf(ListQuery()), (Names{"default/new", "default/old"}));
  EXPECT_EQ((*store_.Read(updated->key()))->status, R"({"state":"Running"})");
  EXPECT_EQ(ChangesAfter(start, 6).size(), 6u);
}

TEST_P(StoreContract, LetsOneOfManyRivalsWin) {
  const ObjectPtr created = MustCreate(store_, MakeObject("a"));
  std::atomic<int> won{0};
  std::atomic<int> lost{0};
  std::vector<std::thread> rivals;
  for (int i = 0; i < 8; ++i) {
    rivals.emplace_back([&, i] {
      std::shared_ptr<Object> mine = CopyOf(created);
      mine->status = StatusSaying("rival " + std::to_string(i));
      const auto result = Submit(store_, UpdateOf(mine, created->meta.resource_version));
      if (result) {
        ++won;
      } else if (result.error().code() == Code::kConflict) {
        ++lost;
      }
    });
  }
  for (std::thread& rival : rivals) rival.join();
  EXPECT_EQ(won, 1);
  EXPECT_EQ(lost, 7);
}

TEST_P(StoreContract, ShowsReadersWholeTransactionsOnly) {
  if (!store_.atomic()) GTEST_SKIP() << "it writes one object at a time";
  for (const char* name : {"left", "right"}) MustCreate(store_, MakeObject(name));
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (int i = 0; !stop; ++i) {
      Transaction transaction;
      for (const char* name : {"left", "right"}) {
        std::shared_ptr<Object> object = MakeObject(name);
        object->status = std::to_string(i);
        transaction.push_back(UpdateOf(object));
      }
      EXPECT_TRUE(SubmitAndWait(store_, std::move(transaction)));
    }
  });
  int64_t version = 0;
  for (int i = 0; i < 300; ++i) {
    const Result<Page> page = store_.List(ListQuery());
    if (!page || page->objects.size() != 2) {
      ADD_FAILURE() << "the list failed";
      break;
    }
    EXPECT_EQ(page->objects[0]->status, page->objects[1]->status);
    EXPECT_GE(page->version, version);
    EXPECT_GE(page->version, page->objects[1]->meta.resource_version);
    version = page->version;
  }
  stop = true;
  writer.join();
}

TEST_P(StoreContract, AcknowledgesAnEmptyTransaction) {
  const auto result = SubmitAndWait(store_, Transaction());
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->objects.empty());
}

}  // namespace detent
