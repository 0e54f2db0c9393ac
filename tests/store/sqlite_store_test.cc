#include "core/store/sqlite_store.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <future>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/metrics.h"
#include "tests/store/store_fixture.h"

namespace detent {
namespace {

namespace fs = std::filesystem;

std::set<std::string> FilesIn(const std::string& directory) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) {
    names.insert(entry.path().filename().string());
  }
  return names;
}

TEST(SqliteStore, StillHasEverythingWhenItIsOpenedAgain) {
  const TemporaryDirectory directory;
  ObjectPtr kept;
  int64_t version = 0;
  {
    const auto store = OpenSqlite(directory.path());
    kept = MustCreate(*store, MakeOwned("kept", "uid-1"));
    const ObjectPtr gone = MustCreate(*store, MakeObject("gone"));
    ASSERT_TRUE(Submit(*store, DeleteOf(gone)));
    version = store->changes(Kind::kJob).version();
  }
  const auto store = OpenSqlite(directory.path());
  EXPECT_EQ(store->changes(Kind::kJob).version(), version) << "the deletion was the last write";
  const Result<ObjectPtr> read = store->Read(kept->key());
  ASSERT_TRUE(read);
  EXPECT_EQ(**read, *kept);
  EXPECT_FALSE(store->Read({Kind::kJob, "default", "gone"}));
  EXPECT_GT(MustCreate(*store, MakeObject("next"))->meta.resource_version, version);
}

TEST(SqliteStore, ClosesIntoOneFileWithoutALog) {
  const TemporaryDirectory directory;
  {
    const auto store = OpenSqlite(directory.path());
    MustCreate(*store, MakeObject("a"));
    ASSERT_TRUE(store->List(ListQuery()));
    EXPECT_EQ(FilesIn(directory.path()).count("detent.db-wal"), 1u);
  }
  EXPECT_EQ(FilesIn(directory.path()), (std::set<std::string>{"detent.db", "lock"}));
  EXPECT_EQ(fs::status(directory.Inside("detent.db")).permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST(SqliteStore, WritesIntoALogThatNeverGrowsByAFewCommits) {
  const TemporaryDirectory directory;
  const auto store = OpenSqlite(directory.path());
  const std::string log = directory.Inside("detent.db-wal");
  const auto laid_out = fs::file_size(log);
  EXPECT_GE(laid_out, 4096u * 4096u);
  for (int i = 0; i < 20; ++i) MustCreate(*store, MakeObject("a" + std::to_string(i)));
  EXPECT_EQ(fs::file_size(log), laid_out);
}

TEST(SqliteStore, WritesTheLogBackBeforeItOutgrowsItsPlace) {
  const TemporaryDirectory directory;
  const auto store = OpenSqlite(directory.path());
  const auto laid_out = fs::file_size(directory.Inside("detent.db-wal"));
  auto large = MakeObject("a");
  large->spec = "{\"x\":\"" + std::string(200'000, 'x') + "\"}";
  ObjectPtr stored = MustCreate(*store, large);
  for (int i = 0; i < 150; ++i) {  // 30 MB in all.
    const auto updated = Submit(*store, UpdateOf(CopyOf(stored)));
    ASSERT_TRUE(updated) << updated.error().message();
  }
  EXPECT_EQ(fs::file_size(directory.Inside("detent.db-wal")), laid_out);
  EXPECT_LT(fs::file_size(directory.Inside("detent.db")), 4'000'000u);
}

TEST(SqliteStore, CommitsWhatIsQueuedBeforeItCloses) {
  const TemporaryDirectory directory;
  std::atomic<int> done{0};
  constexpr int kCount = 5'000;
  {
    const auto store = OpenSqlite(directory.path());
    for (int i = 0; i < kCount; ++i) {
      Transaction transaction;
      transaction.push_back(CreateOf(MakeObject("n" + std::to_string(i))));
      store->Submit(std::move(transaction), [&](const Result<Committed>& r) { done += r ? 1 : 0; });
    }
  }
  EXPECT_EQ(done, kCount);
  EXPECT_EQ(OpenSqlite(directory.path())->List(ListQuery())->objects.size(), size_t{kCount});
}

TEST(SqliteStore, RefusesASecondHost) {
  const TemporaryDirectory directory;
  const auto store = OpenSqlite(directory.path());
  SqliteStore::Options options;
  options.directory = directory.path();
  const auto second = SqliteStore::Open(options);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), Code::kUnavailable);
  EXPECT_NE(second.error().message().find("is in use by process"), std::string::npos);
}

TEST(SqliteStore, SharesOneCommitAmongAllThatWait) {
  const TemporaryDirectory directory;
  Metrics metrics;
  const SystemClock clock;
  SqliteStore::Options options;
  options.directory = directory.path();
  options.metrics = &metrics;
  options.clock = &clock;
  {
    const auto store = *SqliteStore::Open(options);
    std::promise<void> released;
    // Holds the writer up, so that the rest waits together. A host never does this.
    store->Submit({}, [&](const Result<Committed>&) { released.get_future().wait(); });
    std::atomic<int> stored{0};
    std::atomic<int> refused{0};
    for (int i = 0; i < 300; ++i) {
      Transaction transaction;
      transaction.push_back(CreateOf(MakeObject("n" + std::to_string(i % 200))));
      store->Submit(std::move(transaction),
                    [&](const Result<Committed>& result) { ++(result ? stored : refused); });
    }
    released.set_value();
    ASSERT_TRUE(SubmitAndWait(*store, {}));
    EXPECT_EQ(stored, 200);
    EXPECT_EQ(refused, 100) << "a refused transaction does not take its neighbours along";
    EXPECT_EQ(store->List(ListQuery())->objects.size(), 200u);
  }
  EXPECT_EQ(metrics.AddCounter("detent_store_writes_total", "").value(), 200);
  EXPECT_EQ(metrics.AddCounter("detent_store_refusals_total", "").value(), 100);
  // The one that holds up, the rest (perhaps in two parts), and the last one.
  EXPECT_LE(metrics.AddCounter("detent_store_commits_total", "").value(), 4);
}

TEST(SqliteStore, BacksUpWhileItIsWrittenTo) {
  const TemporaryDirectory directory;
  const TemporaryDirectory other;
  const auto store = OpenSqlite(directory.path());
  for (const char* name : {"left", "right"}) MustCreate(*store, MakeObject(name));
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (int i = 0; !stop; ++i) {
      Transaction transaction;
      for (const char* name : {"left", "right"}) {
        std::shared_ptr<Object> object = MakeObject(name);
        object->status = std::to_string(i);
        transaction.push_back(UpdateOf(object));
      }
      EXPECT_TRUE(SubmitAndWait(*store, std::move(transaction)));
    }
  });
  const Result<void> backed_up = store->Backup(other.Inside("detent.db"));
  stop = true;
  writer.join();
  ASSERT_TRUE(backed_up) << backed_up.error().message();

  EXPECT_EQ(FilesIn(other.path()), (std::set<std::string>{"detent.db"}));
  const auto restored = OpenSqlite(other.path());
  const Result<Page> page = restored->List(ListQuery());
  ASSERT_TRUE(page && page->objects.size() == 2);
  EXPECT_EQ(page->objects[0]->status, page->objects[1]->status) << "one moment of it";
  MustCreate(*restored, MakeObject("new"));
}

