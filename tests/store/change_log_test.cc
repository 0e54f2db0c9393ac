#include "core/store/change_log.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "core/base/limits.h"
#include "tests/store/store_fixture.h"

namespace detent {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;
using ReadResult = ChangeLog::ReadResult;

std::vector<Change> Changes(int64_t first, int64_t last, size_t spec_bytes = 10) {
  std::shared_ptr<Object> object = MakeObject("a");
  object->spec.assign(spec_bytes, ' ');
  std::vector<Change> changes;
  for (int64_t v = first; v <= last; ++v) {
    changes.push_back({ChangeType::kModified, v, object, nullptr});
  }
  return changes;
}

TEST(ChangeLog, ReadsOnBehindACursor) {
  ChangeLog log(10);
  std::vector<Change> out;
  EXPECT_EQ(log.version(), 10);
  EXPECT_EQ(log.Read(10, 100, nanoseconds(0), out), ReadResult::kTimeout);
  log.Append(Changes(11, 15));
  EXPECT_EQ(log.version(), 15);
  ASSERT_EQ(log.Read(10, 3, nanoseconds(0), out), ReadResult::kChanges);
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(out[0].version, 11);
  ASSERT_EQ(log.Read(13, 100, nanoseconds(0), out), ReadResult::kChanges);
  ASSERT_EQ(out.size(), 2u) << "the old ones are taken out first";
  EXPECT_EQ(out[0].version, 14);
  EXPECT_EQ(log.Read(15, 100, nanoseconds(0), out), ReadResult::kTimeout);
  EXPECT_TRUE(out.empty());
}

TEST(ChangeLog, KnowsNothingOfBeforeItBegan) {
  ChangeLog log(10);
  std::vector<Change> out;
  EXPECT_EQ(log.Read(9, 100, nanoseconds(0), out), ReadResult::kExpired);
}

TEST(ChangeLog, TellsAReaderThatItWasOverrun) {
  ChangeLog log(0);
  const auto kept = static_cast<int64_t>(limits::kChangesKept);
  log.Append(Changes(1, kept));
  std::vector<Change> out;
  ASSERT_EQ(log.Read(0, 1, nanoseconds(0), out), ReadResult::kChanges);
  log.Append(Changes(kept + 1, kept + 5));
  EXPECT_EQ(log.Read(4, 1, nanoseconds(0), out), ReadResult::kExpired);
  ASSERT_EQ(log.Read(5, 1, nanoseconds(0), out), ReadResult::kChanges);
  EXPECT_EQ(out[0].version, 6);
}

TEST(ChangeLog, IsBoundedByBytesAsWell) {
  ChangeLog log(0);
  const size_t bytes = limits::kChangeBytesKept / 4;
  log.Append(Changes(1, 10, bytes));
  std::vector<Change> out;
  EXPECT_EQ(log.Read(0, 100, nanoseconds(0), out), ReadResult::kExpired);
  ASSERT_EQ(log.Read(7, 100, nanoseconds(0), out), ReadResult::kChanges);
  EXPECT_EQ(out.size(), 3u);
}

TEST(ChangeLog, WakesAReaderThatWaits) {
  ChangeLog log(0);
  std::vector<Change> out;
  ReadResult result = ReadResult::kTimeout;
  // The longest timeout there is: it must not overflow into the past.
  std::thread reader([&] { result = log.Read(0, 10, nanoseconds::max(), out); });
  log.Append(Changes(1, 1));
  reader.join();
  EXPECT_EQ(result, ReadResult::kChanges);
  EXPECT_EQ(out.size(), 1u);
}

TEST(ChangeLog, WaitsForAVersionThatIsStillToCome) {
  ChangeLog log(0);
  log.Append(Changes(1, 3));
  std::vector<Change> out;
  std::thread reader([&] { EXPECT_EQ(log.Read(5, 10, seconds(30), out), ReadResult::kChanges); });
  log.Append(Changes(4, 5));
  log.Append(Changes(6, 6));
  reader.join();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].version, 6);
}

TEST(ChangeLog, ClosingWakesAllReaders) {
  ChangeLog log(0);
  std::atomic<int> closed{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 4; ++i) {
    readers.emplace_back([&] {
      std::vector<Change> out;
      if (log.Read(0, 10, nanoseconds::max(), out) == ReadResult::kClosed) ++closed;
    });
  }
  log.Close();
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(closed, 4);
  std::vector<Change> out;
  EXPECT_EQ(log.Read(0, 10, nanoseconds(0), out), ReadResult::kClosed);
}

TEST(ChangeLog, ShowsItsListenerEachAppendFirst) {
  ChangeLog log(0);
  std::vector<int64_t> heard;
  log.SetListener([&](const std::vector<Change>& changes) {
    EXPECT_LT(log.version(), changes.front().version) << "readers do not see it yet";
    for (const Change& change : changes) heard.push_back(change.version);
  });
  log.Append(Changes(1, 2));
  log.Append({});
  log.Append(Changes(3, 3));
  EXPECT_EQ(heard, (std::vector<int64_t>{1, 2, 3}));
}

}  // namespace
}  // namespace detent
