// Copies a database that is in use into a new file: a backup that a host can start from.

#pragma once

#include <string>

#include "core/store/sqlite_db.h"

namespace detent {

// Copies all that is committed now. `target` shows nothing half-written: it is empty until the copy
// is whole and on the disk. On an error it is taken away again.
// kAlreadyExists: there is a file named `target`. kUnavailable: a disk is full or fails.
Result<void> BackUp(SqliteDb& source, const std::string& target);

}  // namespace detent
