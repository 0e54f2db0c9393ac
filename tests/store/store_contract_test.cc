#include "tests/store/store_contract.h"

#include "core/store/memory_store.h"
#include "core/store/sqlite_store.h"

namespace detent {
namespace {

class MemoryHolder final : public StoreHolder {
 public:
  Store& store() override { return store_; }

 private:
  MemoryStore store_;
};

class SqliteHolder final : public StoreHolder {
 public:
  SqliteHolder() : store_(OpenSqlite(directory_.path())) {}
  Store& store() override { return *store_; }

 private:
  TemporaryDirectory directory_;
  std::unique_ptr<SqliteStore> store_;
};

INSTANTIATE_TEST_SUITE_P(
    Stores, StoreContract,
    testing::Values(StoreMaker{"Memory", [] { return std::make_unique<MemoryHolder>(); }},
                    StoreMaker{"Sqlite", [] { return std::make_unique<SqliteHolder>(); }}),
    [](const testing::TestParamInfo<StoreMaker>& info) { return info.param.name; });

}  // namespace
}  // namespace detent
