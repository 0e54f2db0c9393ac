// What happens when the disk does not do as it is told.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include "core/base/log.h"
#include "core/store/sqlite_db.h"
#include "tests/store/store_fixture.h"

namespace detent {
namespace {

namespace fs = std::filesystem;

std::shared_ptr<Object> Large(const std::string& name) {
  std::shared_ptr<Object> object = MakeObject(name);
  object->spec = "{\"x\":\"" + std::string(20'000, 'x') + "\"}";
  return object;
}

std::unique_ptr<SqliteStore> OpenSmall(const std::string& directory, Logger* log = nullptr) {
  SqliteStore::Options options;
  options.directory = directory;
  options.pages_max = 100;
  options.log = log;
  return *SqliteStore::Open(options);
}

// Creates until nothing more fits; returns what did.
std::vector<ObjectPtr> Fill(Store& store, Result<Committed>& refusal) {
  std::vector<ObjectPtr> stored;
  for (int i = 0; i < 1'000; ++i) {
    refusal = Submit(store, CreateOf(Large("n" + std::to_string(i))));
    if (!refusal) break;
    stored.push_back(refusal->objects[0]);
  }
  return stored;
}

TEST(SqliteFailure, AFullDiskRefusesAndRecovers) {
  const TemporaryDirectory directory;
  std::vector<std::string> lines;
  Logger log(LogLevel::kInfo, [&](std::string_view line) { lines.emplace_back(line); });
  const auto store = OpenSmall(directory.path(), &log);
  Result<Committed> refusal = Committed();
  const std::vector<ObjectPtr> stored = Fill(*store, refusal);
  ASSERT_FALSE(refusal);
  EXPECT_EQ(refusal.error().code(), Code::kUnavailable);
  EXPECT_NE(refusal.error().message().find("no room left to write"), std::string::npos);
  ASSERT_FALSE(Submit(*store, CreateOf(Large("again"))));

  EXPECT_EQ(store->List(ListQuery())->objects.size(), stored.size());
  const int64_t version = stored.back()->meta.resource_version;
  EXPECT_EQ(store->changes(Kind::kJob).version(), version);
  ASSERT_TRUE(Submit(*store, DeleteOf(stored[0])));
  const auto created = Submit(*store, CreateOf(Large("after")));
  ASSERT_TRUE(created) << created.error().message();
  EXPECT_EQ(created->objects[0]->meta.resource_version, version + 2);
  ASSERT_EQ(lines.size(), 2u) << "once when it begins, once when it is over";
  EXPECT_NE(lines[0].find("cannot write"), std::string::npos);
  EXPECT_NE(lines[1].find("writes again"), std::string::npos);
}

TEST(SqliteFailure, AFullDiskTakesBackTheWholeCommit) {
  const TemporaryDirectory directory;
  const auto store = OpenSmall(directory.path());
  const ObjectPtr old = MustCreate(*store, MakeObject("old"));
  // The writer is held until all of them wait, so that they are one commit.
  std::promise<void> held;
  std::promise<void> released;
  store->Submit({}, [&](const Result<Committed>&) {
    held.set_value();
    released.get_future().wait();
  });
  held.get_future().wait();
  std::atomic<int> unavailable{0};
  const auto submit = [&](Write write) {
    Transaction transaction;
    transaction.push_back(std::move(write));
    store->Submit(std::move(transaction), [&](const Result<Committed>& result) {
      if (!result && result.error().code() == Code::kUnavailable) ++unavailable;
    });
  };
  submit(DeleteOf(old));
  for (int i = 0; i < 50; ++i) submit(CreateOf(Large("n" + std::to_string(i))));
  released.set_value();
  ASSERT_TRUE(SubmitAndWait(*store, {}) || true);

  const Result<Page> page = store->List(ListQuery());
  ASSERT_TRUE(page);
  EXPECT_EQ(page->objects.size(), 1u);
  EXPECT_EQ(unavailable, 51);
  EXPECT_EQ(store->changes(Kind::kJob).version(), old->meta.resource_version);
  // What the writer remembers of rows is what is stored, not what it tried.
  EXPECT_TRUE(Submit(*store, UpdateOf(CopyOf(old), old->meta.resource_version)));
  EXPECT_TRUE(Submit(*store, CreateOf(Large("n0"))));
}

TEST(SqliteFailure, AWriteErrorRefusesAndRecovers) {
  const TemporaryDirectory directory;
  const auto store = OpenSqlite(directory.path());
  const ObjectPtr before = MustCreate(*store, MakeObject("before"));
  // A limit on the size of files makes write(2) fail in the middle of the log.
  rlimit usual;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &usual), 0);
  const auto previous = signal(SIGXFSZ, SIG_IGN);
  rlimit tight = usual;
  tight.rlim_cur = 40'000;  // The log is longer, and has been written to from its begin only.
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
  const auto failed = Submit(*store, CreateOf(Large("failed")));
  setrlimit(RLIMIT_FSIZE, &usual);
  signal(SIGXFSZ, previous);

  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), Code::kUnavailable) << failed.error().message();
  EXPECT_EQ(store->changes(Kind::kJob).version(), before->meta.resource_version);
  EXPECT_EQ(store->List(ListQuery())->objects.size(), 1u);
  const auto created = Submit(*store, CreateOf(Large("failed")));
  ASSERT_TRUE(created) << created.error().message();
  EXPECT_EQ(store->List(ListQuery())->objects.size(), 2u);
}

