#include "core/store/memory_store.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/store/store_fixture.h"

namespace detent {
namespace {

Transaction Creating(const std::string& name) {
  Transaction transaction;
  transaction.push_back(CreateOf(MakeObject(name)));
  return transaction;
}

TEST(MemoryStore, CommitsWhenItIsPumped) {
  MemoryStore store(MemoryStore::Mode::kPumped);
  std::vector<std::string> done;
  for (const char* name : {"a", "b"}) {
    store.Submit(Creating(name), [&](Result<Committed> result) {
      ASSERT_TRUE(result);
      done.push_back(result->objects[0]->meta.name);
    });
  }
  EXPECT_EQ(store.queued(), 2u);
  EXPECT_TRUE(done.empty());
  EXPECT_FALSE(store.Read({Kind::kJob, "default", "a"}));
  EXPECT_TRUE(store.Pump());
  EXPECT_EQ(done, (std::vector<std::string>{"a"}));
  EXPECT_TRUE(store.Read({Kind::kJob, "default", "a"}));
  EXPECT_FALSE(store.Read({Kind::kJob, "default", "b"}));
  EXPECT_TRUE(store.Pump());
  EXPECT_FALSE(store.Pump());
  EXPECT_EQ(done, (std::vector<std::string>{"a", "b"}));
}

TEST(MemoryStore, LetsAHostDieBeforeOrAfterACommit) {
  MemoryStore store(MemoryStore::Mode::kPumped);
  int done = 0;
  for (const char* name : {"a", "b"}) {
    store.Submit(Creating(name), [&](const Result<Committed>&) { ++done; });
  }
  EXPECT_TRUE(store.Pump(MemoryStore::Acknowledge::kNo));
  store.DropQueued();
  EXPECT_FALSE(store.Pump());
  EXPECT_EQ(done, 0);

  MemoryStore next(MemoryStore::Mode::kAutomatic, store.TakeState());
  EXPECT_EQ(next.changes(Kind::kJob).version(), store.changes(Kind::kJob).version());
  EXPECT_TRUE(next.Read({Kind::kJob, "default", "a"})) << "committed, though nobody was told";
  EXPECT_FALSE(next.Read({Kind::kJob, "default", "b"})) << "never committed";
  EXPECT_GT(MustCreate(next, MakeObject("c"))->meta.resource_version,
            store.changes(Kind::kJob).version());
}

TEST(MemoryStore, FailsWhenItIsTold) {
  MemoryStore store;
  store.FailNext(2);
  for (int i = 0; i < 2; ++i) {
    const auto failed = Submit(store, CreateOf(MakeObject("a")));
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code(), Code::kUnavailable);
  }
  EXPECT_TRUE(Submit(store, CreateOf(MakeObject("a"))));
}

TEST(MemoryStore, AnswersWhatADoneSubmitsAfterIt) {
  MemoryStore store;
  std::vector<std::string> order;
  store.Submit(Creating("a"), [&](const Result<Committed>&) {
    store.Submit(Creating("b"), [&](const Result<Committed>&) { order.push_back("inner"); });
    order.push_back("outer");
  });
  EXPECT_EQ(order, (std::vector<std::string>{"outer", "inner"}));
}

TEST(MemoryStore, AcknowledgesTheRestWhenItGoes) {
  int done = 0;
  {
    MemoryStore store(MemoryStore::Mode::kPumped);
    store.Submit(Creating("a"), [&](const Result<Committed>& result) { done += result ? 1 : 0; });
  }
  EXPECT_EQ(done, 1);
}

}  // namespace
}  // namespace detent
