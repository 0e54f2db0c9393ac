#include "core/store/sqlite_db.h"

#include <sqlite3.h>

#include <system_error>
#include <utility>

namespace detent {

void SqliteStatement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

void SqliteStatement::Bind(int parameter, int64_t value) {
  const int status = sqlite3_bind_int64(handle_.get(), parameter, value);
  if (bind_status_ == SQLITE_OK) bind_status_ = status;
}

void SqliteStatement::Bind(int parameter, std::string_view text) {
  // A view of nothing may point nowhere, which SQLite would take for NULL.
  const char* data = text.data() == nullptr ? "" : text.data();
  const int status =
      sqlite3_bind_text64(handle_.get(), parameter, data, text.size(), SQLITE_STATIC, SQLITE_UTF8);
  if (bind_status_ == SQLITE_OK) bind_status_ = status;
}

void SqliteStatement::BindNull(int parameter) {
  const int status = sqlite3_bind_null(handle_.get(), parameter);
  if (bind_status_ == SQLITE_OK) bind_status_ = status;
}

Result<bool> SqliteStatement::Step() {
  const int status = bind_status_ == SQLITE_OK ? sqlite3_step(handle_.get()) : bind_status_;
  if (status == SQLITE_ROW) return true;
  if (status == SQLITE_DONE) return false;
  return db_->ErrorFor(status);
}

Result<void> SqliteStatement::Run() {
  const Result<bool> stepped = Step();
  Reset();
  if (!stepped) return stepped.error();
  return {};
}

int64_t SqliteStatement::Int(int column) const {
  return sqlite3_column_int64(handle_.get(), column);
}

std::string_view SqliteStatement::Text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(handle_.get(), column));
  if (text == nullptr) return {};
  return {text, static_cast<size_t>(sqlite3_column_bytes(handle_.get(), column))};
}

void SqliteStatement::Reset() {
  sqlite3_reset(handle_.get());
  bind_status_ = SQLITE_OK;
}

void SqliteDb::Close::operator()(sqlite3* db) const {
  sqlite3_close(db);
}

Result<std::unique_ptr<SqliteDb>> SqliteDb::Open(const std::string& path, Access access) {
  // One thread at a time is our rule already, so SQLite need not lock each call.
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  flags |= access == Access::kRead ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
  if (access == Access::kCreate) flags |= SQLITE_OPEN_CREATE;
  sqlite3* handle = nullptr;
  const int status = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
  // Even a failed open gives a handle, which carries the reason and must be closed.
  std::unique_ptr<SqliteDb> db(new SqliteDb(path, handle));
  if (status != SQLITE_OK) return db->ErrorFor(status);
  constexpr int kLockWaitMillis = 5000;
  sqlite3_busy_timeout(handle, kLockWaitMillis);
  return db;
}

void SqliteDb::WriteBackByHand() {
  const auto hook = [](void* self, sqlite3*, const char*, int pages) {
    static_cast<SqliteDb*>(self)->log_pages_ = pages;
    return SQLITE_OK;
  };
  sqlite3_wal_hook(handle_.get(), hook, this);
}

Result<void> SqliteDb::WriteBack() {
  log_pages_ = 0;
  const int status = sqlite3_wal_checkpoint_v2(handle_.get(), nullptr, SQLITE_CHECKPOINT_PASSIVE,
                                               nullptr, nullptr);
  if (status != SQLITE_OK) return ErrorFor(status);
  return {};
}

Result<void> SqliteDb::Execute(const std::string& sql) {
  const int status = sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (status != SQLITE_OK) return ErrorFor(status);
  return {};
}

Result<int64_t> SqliteDb::ReadInt(const std::string& sql) {
  SqliteStatement* statement = TRY(Cached(sql));
  const SqliteResetter resetter(*statement);
  const bool row = TRY(statement->Step());
  return row ? statement->Int(0) : 0;
}

Result<SqliteStatement> SqliteDb::Prepare(std::string_view sql) const {
  sqlite3_stmt* statement = nullptr;
  const int status = sqlite3_prepare_v3(handle_.get(), sql.data(), static_cast<int>(sql.size()),
                                        SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (status != SQLITE_OK) return ErrorFor(status);
  return SqliteStatement(*this, statement);
}

Result<SqliteStatement*> SqliteDb::Cached(const std::string& sql) {
  auto at = cached_.find(sql);
  if (at == cached_.end()) at = cached_.emplace(sql, TRY(Prepare(sql))).first;
  return &at->second;
}

bool SqliteDb::InTransaction() const {
  return sqlite3_get_autocommit(handle_.get()) == 0;
}

Result<void> SqliteDb::CopyFrom(SqliteDb& from) {
  sqlite3_backup* backup = sqlite3_backup_init(handle_.get(), "main", from.handle_.get(), "main");
  if (backup == nullptr) return ErrorFor(sqlite3_extended_errcode(handle_.get()));
  // In one step: it reads one snapshot, which in WAL mode does not hold up writers. In several,
  // each commit in between would make it start again.
  const int stepped = sqlite3_backup_step(backup, -1);
  const int finished = sqlite3_backup_finish(backup);
  if (stepped != SQLITE_DONE) return ErrorFor(stepped);
  if (finished != SQLITE_OK) return ErrorFor(finished);
  return {};
}

Error SqliteDb::ErrorFor(int status) const {
  const std::string what = sqlite3_errstr(status);
  switch (status & 0xff) {
    case SQLITE_FULL:
      return Error(Code::kUnavailable, "no room left to write '" + path_ + "': " + what);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return Error(Code::kInternal,
                   "'" + path_ + "' is damaged (" + what + "): restore it from a backup");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Error(Code::kUnavailable, "'" + path_ + "' is locked by another program: " + what);
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_NOMEM: {
      const int number = sqlite3_system_errno(handle_.get());
      const std::string reason =
          number == 0 ? "" : " (" + std::generic_category().message(number) + ")";
      return Error(Code::kUnavailable, "cannot read or write '" + path_ + "': " + what + reason);
    }
    default:
      return Error(Code::kInternal, "'" + path_ + "': " + sqlite3_errmsg(handle_.get()));
  }
}

Result<void> SqliteTransaction::Begin(Kind kind) {
  SqliteStatement* begin =
      TRY(db_.Cached(kind == Kind::kWrite ? "BEGIN IMMEDIATE" : "BEGIN DEFERRED"));
  return begin->Run();
}

Result<void> SqliteTransaction::Commit() {
  SqliteStatement* commit = TRY(db_.Cached("COMMIT"));
  return commit->Run();
}

void SqliteTransaction::RollBack() {
  // Some errors, such as a full disk, have rolled back already. A rollback that fails has nothing
  // left to undo either: what was not committed is not in the file.
  if (db_.InTransaction()) static_cast<void>(db_.Execute("ROLLBACK").has_value());
}

}  // namespace detent
