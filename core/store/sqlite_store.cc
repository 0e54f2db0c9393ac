#include "core/store/sqlite_store.h"

#include <unistd.h>

#include <chrono>
#include <utility>

#include "core/store/object_bytes.h"
#include "core/store/sqlite_backup.h"

namespace detent {
namespace {

constexpr size_t kReadersMax = 4;

// What one commit takes at most, so that the first of a long queue does not wait for all of it.
constexpr size_t kWritesPerCommit = 2'000;
constexpr size_t kBytesPerCommit = 16 * 1024 * 1024;

}  // namespace

Result<std::unique_ptr<SqliteStore>> SqliteStore::Open(const Options& options) {
  DirectoryLock lock = TRY(DirectoryLock::Acquire(options.directory));
  SqliteWriter::Options writing;
  writing.path = options.directory + "/detent.db";
  writing.durable = options.durability == Durability::kFull;
  writing.pages_max = options.pages_max;
  std::unique_ptr<SqliteWriter> writer = TRY(SqliteWriter::Open(writing));
  return std::unique_ptr<SqliteStore>(new SqliteStore(options, std::move(lock), std::move(writer)));
}

SqliteStore::SqliteStore(const Options& options, DirectoryLock lock,
                         std::unique_ptr<SqliteWriter> writer)
    : path_(options.directory + "/detent.db"),
      host_id_(writer->host_id()),
      log_(options.log),
      clock_(options.clock),
      lock_(std::move(lock)),
      writer_(std::move(writer)),
      changes_(writer_->version()),
      readers_(path_, kReadersMax) {
  if (options.metrics != nullptr) AddMeters(*options.metrics);
  thread_ = std::thread([this] { Run(); });
}

SqliteStore::~SqliteStore() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  arrived_.notify_one();
  thread_.join();
  changes_.Close();
}

void SqliteStore::AddMeters(Metrics& metrics) {
  meters_.commits = &metrics.AddCounter("detent_store_commits_total",
                                        "Commits, each of one or more transactions.");
  meters_.writes = &metrics.AddCounter("detent_store_writes_total", "Objects written.");
  meters_.refusals = &metrics.AddCounter("detent_store_refusals_total",
                                         "Transactions refused because of what was stored.");
  meters_.failures =
      &metrics.AddCounter("detent_store_failures_total", "Commits that the disk failed.");
  if (clock_ == nullptr) return;
  meters_.commit_seconds =
      &metrics.AddHistogram("detent_store_commit_seconds", "How long commits took.");
}

void SqliteStore::Submit(Transaction transaction, Done done) {
  Queued queued{std::move(transaction), std::move(done), 0};
  for (const Write& write : queued.writes) queued.bytes += BytesOf(*write.object);
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = queued_.empty();
    queued_.push_back(std::move(queued));
  }
  // Otherwise the writer is awake, or has been told already.
  if (first) arrived_.notify_one();
}

void SqliteStore::Run() {
  std::vector<Queued> batch;
  while (TakeBatch(batch)) {
    Commit(batch);
    batch.clear();
  }
}

bool SqliteStore::TakeBatch(std::vector<Queued>& batch) {
  std::unique_lock lock(mutex_);
  arrived_.wait(lock, [&] { return closing_ || !queued_.empty(); });
  size_t writes = 0;
  size_t bytes = 0;
  while (!queued_.empty() && writes < kWritesPerCommit && bytes < kBytesPerCommit) {
    writes += queued_.front().writes.size();
    bytes += queued_.front().bytes;
    batch.push_back(std::move(queued_.front()));
    queued_.pop_front();
  }
  return !batch.empty();
}

void SqliteStore::Commit(std::vector<Queued>& batch) {
  std::vector<Transaction*> transactions;
  transactions.reserve(batch.size());
  for (Queued& queued : batch) transactions.push_back(&queued.writes);

  const MonoTime begun = clock_ == nullptr ? MonoTime() : clock_->Mono();
  Result<SqliteWriter::Applied> applied = writer_->Apply(transactions);
  if (!applied) return Refuse(batch, applied.error());
  if (meters_.commit_seconds != nullptr) {
    meters_.commit_seconds->ObserveMicros(
        std::chrono::duration_cast<std::chrono::microseconds>(clock_->Mono() - begun).count());
  }
  Acknowledge(batch, *std::move(applied));
  writer_->TidyLog();
}

void SqliteStore::Acknowledge(std::vector<Queued>& batch, SqliteWriter::Applied applied) {
  // A commit of refusals alone never asked the disk.
  if (failing_ && !applied.changes.empty()) {
    failing_ = false;
    if (log_ != nullptr) log_->Info("the store writes again", {{"file", path_}});
  }
  int64_t refusals = 0;
  for (const auto& result : applied.results) refusals += result.has_value() ? 0 : 1;
  if (meters_.commits != nullptr) {
    meters_.commits->Add();
    meters_.writes->Add(static_cast<int64_t>(applied.changes.size()));
    meters_.refusals->Add(refusals);
  }
  changes_.Append(std::move(applied.changes));
  for (size_t i = 0; i < batch.size(); ++i) {
    if (batch[i].done) batch[i].done(std::move(applied.results[i]));
  }
}

void SqliteStore::Refuse(std::vector<Queued>& batch, const Error& error) {
  if (meters_.failures != nullptr) meters_.failures->Add();
  // Said once until it is over: a full disk refuses thousands a second.
  if (!failing_ && log_ != nullptr) {
    log_->Error("the store cannot write", {{"file", path_}, {"error", error.message()}});
  }
  failing_ = true;
  for (Queued& queued : batch) {
    if (queued.done) queued.done(error);
  }
}

Result<ObjectPtr> SqliteStore::Read(const ObjectKey& key) {
  const SqliteReaderPool::Lease reader = TRY(readers_.Take());
  return reader->Read(key);
}

Result<Page> SqliteStore::List(const ListQuery& query) {
  const SqliteReaderPool::Lease reader = TRY(readers_.Take());
  return reader->List(query);
}

Result<void> SqliteStore::Backup(const std::string& path) {
  // A connection of its own: a copy takes long, and reads shall not wait for it.
  const std::unique_ptr<SqliteDb> source = TRY(SqliteDb::Open(path_, SqliteDb::Access::kRead));
  return BackUp(*source, path);
}

Result<void> SqliteStore::BackupDirectory(const std::string& directory, const std::string& path) {
  const std::string file = directory + "/detent.db";
  if (access(file.c_str(), F_OK) != 0) {
    return Error(Code::kNotFound, "there is no '" + file + "'; is --data the host's directory?");
  }
  const std::unique_ptr<SqliteDb> source = TRY(SqliteDb::Open(file, SqliteDb::Access::kRead));
  return BackUp(*source, path);
}

}  // namespace detent
