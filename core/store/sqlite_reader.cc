#include "core/store/sqlite_reader.h"

#include <string_view>
#include <utility>

#include "core/api/codec.h"
#include "core/base/json.h"

namespace detent {
namespace {

constexpr std::string_view kColumns = "SELECT version, meta, spec, status, namespace, name ";

// Which conditions a List has, and the one statement for them. An index is named, because a plan
// that scans the table would be a hundred times slower and nothing else would show it.
std::string ListSql(const ListQuery& query) {
  std::string sql(kColumns);
  sql += query.owner_uid.empty() ? "FROM objects INDEXED BY objects_by_name WHERE kind = ?1"
                                 : "FROM objects INDEXED BY objects_by_owner WHERE kind = ?1 "
                                   "AND owner = ?5";
  if (!query.ns.empty()) sql += " AND namespace = ?2";
  if (query.after && query.ns.empty()) sql += " AND (namespace, name) > (?3, ?4)";
  if (query.after && !query.ns.empty()) sql += " AND name > ?4";
  return sql + " ORDER BY namespace, name";
}

void BindList(SqliteStatement& statement, const ListQuery& query) {
  statement.Bind(1, static_cast<int64_t>(query.kind));
  if (!query.ns.empty()) statement.Bind(2, query.ns);
  if (query.after && query.ns.empty()) statement.Bind(3, query.after->first);
  if (query.after) statement.Bind(4, query.after->second);
  if (!query.owner_uid.empty()) statement.Bind(5, query.owner_uid);
}

// Whether to go on behind a key of another namespace than the one that is listed: either all of
// it lies behind that key, or none.
enum class Cut { kAsAsked, kFromTheStart, kNothingLeft };

Cut CutOf(const ListQuery& query) {
  if (!query.after || query.ns.empty() || query.after->first == query.ns) return Cut::kAsAsked;
  return query.after->first < query.ns ? Cut::kFromTheStart : Cut::kNothingLeft;
}

}  // namespace

Result<std::unique_ptr<SqliteReader>> SqliteReader::Open(const std::string& path) {
  std::unique_ptr<SqliteDb> db = TRY(SqliteDb::Open(path, SqliteDb::Access::kRead));
  if (auto set = db->Execute("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;"); !set) {
    return std::move(set).error();
  }
  return std::unique_ptr<SqliteReader>(new SqliteReader(std::move(db)));
}

Result<ObjectPtr> SqliteReader::Read(const ObjectKey& key) {
  SqliteStatement* statement = TRY(db_->Cached(
      std::string(kColumns) + "FROM objects WHERE kind = ?1 AND namespace = ?2 AND name = ?3"));
  const SqliteResetter resetter(*statement);
  statement->Bind(1, static_cast<int64_t>(key.kind));
  statement->Bind(2, key.ns);
  statement->Bind(3, key.name);
  const bool found = TRY(statement->Step());
  if (!found) return Error(Code::kNotFound, ToString(key) + " does not exist");
  return ObjectPtr(TRY(Decode(key.kind, *statement)));
}

Result<Page> SqliteReader::List(const ListQuery& asked) {
  ListQuery query = asked;
  const Cut cut = CutOf(query);
  if (cut == Cut::kFromTheStart) query.after.reset();

  Page page;
  SqliteTransaction snapshot(*db_);
  if (auto begun = snapshot.Begin(SqliteTransaction::Kind::kRead); !begun) {
    return std::move(begun).error();
  }
  page.version = TRY(db_->ReadInt("SELECT value FROM meta WHERE key = 'version'"));
  if (cut == Cut::kNothingLeft) return page;

  SqliteStatement* statement = TRY(db_->Cached(ListSql(query)));
  const SqliteResetter resetter(*statement);
  BindList(*statement, query);
  while (TRY(statement->Step())) {
    std::shared_ptr<Object> object = TRY(Decode(query.kind, *statement));
    if (query.keep && !query.keep(*object)) continue;
    page.more = query.limit != 0 && page.objects.size() == query.limit;
    if (page.more) break;
    page.objects.push_back(std::move(object));
  }
  return page;
}

Result<std::shared_ptr<Object>> SqliteReader::Decode(Kind kind, const SqliteStatement& row) const {
  auto object = std::make_shared<Object>();
  object->kind = kind;
  const Result<Json> json = ParseJson(row.Text(1));
  Result<ObjectMeta> meta = json ? DecodeMeta(*json) : Result<ObjectMeta>(json.error());
  if (!meta) {
    // Whatever code the texts were refused with, here it is the disk that broke its promise.
    const ObjectKey key{kind, std::string(row.Text(4)), std::string(row.Text(5))};
    return Error(Code::kInternal, "'" + db_->path() + "' is damaged: metadata of " + ToString(key) +
                                      ": " + meta.error().message() + ": restore it from a backup");
  }
  object->meta = *std::move(meta);
  object->meta.resource_version = row.Int(0);
  object->spec = row.Text(2);
  object->status = row.Text(3);
  return object;
}

SqliteReaderPool::SqliteReaderPool(std::string path, size_t readers_max)
    : path_(std::move(path)), readers_max_(readers_max) {}

Result<SqliteReaderPool::Lease> SqliteReaderPool::Take() {
  std::unique_lock lock(mutex_);
  returned_.wait(lock, [&] { return !idle_.empty() || open_ < readers_max_; });
  if (!idle_.empty()) {
    // The one used last: its pages are the likeliest to be in memory still.
    Lease lease(this, std::move(idle_.back()));
    idle_.pop_back();
    return lease;
  }
  ++open_;
  lock.unlock();
  Result<std::unique_ptr<SqliteReader>> reader = SqliteReader::Open(path_);
  if (reader) return Lease(this, *std::move(reader));
  lock.lock();
  --open_;
  returned_.notify_one();
  return std::move(reader).error();
}

void SqliteReaderPool::GiveBack(std::unique_ptr<SqliteReader> reader) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(reader));
  returned_.notify_one();
}

}  // namespace detent
