// The two templates, loaded as a host loads them: the C++ one and the C one are the same executor.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "tests/abi/driver.h"

namespace detent::test {
namespace {

const detent_plugin* Load(const char* path, uint16_t major) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    ADD_FAILURE() << dlerror();
    return nullptr;
  }
  const auto entry =
      reinterpret_cast<detent_plugin_entry_fn>(dlsym(library, DETENT_PLUGIN_ENTRY_NAME));
  const detent_hello hello{sizeof(detent_hello), major, DETENT_ABI_MINOR, DETENT_ABI_MINOR,
                           DETENT_MODE_CHECK,    0,     sdk::Str("test"), sdk::Str("0")};
  return entry(&hello);
}

class Template : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const detent_plugin* plugin = Load(GetParam(), DETENT_ABI_MAJOR);
    ASSERT_NE(plugin, nullptr);
    ASSERT_EQ(plugin->count, 1u);
    table = plugin->executors[0];
  }
  FakeHost host;
  const detent_executor* table = nullptr;
};

TEST_P(Template, RefusesAnotherMajor) {
  EXPECT_EQ(Load(GetParam(), 99), nullptr);
}

TEST_P(Template, GreetsAfterItsTime) {
  Driver driver(host, *table);
  ASSERT_EQ(driver.Create(), DETENT_OK);
  EXPECT_EQ(driver.Start(R"({"milliseconds": 20})")->code, DETENT_OK);
  host.Advance(19'000'000);
  EXPECT_EQ(host.updates[1].back().phase, DETENT_PHASE_RUNNING);
  host.Advance(1'000'000);
  EXPECT_EQ(host.updates[1].back().result, DETENT_RESULT_SUCCEEDED);
  EXPECT_EQ(host.updates[1].back().output, "\"hello world\"");
  driver.Release();
}

TEST_P(Template, RefusesABadSpec) {
  Driver driver(host, *table);
  ASSERT_EQ(driver.Create(), DETENT_OK);
  EXPECT_EQ(driver.Start(R"({"milliseconds": "soon"})")->code, DETENT_E_INVALID);
}

TEST_P(Template, IsKilledOnceHoweverOftenOneAsks) {
  Driver driver(host, *table);
  ASSERT_EQ(driver.Create(), DETENT_OK);
  driver.Start(R"({"milliseconds": 20})");
  EXPECT_EQ(driver.Kill()->code, DETENT_OK);
  EXPECT_EQ(driver.Kill()->code, DETENT_OK);
  host.Advance(1'000'000'000);
  EXPECT_EQ(host.updates[1].back().result, DETENT_RESULT_KILLED);
  EXPECT_EQ(host.updates[1].size(), 2u);
}

TEST_P(Template, LeavesItsTaskAliveWhenTheInstanceCloses) {
  Driver driver(host, *table);
  ASSERT_EQ(driver.Create(), DETENT_OK);
  driver.Start("{}");
  driver.Finish();
  EXPECT_EQ(host.updates[1].back().phase, DETENT_PHASE_RUNNING);
  EXPECT_EQ(host.pending(), 0u);
}

TEST_P(Template, RunsTwoInstancesSideBySide) {
  Driver one(host, *table), two(host, *table);
  ASSERT_EQ(one.Create(), DETENT_OK);
  ASSERT_EQ(two.Create(), DETENT_OK);
  EXPECT_NE(one.self(), two.self());
  one.Start("{}", 1);
  host.Advance(1'000'000'000);
  EXPECT_EQ(host.updates[1].back().result, DETENT_RESULT_SUCCEEDED);
  one.Release(1);
}

TEST(HelloTemplate, ValidatesWithHints) {
  const detent_plugin* plugin = Load(DETENT_HELLO, DETENT_ABI_MAJOR);
  ASSERT_NE(plugin, nullptr);
  FakeHost host;
  const detent_bytes spec = sdk::Bytes(R"({"nam": "x", "milliseconds": -1})");
  auto* sink = &host.sink;
  EXPECT_EQ(plugin->executors[0]->validate(host.table(), &spec, sink), DETENT_E_INVALID);
  EXPECT_EQ(host.findings, (std::vector<std::string>{"/milliseconds OutOfRange",
                                                     "/nam UnknownField did you mean `name`?"}));
}

INSTANTIATE_TEST_SUITE_P(Both, Template, testing::Values(DETENT_HELLO, DETENT_HELLO_C),
                         [](const auto& row) { return row.index == 0 ? "Cpp" : "C"; });

}  // namespace
}  // namespace detent::test
