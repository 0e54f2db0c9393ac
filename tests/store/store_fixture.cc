#include "tests/store/store_fixture.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <utility>

#include "core/api/codec.h"
#include "core/base/names.h"

namespace detent {

std::shared_ptr<Object> MakeObject(const std::string& name, const std::string& ns, Kind kind) {
  auto object = std::make_shared<Object>();
  object->kind = kind;
  object->meta.name = name;
  object->meta.ns = ns;
  object->meta.uid = DerivedUid(ns + "/" + name);
  object->meta.generation = 1;
  object->meta.created = FromUnixSeconds(1'790'000'000);
  object->meta.labels = {{"app", "test"}};
  // As an API server would take and give it: valid, with its members sorted.
  const std::string job = R"({"maxAttempts":1,"taskTemplate":{"exec":{"command":["true"]}}})";
  object->spec = kind == Kind::kJob ? R"({"template":)" + job + R"(,"type":"Adhoc"})"
                 : kind == Kind::kJobConfig
                     ? R"({"concurrency":{"policy":"Allow"},"template":{"spec":)" + job + "}}"
                     : R"({"attempt":1,"index":0,"jobName":"owner"})";
  return object;
}

std::string StatusSaying(const std::string& message) {
  JobStatus status;
  status.message = message;
  return EncodeJobStatus(status);
}

std::shared_ptr<Object> MakeOwned(const std::string& name, const std::string& owner_uid) {
  std::shared_ptr<Object> object = MakeObject(name, "default", Kind::kTask);
  object->meta.owners = {{kGroupVersion, "Job", "owner", owner_uid, true, true}};
  return object;
}

std::shared_ptr<Object> CopyOf(const ObjectPtr& object) {
  return std::make_shared<Object>(*object);
}

Write CreateOf(std::shared_ptr<Object> object) {
  return {WriteOp::kCreate, std::move(object), 0, nullptr};
}

Write UpdateOf(std::shared_ptr<Object> object, int64_t expected_version) {
  return {WriteOp::kUpdate, std::move(object), expected_version, nullptr};
}

Write DeleteOf(const ObjectPtr& object, int64_t expected_version) {
  return {WriteOp::kDelete, CopyOf(object), expected_version, nullptr};
}

Result<Committed> Submit(Store& store, Write write) {
  Transaction transaction;
  transaction.push_back(std::move(write));
  return SubmitAndWait(store, std::move(transaction));
}

ObjectPtr MustCreate(Store& store, std::shared_ptr<Object> object) {
  const Result<Committed> created = Submit(store, CreateOf(std::move(object)));
  if (created) return created->objects.at(0);
  ADD_FAILURE() << created.error().message();
  return nullptr;
}

TemporaryDirectory::TemporaryDirectory() {
  std::string pattern = (std::filesystem::temp_directory_path() / "detent-store-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) ADD_FAILURE() << "cannot make " << pattern;
  path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::unique_ptr<SqliteStore> OpenSqlite(const std::string& directory) {
  SqliteStore::Options options;
  options.directory = directory;
  // A killed process loses nothing with this either, and no test cuts the power.
  options.durability = Durability::kNormal;
  Result<std::unique_ptr<SqliteStore>> store = SqliteStore::Open(options);
  if (store) return *std::move(store);
  ADD_FAILURE() << store.error().message();
  abort();
}

}  // namespace detent
