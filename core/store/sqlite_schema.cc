#include "core/store/sqlite_schema.h"

#include <cstdint>
#include <iterator>
#include <string>

namespace detent {
namespace {

// Marks a file as ours ("Dtnt"), so that another program's database is not written into.
constexpr int64_t kApplicationId = 0x44746e74;

// Entry i leads from version i to version i + 1.
//
// The index by owner carries the whole key, so that a page of one owner's objects comes in order
// without sorting. `meta` is a table of its own row, because deletions raise the version as well.
constexpr const char* kMigrations[] = {
    R"sql(
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
    INSERT INTO meta VALUES ('version', 0);
    )sql",
    // Which host this is: what it makes outside carries it, so that each host finds its own again.
    R"sql(
    INSERT INTO meta VALUES ('host', random() & 0x7fffffffffffffff);
    )sql",
};

Result<void> CheckOwnership(SqliteDb& db, int64_t version) {
  const int64_t application = TRY(db.ReadInt("PRAGMA application_id"));
  if (application == kApplicationId) return {};
  const int64_t tables = TRY(db.ReadInt("SELECT count(*) FROM sqlite_schema"));
  if (application == 0 && version == 0 && tables == 0) return {};
  return Error(Code::kUnsupported,
               "'" + db.path() + "' is a database of another program: choose another directory");
}

}  // namespace

int SchemaVersion() {
  return static_cast<int>(std::size(kMigrations));
}

Result<void> MigrateSchema(SqliteDb& db) {
  const int64_t found = TRY(db.ReadInt("PRAGMA user_version"));
  if (auto ours = CheckOwnership(db, found); !ours) return ours;
  if (found > SchemaVersion()) {
    return Error(Code::kUnsupported, "'" + db.path() + "' has schema version " +
                                         std::to_string(found) + " of a newer detent; this one " +
                                         "knows versions up to " + std::to_string(SchemaVersion()) +
                                         ": install the newer one");
  }
  for (int64_t version = found; version < SchemaVersion(); ++version) {
    SqliteTransaction transaction(db);
    if (auto begun = transaction.Begin(SqliteTransaction::Kind::kWrite); !begun) return begun;
    const std::string stamp = "PRAGMA application_id = " + std::to_string(kApplicationId) +
                              "; PRAGMA user_version = " + std::to_string(version + 1) + ";";
    if (auto run = db.Execute(kMigrations[version] + stamp); !run) return run;
    if (auto committed = transaction.Commit(); !committed) return committed;
  }
  return {};
}

}  // namespace detent
