#include "core/store/sqlite_schema.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/store/store_fixture.h"

namespace detent {
namespace {

std::unique_ptr<SqliteDb> Make(const std::string& path) {
  Result<std::unique_ptr<SqliteDb>> db = SqliteDb::Open(path, SqliteDb::Access::kCreate);
  EXPECT_TRUE(db);
  return *std::move(db);
}

TEST(SqliteSchema, IsMadeOnceAndThenFoundAgain) {
  const TemporaryDirectory directory;
  const auto db = Make(directory.Inside("x.db"));
  ASSERT_TRUE(MigrateSchema(*db));
  EXPECT_EQ(*db->ReadInt("PRAGMA user_version"), SchemaVersion());
  ASSERT_TRUE(db->Execute("UPDATE meta SET value = 42 WHERE key = 'version'"));
  ASSERT_TRUE(MigrateSchema(*db));
  EXPECT_EQ(*db->ReadInt("SELECT value FROM meta WHERE key = 'version'"), 42);
}

TEST(SqliteSchema, OfANewerHostIsRefusedWithASentence) {
  const TemporaryDirectory directory;
  { OpenSqlite(directory.path()); }
  {
    const auto db = Make(directory.Inside("detent.db"));
    ASSERT_TRUE(db->Execute("PRAGMA user_version = 7"));
  }
  SqliteStore::Options options;
  options.directory = directory.path();
  const auto store = SqliteStore::Open(options);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code(), Code::kUnsupported);
  EXPECT_NE(store.error().message().find("schema version 7 of a newer detent"), std::string::npos)
      << store.error().message();
}

TEST(SqliteSchema, OfAnotherProgramIsLeftAlone) {
  const TemporaryDirectory directory;
  {
    const auto db = Make(directory.Inside("detent.db"));
    ASSERT_TRUE(db->Execute("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)"));
  }
  SqliteStore::Options options;
  options.directory = directory.path();
  const auto store = SqliteStore::Open(options);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code(), Code::kUnsupported);
  const auto db = Make(directory.Inside("detent.db"));
  EXPECT_EQ(*db->ReadInt("SELECT count(*) FROM sqlite_schema"), 1);
  EXPECT_EQ(*db->ReadInt("PRAGMA user_version"), 0);
}

}  // namespace
}  // namespace detent
