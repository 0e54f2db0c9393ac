// SQLite's connections, statements and transactions as values that clean up after themselves, and
// its error codes as ours.
//
// A connection, and what was made from it, belongs to one thread at a time. Statements must not
// outlive their connection; SqliteDb keeps those that it prepared through Cached.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace detent {

class SqliteDb;

// One prepared statement. Bind, Step until it is false or an error, Reset. Columns and parameters
// count as SQLite counts them: from 0 and from 1.
class SqliteStatement {
 public:
  SqliteStatement() = default;

  void Bind(int parameter, int64_t value);
  // Borrowed until Reset.
  void Bind(int parameter, std::string_view text);
  void BindNull(int parameter);

  // True: a row is there to be read. False: done. Also the place where errors of Bind show.
  Result<bool> Step();

  // Steps a statement that gives no rows, and resets it.
  Result<void> Run();

  int64_t Int(int column) const;
  // Borrowed until the next Step or Reset. NULL reads as empty.
  std::string_view Text(int column) const;

  void Reset();

 private:
  friend class SqliteDb;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  SqliteStatement(const SqliteDb& db, sqlite3_stmt* statement) : db_(&db), handle_(statement) {}

  const SqliteDb* db_ = nullptr;
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
  int bind_status_ = 0;  // The first error of Bind since the last Reset.
};

// Resets a statement at the end of a scope, so that it holds no lock and borrows no text.
class SqliteResetter {
 public:
  explicit SqliteResetter(SqliteStatement& statement) : statement_(statement) {}
  ~SqliteResetter() { statement_.Reset(); }
  SqliteResetter(const SqliteResetter&) = delete;
  SqliteResetter& operator=(const SqliteResetter&) = delete;

 private:
  SqliteStatement& statement_;
};

class SqliteDb {
 public:
  enum class Access { kRead, kWrite, kCreate };

  // Opens a file. Nothing of it is read yet, so a damaged one shows at the first statement.
  static Result<std::unique_ptr<SqliteDb>> Open(const std::string& path, Access access);
  SqliteDb(const SqliteDb&) = delete;
  SqliteDb& operator=(const SqliteDb&) = delete;

  // Runs statements without parameters, ignoring their rows.
  Result<void> Execute(const std::string& sql);

  // Runs a statement and reads the first column of its first row; 0 if there is none.
  Result<int64_t> ReadInt(const std::string& sql);

  Result<SqliteStatement> Prepare(std::string_view sql) const;

  // The statement for this text, prepared at its first use and kept, reset, as long as the
  // connection. Borrowed.
  Result<SqliteStatement*> Cached(const std::string& sql);

  bool InTransaction() const;

  // From now on the write-ahead log is written back into the file by WriteBack alone, and not by a
  // commit that happens to come when it is long.
  void WriteBackByHand();
  // Pages in the log as of the last commit; 0 after WriteBack.
  int64_t log_pages() const { return log_pages_; }
  // Writes back what no reader needs. Waits for nobody.
  Result<void> WriteBack();

  // Copies all of `from`, as of now, into this empty database, without keeping writers of `from`
  // waiting.
  Result<void> CopyFrom(SqliteDb& from);

  // The error for a result code of SQLite, or for the last failed call:
  //   kUnavailable  the disk is full or fails, or somebody holds a lock
  //   kInternal     the file is damaged, or the statement is wrong
  Error ErrorFor(int status) const;

  const std::string& path() const { return path_; }

 private:
  struct Close {
    void operator()(sqlite3* db) const;
  };
  SqliteDb(std::string path, sqlite3* db) : path_(std::move(path)), handle_(db) {}

  const std::string path_;
  int64_t log_pages_ = 0;
  std::unique_ptr<sqlite3, Close> handle_;
  std::map<std::string, SqliteStatement> cached_;  // Finalized before the handle is closed.
};

// From Begin until Commit; rolled back at the end of the scope if it was not committed.
class SqliteTransaction {
 public:
  enum class Kind { kRead, kWrite };

  explicit SqliteTransaction(SqliteDb& db) : db_(db) {}
  ~SqliteTransaction() { RollBack(); }
  SqliteTransaction(const SqliteTransaction&) = delete;
  SqliteTransaction& operator=(const SqliteTransaction&) = delete;

  Result<void> Begin(Kind kind);
  Result<void> Commit();
  void RollBack();

 private:
  SqliteDb& db_;
};

}  // namespace detent