TEST(SqliteStore, NeverBacksUpOverAFile) {
  const TemporaryDirectory directory;
  const auto store = OpenSqlite(directory.path());
  MustCreate(*store, MakeObject("a"));
  const std::string target = directory.Inside("backup.db");
  ASSERT_TRUE(store->Backup(target));
  const auto size = fs::file_size(target);
  const Result<void> second = store->Backup(target);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), Code::kAlreadyExists);
  EXPECT_EQ(fs::file_size(target), size);
  const Result<void> nowhere = store->Backup(directory.Inside("absent/backup.db"));
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code(), Code::kUnavailable);
}

TEST(SqliteStore, ReadsFromMoreThreadsThanItHasReaders) {
  const TemporaryDirectory directory;
  const auto store = OpenSqlite(directory.path());
  const ObjectPtr object = MustCreate(*store, MakeObject("a"));
  std::atomic<int> read{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 50; ++n) {
        if (store->Read(object->key()) && store->List(ListQuery())) ++read;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(read, 16 * 50);
}

TEST(SqliteStore, KeepsMoreObjectsThanItsCacheHasRoomFor) {
  const TemporaryDirectory directory;
  const auto store = OpenSqlite(directory.path());
  constexpr int kCount = 40'000;
  const auto write_all = [&](bool create) {
    Transaction transaction;
    for (int i = 0; i < kCount; ++i) {
      std::shared_ptr<Object> object = MakeObject("n" + std::to_string(i));
      transaction.push_back(create ? CreateOf(object) : UpdateOf(object));
      if (transaction.size() < 4'000) continue;
      ASSERT_TRUE(SubmitAndWait(*store, std::move(transaction)));
      transaction.clear();
    }
  };
  write_all(true);
  write_all(false);
  const Result<Page> page = store->List(ListQuery());
  ASSERT_TRUE(page);
  EXPECT_EQ(page->objects.size(), size_t{kCount});
  EXPECT_EQ(page->version, 2 * kCount);
  const auto again = Submit(*store, CreateOf(MakeObject("n0")));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code(), Code::kAlreadyExists);
}

}  // namespace
}  // namespace detent
