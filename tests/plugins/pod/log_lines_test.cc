// From the server's log to lines and offsets.

#include "plugins/pod/log_lines.h"

#include <gtest/gtest.h>

#include "plugins/pod/rfc3339.h"

namespace detent::pod {
namespace {

const int64_t kBase = *ParseTime("2026-11-20T10:00:00Z");
constexpr const char* kThree =
    "2026-11-20T10:00:01.5Z one\n2026-11-20T12:00:01.6+02:00 two\n2026-11-20T10:00:03Z three\n";

LogWindow Window(size_t most, LogPosition from = {}) {
  return {kBase, from, most, true, true};
}

TEST(PodLogLines, AreThoseOfTheContainerRuntime) {
  const LogSlice slice = SliceLog(kThree, Window(1000));
  EXPECT_EQ(slice.lines,
            "2026-11-20T10:00:01.500000000Z stdout F one\n"
            "2026-11-20T10:00:01.600000000Z stdout F two\n"
            "2026-11-20T10:00:03.000000000Z stdout F three\n");
  EXPECT_EQ(slice.next, (LogPosition{3, 46}));
  EXPECT_FALSE(slice.more);
  EXPECT_FALSE(slice.gap);
}

TEST(PodLogLines, AreTheSameHoweverTheyAreReadPieceByPiece) {
  const std::string whole = SliceLog(kThree, Window(1000)).lines;
  for (size_t most = 1; most <= whole.size(); ++most) {
    std::string pieces;
    LogPosition at;
    for (int reads = 0; reads < 1000; ++reads) {
      // What the server gives from that second on.
      const std::string_view all = kThree;
      const auto raw = at.second < 3 ? all : all.substr(all.find("2026-11-20T10:00:03"));
      const LogSlice slice = SliceLog(raw, Window(most, at));
      EXPECT_LE(slice.lines.size(), most);
      EXPECT_GE(OffsetOf(slice.next), OffsetOf(at));
      pieces += slice.lines;
      at = PositionOf(OffsetOf(slice.next));
      if (!slice.more) break;
    }
    ASSERT_EQ(pieces, whole) << most;
  }
}

TEST(PodLogLines, EndAtTheEndOfALineUnlessOneAloneIsLonger) {
  EXPECT_EQ(SliceLog(kThree, Window(100)).lines.size(), 88u);
  EXPECT_TRUE(SliceLog(kThree, Window(100)).more);
  EXPECT_EQ(SliceLog(kThree, Window(20)).lines.size(), 20u);
}

TEST(PodLogLines, LeaveOutALastOneThatIsNotFinished) {
  const char* const raw = "2026-11-20T10:00:01Z one\n2026-11-20T10:00:02Z tw";
  LogWindow window = Window(1000);
  EXPECT_NE(SliceLog(raw, window).lines.find("tw\n"), std::string::npos) << "it never will be";
  window.over = false;
  EXPECT_EQ(SliceLog(raw, window).lines.find("tw"), std::string::npos) << "more may come";
  window = Window(1000);
  window.whole = false;
  EXPECT_EQ(SliceLog(raw, window).lines.find("tw"), std::string::npos) << "more was cut off";
  EXPECT_TRUE(SliceLog(raw, window).more);
}

TEST(PodLogLines, AreReadOnWhereOneIsLongerThanAPiece) {
  const std::string line = "2026-11-20T10:00:01Z " + std::string(300, 'x') + "\n";
  std::string pieces;
  LogPosition at;
  for (int reads = 0; reads < 100; ++reads) {
    const size_t limit = at.byte + 50;
    LogWindow window = Window(50, at);
    window.whole = limit > line.size();
    const LogSlice slice = SliceLog(line.substr(0, limit), window);
    pieces += slice.lines;
    at = slice.next;
    if (!slice.more) break;
  }
  EXPECT_EQ(pieces, "2026-11-20T10:00:01.000000000Z stdout F " + std::string(300, 'x') + "\n");
}

TEST(PodLogLines, SayWhenSomeAreGone) {
  // Read up to "two"; then the node rotated, and only "three" is left.
  const LogPosition at = {1, 88};
  const LogSlice slice = SliceLog("2026-11-20T10:00:03Z three\n", Window(1000, at));
  EXPECT_TRUE(slice.gap);
  EXPECT_EQ(slice.begin, (LogPosition{3, 0}));
  EXPECT_FALSE(SliceLog(kThree, Window(1000, at)).gap);
  EXPECT_FALSE(SliceLog("", Window(1000, at)).gap) << "nothing there now";
  EXPECT_EQ(SliceLog("", Window(1000, at)).next, at);
}

TEST(PodLogLines, DoNotGoBackInTime) {
  const LogSlice slice = SliceLog("2026-11-20T10:00:05Z a\n2026-11-20T09:00:00Z b\n", Window(1000));
  EXPECT_EQ(slice.next, (LogPosition{5, 84}));
  EXPECT_NE(slice.lines.find("09:00:00.000000000Z stdout F b"), std::string::npos);
}

TEST(PodLogLines, TakeALineWithoutATimeForThePartOfTheOneBefore) {
  const LogSlice slice = SliceLog("2026-11-20T10:00:05Z a\nb\n\n", Window(1000));
  EXPECT_EQ(slice.lines,
            "2026-11-20T10:00:05.000000000Z stdout F a\n"
            "2026-11-20T10:00:05.000000000Z stdout F b\n"
            "2026-11-20T10:00:05.000000000Z stdout F \n");
  const LogSlice none =
      SliceLog("unable to retrieve container logs for containerd://1\n", Window(1000));
  EXPECT_FALSE(none.readable);
  EXPECT_EQ(none.lines, "unable to retrieve container logs for containerd://1");
}

TEST(PodLogLines, LeaveOutWhatAnOffsetCannotTellApart) {
  std::string raw;
  const std::string text(1 << 20, 'x');
  for (int i = 0; i < 20; ++i) raw += "2026-11-20T10:00:01Z " + text + "\n";
  raw += "2026-11-20T10:00:09Z last\n";
  const LogSlice slice = SliceLog(raw, Window(64 << 20));
  EXPECT_TRUE(slice.gap);
  EXPECT_EQ(slice.next.second, 9);
}

TEST(PodLogLines, HaveATailOfWholeLines) {
  EXPECT_EQ(TailOf("aa\nbb\ncc\n", 100), "aa\nbb\ncc\n");
  EXPECT_EQ(TailOf("aa\nbb\ncc\n", 6), "bb\ncc\n");
  EXPECT_EQ(TailOf("aa\nbb\ncc\n", 5), "cc\n");
  EXPECT_EQ(TailOf("aaaaaaa\n", 3), "aa\n");
}

TEST(PodLogLines, KeepOffsetsWithinWhatEveryReaderOfJsonTakes) {
  const LogPosition most = {1'000'000'000'000, 1'000'000'000'000};
  EXPECT_LT(OffsetOf(most), uint64_t{1} << 53);
  EXPECT_EQ(PositionOf(OffsetOf({7, 9})), (LogPosition{7, 9}));
  EXPECT_EQ(OffsetOf({}), 0u);
}

}  // namespace
}  // namespace detent::pod
