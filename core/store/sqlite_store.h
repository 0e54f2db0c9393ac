// Objects in a SQLite database on a local disk: the store of a host that runs alone.
//
// A data directory holds detent.db, with its log beside it while it is open, and the file `lock`.
// One thread writes and takes all transactions that wait into one commit, so that many share one
// wait for the disk. Reads run beside it, on the thread that asks.

#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/metrics.h"
#include "core/store/directory_lock.h"
#include "core/store/sqlite_reader.h"
#include "core/store/sqlite_writer.h"
#include "core/store/store.h"

namespace detent {

// What a power cut may take. A killed process loses nothing with either.
enum class Durability {
  kFull,    // Nothing that was acknowledged.
  kNormal,  // The newest commits. Several times as fast where the disk is slow to sync.
};

class SqliteStore final : public Store {
 public:
  struct Options {
    std::string directory;  // Made if there is none.
    Durability durability = Durability::kFull;
    Logger* log = nullptr;  // These three are borrowed, and may be null.
    Metrics* metrics = nullptr;
    const Clock* clock = nullptr;  // For the metric of how long commits take.
    int64_t pages_max = 0;         // A bound on detent.db, in pages of 4 KiB; 0 = none.
  };

  // kUnavailable: the directory is in use by another host, or cannot be written.
  // kUnsupported: the database was written by a newer host, or by another program.
  // kInternal: it is damaged.
  static Result<std::unique_ptr<SqliteStore>> Open(const Options& options);

  // Commits and acknowledges what is queued, closes the change log and leaves one file without a
  // log beside it. Nobody may call the store any more.
  ~SqliteStore() override;
  SqliteStore(const SqliteStore&) = delete;
  SqliteStore& operator=(const SqliteStore&) = delete;

  void Submit(Transaction transaction, Done done) override;
  Result<ObjectPtr> Read(const ObjectKey& key) override;
  // `keep` runs while a reader is taken: it must not ask this store anything.
  Result<Page> List(const ListQuery& query) override;
  ChangeLog& changes(Kind) override { return changes_; }

  // Names this data directory among all others: 16 hexadecimal digits, made with it. A copy has it
  // too, since it is to stand in for the original.
  const std::string& host_id() const { return host_id_; }

  // Copies what is committed now into a new file, which can serve as another directory's
  // detent.db. kAlreadyExists: `path` is taken. Any thread; writes go on meanwhile.
  Result<void> Backup(const std::string& path);

  // The same for the data directory of whatever host is using it, or none. kNotFound: it has none.
  static Result<void> BackupDirectory(const std::string& directory, const std::string& path);

 private:
  struct Queued {
    Transaction writes;
    Done done;
    size_t bytes = 0;
  };
  struct Meters {
    Counter* commits = nullptr;
    Counter* writes = nullptr;
    Counter* refusals = nullptr;
    Counter* failures = nullptr;
    Histogram* commit_seconds = nullptr;
  };

  SqliteStore(const Options& options, DirectoryLock lock, std::unique_ptr<SqliteWriter> writer);

  void Run();
  bool TakeBatch(std::vector<Queued>& batch);
  void Commit(std::vector<Queued>& batch);
  void Acknowledge(std::vector<Queued>& batch, SqliteWriter::Applied applied);
  void Refuse(std::vector<Queued>& batch, const Error& error);
  void AddMeters(Metrics& metrics);

  const std::string path_;
  const std::string host_id_;
  Logger* const log_;
  const Clock* const clock_;
  Meters meters_;
  DirectoryLock lock_;                    // Before the connections: given up after they are closed.
  std::unique_ptr<SqliteWriter> writer_;  // Used by thread_ alone. Closed after the readers, since
                                          // the last connection to close takes the log away.
  ChangeLog changes_;
  SqliteReaderPool readers_;
  bool failing_ = false;  // Of thread_: the last commit failed.

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Queued> queued_;  // Guarded by mutex_, as below.
  bool closing_ = false;

  std::thread thread_;  // Last: it starts when all else is there.
};

}  // namespace detent
