#include "core/kube/watch_pieces.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/kube/proto_frames.h"

namespace detent::testing {
namespace {

using Fed = WatchPieces::Fed;

struct Taker {
  std::vector<std::string> events;
  bool operator()(std::string_view event, bool is_proto) {
    events.push_back((is_proto ? "frame " : "line ") + std::string(event));
    return event != "last";
  }
};

TEST(WatchPieces, PutsEventsTogetherWhereverTheyAreCut) {
  const struct {
    std::string stream;
    std::vector<std::string> events;
  } rows[] = {
      {"{1}\n\n{three}\nrest", {"line {1}", "line ", "line {three}"}},
      {ProtoFrame("one") + ProtoFrame("") + ProtoFrame("\nthree") + ProtoFrame("rest").substr(0, 6),
       {"frame one", "frame ", "frame \nthree"}},
  };
  for (const auto& row : rows) {
    for (size_t first = 0; first <= row.stream.size(); ++first) {
      for (size_t second = first; second <= row.stream.size(); ++second) {
        WatchPieces pieces;
        Taker taken;
        const std::string_view all = row.stream;
        for (const auto part :
             {all.substr(0, first), all.substr(first, second - first), all.substr(second)}) {
          ASSERT_EQ(pieces.Feed(part, taken), Fed::kAll);
        }
        ASSERT_EQ(taken.events, row.events) << first << " " << second;
      }
    }
  }
}

TEST(WatchPieces, StopsWhereItIsToldTo) {
  for (const std::string& stream :
       {std::string("first\nlast\nmore\n"),
        ProtoFrame("first") + ProtoFrame("last") + ProtoFrame("more")}) {
    WatchPieces pieces;
    Taker taken;
    EXPECT_EQ(pieces.Feed(stream, taken), Fed::kGivenUp);
    EXPECT_EQ(taken.events.size(), 2u);
  }
}

TEST(WatchPieces, TellsTheFormOfEachStreamAnew) {
  WatchPieces pieces;
  Taker taken;
  EXPECT_EQ(pieces.Feed("{}\n{half", taken), Fed::kAll);
  pieces.Begin();
  EXPECT_EQ(pieces.Feed(ProtoFrame("x"), taken), Fed::kAll);
  pieces.Begin();
  EXPECT_EQ(pieces.Feed(" {}\n", taken), Fed::kAll);
  EXPECT_EQ(taken.events, (std::vector<std::string>{"line {}", "frame x", "line  {}"}));
}

TEST(WatchPieces, RefusesWhatIsTooLongToBeAnEvent) {
  Taker taken;
  WatchPieces frames;
  EXPECT_EQ(frames.Feed(std::string("\x02\0\0\0", 4), taken), Fed::kAll) << "the longest";
  frames.Begin();
  EXPECT_EQ(frames.Feed(std::string("\x02\0\0\x01", 4), taken), Fed::kTooLong);
  frames.Begin();
  EXPECT_EQ(frames.Feed("\xFF", taken), Fed::kAll) << "no length yet";
  EXPECT_EQ(frames.Feed("\xFF\xFF\xFF", taken), Fed::kTooLong);
  WatchPieces lines;
  const std::string half(WatchPieces::kEventBytes / 2, 'x');
  EXPECT_EQ(lines.Feed(half, taken), Fed::kAll);
  EXPECT_EQ(lines.Feed(half, taken), Fed::kAll);
  EXPECT_EQ(lines.Feed("x", taken), Fed::kTooLong);
  EXPECT_TRUE(taken.events.empty());
}

}  // namespace
}  // namespace detent::testing
