// The tables in a data directory's database, as numbered migrations: one is never edited once
// released, only added to. The number of the last one that was run stands in PRAGMA user_version.

#pragma once

#include "core/base/result.h"
#include "core/store/sqlite_db.h"

namespace detent {

// What this host reads and writes.
int SchemaVersion();

// Brings the database to SchemaVersion(), each migration in a transaction of its own.
// kUnsupported: it was written by a newer host, or is not ours at all. kInternal: it is damaged.
Result<void> MigrateSchema(SqliteDb& db);

}  // namespace detent
