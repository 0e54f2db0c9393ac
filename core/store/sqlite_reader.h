// Reads objects back out of the database, each answer from one snapshot of it; and a small pool of
// such readers, so that several threads read at once and none waits for the writer.

#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/store/sqlite_db.h"
#include "core/store/store.h"

namespace detent {

// One read-only connection. One thread at a time.
class SqliteReader {
 public:
  // The file must exist, with its tables up to date.
  static Result<std::unique_ptr<SqliteReader>> Open(const std::string& path);

  Result<ObjectPtr> Read(const ObjectKey& key);
  Result<Page> List(const ListQuery& query);

  SqliteDb& db() { return *db_; }

 private:
  explicit SqliteReader(std::unique_ptr<SqliteDb> db) : db_(std::move(db)) {}

  Result<std::shared_ptr<Object>> Decode(Kind kind, const SqliteStatement& row) const;

  std::unique_ptr<SqliteDb> db_;
};

// Any thread. Opens a reader when all are busy, up to a bound, and then waits for one.
class SqliteReaderPool {
 public:
  SqliteReaderPool(std::string path, size_t readers_max);

  // A reader for one scope. Must not outlive the pool.
  class Lease {
   public:
    Lease(SqliteReaderPool* pool, std::unique_ptr<SqliteReader> reader)
        : pool_(pool), reader_(std::move(reader)) {}
    Lease(Lease&&) = default;
    ~Lease() {
      if (reader_) pool_->GiveBack(std::move(reader_));
    }
    SqliteReader* operator->() const { return reader_.get(); }

   private:
    SqliteReaderPool* pool_;
    std::unique_ptr<SqliteReader> reader_;
  };

  Result<Lease> Take();

 private:
  void GiveBack(std::unique_ptr<SqliteReader> reader);

  const std::string path_;
  const size_t readers_max_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<SqliteReader>> idle_;  // Guarded by mutex_, as below.
  size_t open_ = 0;
};

}  // namespace detent
