// What the tests of stores share: objects to store, short ways to write them, and a directory that
// goes away.

#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "core/store/sqlite_store.h"
#include "core/store/store.h"

namespace detent {

// An object that a store takes: labels, a spec, and the version still to be set.
std::shared_ptr<Object> MakeObject(const std::string& name, const std::string& ns = "default",
                                   Kind kind = Kind::kJob);

// A status of a Job, as the host writes it, that says so.
std::string StatusSaying(const std::string& message);

// A Task of the Job with that UID.
std::shared_ptr<Object> MakeOwned(const std::string& name, const std::string& owner_uid);

// A copy to change, as the loop makes one before it writes.
std::shared_ptr<Object> CopyOf(const ObjectPtr& object);

Write CreateOf(std::shared_ptr<Object> object);
Write UpdateOf(std::shared_ptr<Object> object, int64_t expected_version = 0);
Write DeleteOf(const ObjectPtr& object, int64_t expected_version = 0);

Result<Committed> Submit(Store& store, Write write);

// Creates and requires that it worked.
ObjectPtr MustCreate(Store& store, std::shared_ptr<Object> object);

class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  std::string path() const { return path_.string(); }
  std::string Inside(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

// A store in that directory; ends the test if it does not open.
std::unique_ptr<SqliteStore> OpenSqlite(const std::string& directory);

}  // namespace detent
