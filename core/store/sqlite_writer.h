// The one connection that writes: checks and applies batches of transactions, each batch as one
// commit. One thread: the store's.
//
// A transaction is checked as a whole before any of it is written, so a refused one leaves nothing
// to undo in the database and its batch goes on. A failing disk undoes the whole batch.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/store/row_cache.h"
#include "core/store/sqlite_db.h"
#include "core/store/store.h"

namespace detent {

class SqliteWriter {
 public:
  struct Options {
    std::string path;
    bool durable = true;    // Each commit waits for the disk.
    int64_t pages_max = 0;  // The file grows to so many pages of 4 KiB at most; 0 = no bound.
  };

  // What became of a batch once it is committed.
  struct Applied {
    std::vector<Result<Committed>> results;  // One for each transaction, in order.
    std::vector<Change> changes;
  };

  // Opens or makes the database, and brings its tables up to date.
  static Result<std::unique_ptr<SqliteWriter>> Open(const Options& options);

  // Applies the transactions in order and commits. An error: nothing of the batch is stored.
  Result<Applied> Apply(std::vector<Transaction*>& batch);

  // Writes the log back where it has become long: for the time after a commit was acknowledged.
  // What fails is tried again after the next commit.
  void TidyLog();

  // The version of the last committed write.
  int64_t version() const { return version_; }
  // See SqliteStore::host_id.
  const std::string& host_id() const { return host_id_; }

 private:
  // One write that was found possible. The cache shows it already; `before` takes that back.
  struct Step {
    Write* write = nullptr;
    StoredRow* row = nullptr;  // In the cache.
    StoredRow before;
    int64_t id = 0;  // Of the row to write: the entry may be changed by a later step.
    bool owner_changed = false;
  };
  struct Statements {
    SqliteStatement find, insert, update, update_owner, remove, set_version;
  };

  explicit SqliteWriter(std::unique_ptr<SqliteDb> db);

  Result<void> Prepare();
  Result<void> ApplyBatch(std::vector<Transaction*>& batch, Applied& applied);
  Result<std::optional<Error>> Check(Transaction& transaction, std::vector<Step>& steps);
  Result<StoredRow*> Locate(const ObjectKey& key);
  Step Enter(Write& write, StoredRow* row);
  Result<void> Execute(const Step& step);
  Result<void> Insert(const Object& object, int64_t id);
  Result<void> Update(const Object& object, const Step& step);

  std::unique_ptr<SqliteDb> db_;
  Statements statements_;
  RowCache rows_;
  std::string host_id_;
  int64_t version_ = 0;       // Committed.
  int64_t next_version_ = 0;  // The last one given out in the batch at hand.
  int64_t last_id_ = 0;       // Of a row; never given out twice while the host lives.
  std::string meta_;          // Room to encode in.
};

}  // namespace detent
