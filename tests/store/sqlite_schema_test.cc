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

// What the first released schema made of one JobConfig, byte for byte.
constexpr const char* kVersion1 = R"sql(
    CREATE TABLE objects (
      id INTEGER PRIMARY KEY,
      kind INTEGER NOT NULL,
      namespace TEXT NOT NULL,
      name TEXT NOT NULL,
      uid TEXT NOT NULL,
      version INTEGER NOT NULL,
      owner TEXT,
      meta TEXT NOT NULL,
      spec TEXT NOT NULL,
      status TEXT NOT NULL);
    CREATE UNIQUE INDEX objects_by_name ON objects (kind, namespace, name);
    CREATE INDEX objects_by_owner ON objects (owner, kind, namespace, name) WHERE owner IS NOT NULL;
    CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
    INSERT INTO meta VALUES ('version', 41);
    INSERT INTO objects VALUES (1, 1, 'default', 'hello', '8a2f', 41, NULL,
      '{"name":"hello","namespace":"default","uid":"8a2f"}', '{"schedule":{}}', '{}');
    PRAGMA application_id = 1148481140;
    PRAGMA user_version = 1;
    )sql";

TEST(SqliteSchema, OfTheFirstVersionIsBroughtUpToDateAndLosesNothing) {
  const TemporaryDirectory directory;
  ASSERT_TRUE(Make(directory.Inside("detent.db"))->Execute(kVersion1));
  std::string host_id;
  {
    const auto store = OpenSqlite(directory.path());
    const auto object = store->Read({Kind::kJobConfig, "default", "hello"});
    ASSERT_TRUE(object) << object.error().message();
    EXPECT_EQ((*object)->spec, R"({"schedule":{}})");
    EXPECT_EQ((*object)->meta.resource_version, 41);
    EXPECT_EQ(store->changes(Kind::kJob).version(), 41);
    host_id = store->host_id();
  }
  EXPECT_EQ(host_id.size(), 16U);
  EXPECT_EQ(OpenSqlite(directory.path())->host_id(), host_id) << "it keeps its name";
}

TEST(SqliteSchema, GivesEachDataDirectoryANameOfItsOwn) {
  const TemporaryDirectory one, other;
  EXPECT_NE(OpenSqlite(one.path())->host_id(), OpenSqlite(other.path())->host_id());
}

TEST(SqliteSchema, OfANewerHostIsRefusedWithASentence) {
  const TemporaryDirectory directory;
  { OpenSqlite(directory.path()); }
  {
    const auto db = Make(directory.Inside("detent.db"));
    ASSERT_TRUE(db->Execute("PRAGMA user_version = 9"));
  }
  SqliteStore::Options options;
  options.directory = directory.path();
  const auto store = SqliteStore::Open(options);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code(), Code::kUnsupported);
  EXPECT_NE(store.error().message().find("schema version 9 of a newer detent"), std::string::npos)
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