TEST(SqliteFailure, ADamagedFileIsNamedAndNotOpened) {
  const TemporaryDirectory directory;
  { MustCreate(*OpenSqlite(directory.path()), MakeObject("a")); }
  const std::string file = directory.Inside("detent.db");
  {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream << std::string(4'096, 'g');
  }
  SqliteStore::Options options;
  options.directory = directory.path();
  const auto store = SqliteStore::Open(options);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code(), Code::kInternal);
  EXPECT_NE(store.error().message().find("'" + file + "' is damaged"), std::string::npos)
      << store.error().message();
  EXPECT_NE(store.error().message().find("restore it from a backup"), std::string::npos);
}

TEST(SqliteFailure, ADamagedPageShowsWhenItIsRead) {
  const TemporaryDirectory directory;
  {
    const auto store = OpenSqlite(directory.path());
    for (int i = 0; i < 50; ++i) MustCreate(*store, Large("n" + std::to_string(i)));
  }
  const std::string file = directory.Inside("detent.db");
  const auto size = static_cast<std::streamoff>(fs::file_size(file));
  {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(6 * 4'096);
    stream << std::string(static_cast<size_t>(size - 6 * 4'096), '\xFF');
  }
  SqliteStore::Options options;
  options.directory = directory.path();
  const auto store = SqliteStore::Open(options);
  if (!store) {
    EXPECT_EQ(store.error().code(), Code::kInternal) << store.error().message();
    return;
  }
  const Result<Page> page = (*store)->List(ListQuery());
  ASSERT_FALSE(page);
  EXPECT_EQ(page.error().code(), Code::kInternal) << page.error().message();
}

TEST(SqliteFailure, DamagedMetadataNamesItsObject) {
  const TemporaryDirectory directory;
  { MustCreate(*OpenSqlite(directory.path()), MakeObject("broken")); }
  {
    auto db = SqliteDb::Open(directory.Inside("detent.db"), SqliteDb::Access::kWrite);
    ASSERT_TRUE(db && (*db)->Execute("UPDATE objects SET meta = '{'"));
  }
  const auto store = OpenSqlite(directory.path());
  const Result<ObjectPtr> read = store->Read({Kind::kJob, "default", "broken"});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), Code::kInternal);
  EXPECT_NE(read.error().message().find("job default/broken"), std::string::npos)
      << read.error().message();
}

TEST(SqliteFailure, ADirectoryThatCannotBeWrittenSaysSo) {
  if (geteuid() == 0) GTEST_SKIP() << "nothing is forbidden to the superuser";
  const TemporaryDirectory directory;
  fs::permissions(directory.path(), fs::perms::owner_read | fs::perms::owner_exec);
  SqliteStore::Options options;
  options.directory = directory.path();
  const auto store = SqliteStore::Open(options);
  fs::permissions(directory.path(), fs::perms::owner_all);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code(), Code::kUnavailable);
}

}  // namespace
}  // namespace detent
