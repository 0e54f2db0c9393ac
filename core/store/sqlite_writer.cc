#include "core/store/sqlite_writer.h"

#include <fcntl.h>
#include <unistd.h>
#include <cstdio>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

#include "core/api/codec.h"
#include "core/store/sqlite_schema.h"
#include "core/store/write_rules.h"

namespace detent {
namespace {

// Rows of a few thousand active objects; about 200 bytes each.
constexpr size_t kRowsCached = 16'384;

// `secure_delete` is on in Debian's build: it overwrites what is deleted, at the price of a page
// write for each freed page. The log is cut back to 64 MiB when a long reader has let it grow.
constexpr const char* kPragmas =
    "PRAGMA secure_delete = OFF;"
    "PRAGMA temp_store = MEMORY;"
    "PRAGMA trusted_schema = OFF;"
    "PRAGMA cell_size_check = ON;"
    "PRAGMA cache_size = -16384;"
    "PRAGMA journal_size_limit = 67108864;";

// Writing back after many commits writes a page once that many of them changed.
constexpr int64_t kLogPages = 3'584;
// What these and the commits of the last moment take in the log: a header, and 24 bytes a page.
constexpr off_t kLogBytes = 32 + 4096 * (4096 + 24);

std::string_view OwnerOf(const Object& object) {
  const OwnerReference* owner = ControllerOf(object.meta);
  return owner == nullptr ? std::string_view() : std::string_view(owner->uid);
}

void BindOwner(SqliteStatement& statement, int parameter, std::string_view owner) {
  if (owner.empty()) {
    statement.BindNull(parameter);
  } else {
    statement.Bind(parameter, owner);
  }
}

// SQLite would make the file readable for everybody; its log and index files take over its mode.
Result<void> MakeFile(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file >= 0) {
    close(file);
    return {};
  }
  return Error(Code::kUnavailable,
               "cannot open '" + path + "': " + std::generic_category().message(errno));
}

// Lays the log out in its full length. A commit then overwrites what is there, and its wait for the
// disk is half as long as where the file grows: the file system has nothing to note beside. SQLite
// takes zeros for the end of the log. Done without where the disk has no room for it.
void LayOutLog(const std::string& path, bool durable) {
  const int file = open((path + "-wal").c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  const off_t before = lseek(file, 0, SEEK_END);
  const std::vector<char> zeros(1 << 20);
  for (off_t at = before; at < kLogBytes;) {
    const auto most = std::min<off_t>(kLogBytes - at, static_cast<off_t>(zeros.size()));
    const ssize_t wrote = pwrite(file, zeros.data(), static_cast<size_t>(most), at);
    if (wrote > 0) {
      at += wrote;
    } else {
      at = kLogBytes;
      if (ftruncate(file, before) != 0) break;
    }
  }
  if (durable) fdatasync(file);
  close(file);
}

Result<void> UseWriteAheadLog(SqliteDb& db) {
  SqliteStatement statement = TRY(db.Prepare("PRAGMA journal_mode = WAL"));
  static_cast<void>(TRY(statement.Step()));
  if (statement.Text(0) == "wal") return {};
  return Error(Code::kUnavailable, "'" + db.path() +
                                       "' is on a file system without shared memory, which a "
                                       "write-ahead log needs: choose a local directory");
}

}  // namespace

SqliteWriter::SqliteWriter(std::unique_ptr<SqliteDb> db) : db_(std::move(db)), rows_(kRowsCached) {}

Result<std::unique_ptr<SqliteWriter>> SqliteWriter::Open(const Options& options) {
  if (auto made = MakeFile(options.path); !made) return std::move(made).error();
  std::unique_ptr<SqliteDb> db = TRY(SqliteDb::Open(options.path, SqliteDb::Access::kWrite));
  // Before anything is written: the file may not be ours.
  if (auto migrated = MigrateSchema(*db); !migrated) return std::move(migrated).error();
  if (auto wal = UseWriteAheadLog(*db); !wal) return std::move(wal).error();
  std::string pragmas = kPragmas;
  pragmas += options.durable ? "PRAGMA synchronous = FULL;" : "PRAGMA synchronous = NORMAL;";
  if (options.pages_max > 0) {
    pragmas += "PRAGMA max_page_count = " + std::to_string(options.pages_max) + ";";
  }
  if (auto set = db->Execute(pragmas); !set) return std::move(set).error();
  std::unique_ptr<SqliteWriter> writer(new SqliteWriter(std::move(db)));
  if (auto prepared = writer->Prepare(); !prepared) return std::move(prepared).error();
  LayOutLog(options.path, options.durable);
  writer->db_->WriteBackByHand();
  return writer;
}

Result<void> SqliteWriter::Prepare() {
  statements_.find = TRY(db_->Prepare(
      "SELECT id, version, owner FROM objects WHERE kind = ?1 AND namespace = ?2 AND name = ?3"));
  statements_.insert = TRY(db_->Prepare(
      "INSERT INTO objects (id, kind, namespace, name, uid, version, owner, meta, spec, status) "
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"));
  // Two statements, because naming `owner` makes SQLite rewrite its index even if it is the same.
  statements_.update = TRY(db_->Prepare(
      "UPDATE objects SET version = ?2, meta = ?3, spec = ?4, status = ?5 WHERE id = ?1"));
  statements_.update_owner = TRY(
      db_->Prepare("UPDATE objects SET version = ?2, meta = ?3, spec = ?4, status = ?5, owner = ?6 "
                   "WHERE id = ?1"));
  statements_.remove = TRY(db_->Prepare("DELETE FROM objects WHERE id = ?1"));
  statements_.set_version = TRY(db_->Prepare("UPDATE meta SET value = ?1 WHERE key = 'version'"));
  version_ = TRY(db_->ReadInt("SELECT value FROM meta WHERE key = 'version'"));
  const int64_t host = TRY(db_->ReadInt("SELECT value FROM meta WHERE key = 'host'"));
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(host));
  host_id_ = text;
  last_id_ = TRY(db_->ReadInt("SELECT max(id) FROM objects"));
  next_version_ = version_;
  return {};
}

Result<SqliteWriter::Applied> SqliteWriter::Apply(std::vector<Transaction*>& batch) {
  Applied applied;
  const Result<void> done = ApplyBatch(batch, applied);
  if (!done) {
    // The cache shows what was not stored.
    rows_.Clear();
    next_version_ = version_;
    return done.error();
  }
  rows_.Trim();
  version_ = next_version_;
  return applied;
}

void SqliteWriter::TidyLog() {
  if (db_->log_pages() >= kLogPages) static_cast<void>(db_->WriteBack());
}

Result<void> SqliteWriter::ApplyBatch(std::vector<Transaction*>& batch, Applied& applied) {
  SqliteTransaction sqlite(*db_);
  if (auto begun = sqlite.Begin(SqliteTransaction::Kind::kWrite); !begun) return begun;
  std::vector<Step> steps;
  for (Transaction* transaction : batch) {
    steps.clear();
    if (std::optional<Error> refusal = TRY(Check(*transaction, steps))) {
      applied.results.emplace_back(*std::move(refusal));
      continue;
    }
    Committed committed;
    for (const Step& step : steps) {
      if (auto executed = Execute(step); !executed) return executed;
      Write& write = *step.write;
      applied.changes.push_back({ChangeTypeOf(write.op), write.object->meta.resource_version,
                                 write.object, std::move(write.previous)});
      committed.objects.push_back(std::move(write.object));
    }
    applied.results.emplace_back(std::move(committed));
  }
  if (applied.changes.empty()) return {};
  statements_.set_version.Bind(1, next_version_);
  if (auto set = statements_.set_version.Run(); !set) return set;
  return sqlite.Commit();
}

// Goes through a transaction as if it were done, on the cache alone; a refusal takes that back.
Result<std::optional<Error>> SqliteWriter::Check(Transaction& transaction,
                                                 std::vector<Step>& steps) {
  const int64_t version_before = next_version_;
  for (Write& write : transaction) {
    StoredRow* row = TRY(Locate(write.object->key()));
    std::optional<int64_t> stored_version;
    if (row->id != 0) stored_version = row->version;
    std::optional<Error> refusal = Refusal(write, stored_version);
    if (!refusal) {
      steps.push_back(Enter(write, row));
      continue;
    }
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
      *step->row = std::move(step->before);
    }
    next_version_ = version_before;
    return refusal;
  }
  return std::optional<Error>();
}

Result<StoredRow*> SqliteWriter::Locate(const ObjectKey& key) {
  if (StoredRow* row = rows_.Find(key)) return row;
  SqliteStatement& find = statements_.find;
  const SqliteResetter resetter(find);
  find.Bind(1, static_cast<int64_t>(key.kind));
  find.Bind(2, key.ns);
  find.Bind(3, key.name);
  StoredRow row;
  if (TRY(find.Step())) row = {find.Int(0), find.Int(1), std::string(find.Text(2))};
  return rows_.Add(key, std::move(row));
}

SqliteWriter::Step SqliteWriter::Enter(Write& write, StoredRow* row) {
  Step step{&write, row, *row, row->id, false};
  write.object->meta.resource_version = ++next_version_;
  if (write.op == WriteOp::kDelete) {
    *row = StoredRow();
    return step;
  }
  if (write.op == WriteOp::kCreate) step.id = row->id = ++last_id_;
  row->version = next_version_;
  const std::string_view owner = OwnerOf(*write.object);
  step.owner_changed = row->owner != owner;
  if (step.owner_changed) row->owner = owner;
  return step;
}

Result<void> SqliteWriter::Execute(const Step& step) {
  const Object& object = *step.write->object;
  switch (step.write->op) {
    case WriteOp::kCreate:
      return Insert(object, step.id);
    case WriteOp::kUpdate:
      return Update(object, step);
    case WriteOp::kDelete:
      statements_.remove.Bind(1, step.id);
      return statements_.remove.Run();
  }
  return Error(Code::kInternal, "a write that is no create, update or delete");
}

Result<void> SqliteWriter::Insert(const Object& object, int64_t id) {
  meta_.clear();
  AppendMeta(meta_, object.meta);
  SqliteStatement& insert = statements_.insert;
  insert.Bind(1, id);
  insert.Bind(2, static_cast<int64_t>(object.kind));
  insert.Bind(3, object.meta.ns);
  insert.Bind(4, object.meta.name);
  insert.Bind(5, object.meta.uid);
  insert.Bind(6, object.meta.resource_version);
  BindOwner(insert, 7, OwnerOf(object));
  insert.Bind(8, meta_);
  insert.Bind(9, object.spec);
  insert.Bind(10, object.status);
  return insert.Run();
}

Result<void> SqliteWriter::Update(const Object& object, const Step& step) {
  meta_.clear();
  AppendMeta(meta_, object.meta);
  SqliteStatement& update = step.owner_changed ? statements_.update_owner : statements_.update;
  update.Bind(1, step.id);
  update.Bind(2, object.meta.resource_version);
  update.Bind(3, meta_);
  // The whole row is written anew by SQLite in any case: leaving an unchanged `spec` out would make
  // it read the old one first.
  update.Bind(4, object.spec);
  update.Bind(5, object.status);
  if (step.owner_changed) BindOwner(update, 6, OwnerOf(object));
  return update.Run();
}

}  // namespace detent
