// FakeHost keeps the rules that the tests of plugins lean on.

#include "tests/plugins/fake_host.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace detent::testing {
namespace {

TEST(FakeHost, AnswersEachCallbackThatIsOwedWhenTheInstanceCloses) {
  FakeHost host(DETENT_GOOD_PLUGIN, "good");
  ASSERT_EQ(host.Create("/nonexistent", "{}"), DETENT_OK);
  ASSERT_EQ(host.Open().code, DETENT_OK);
  for (const char* mode : {"long-timer", "checkpoint", "offload", "cancelled-timer", "hang"}) {
    const std::string spec = std::string(R"({"mode":")") + mode + R"("})";
    ASSERT_TRUE(host.answer(host.Start(host.NewTask(mode, spec))).given) << mode;
  }
  host.Close();
  EXPECT_EQ(std::count(host.log().begin(), host.log().end(), "told of the close "), 3)
      << "the timer, the checkpoint and the offload; the cancelled timer was told so";
}

}  // namespace
}  // namespace detent::testing
