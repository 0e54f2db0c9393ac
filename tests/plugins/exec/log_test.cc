// What a task writes, and how it is read: lines, parts, streams, offsets, rotation.

#include <filesystem>
#include <regex>

#include "tests/plugins/exec/exec_fixture.h"

namespace detent::testing {
namespace {

TEST_F(ExecTest, LogsAreCriLines) {
  Ended(Script("echo out; echo err >&2; printf 'no end'"));
  const std::string log = Log();
  EXPECT_NE(log.find("1:out\n"), std::string::npos) << log;
  EXPECT_NE(log.find("2:err\n"), std::string::npos) << log;
  EXPECT_NE(log.find("1:no end\n"), std::string::npos) << log;
  const std::regex line(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z (stdout|stderr) [FP] [^\n]*\n)");
  const std::string raw = RawLog();
  const auto begin = std::sregex_iterator(raw.begin(), raw.end(), line);
  EXPECT_EQ(std::distance(begin, std::sregex_iterator()), 3) << raw;
}

TEST_F(ExecTest, LogsSplitLongLinesIntoParts) {
  Ended(Script("head -c 40000 /dev/zero | tr '\\0' x; echo; head -c 16384 /dev/zero | tr '\\0' y"));
  EXPECT_EQ(Log(), "1:" + std::string(16384, 'x') + "+1:" + std::string(16384, 'x') +
                       "+1:" + std::string(40000 - 32768, 'x') + "\n1:" + std::string(16384, 'y') +
                       "+1:\n");
}

TEST_F(ExecTest, LogsShowAPromptBeforeItsLineEnds) {
  const detent_task task =
      Started(Script("printf 'name? '; while ! test -e go; do sleep 0.01; done; "
                     "echo thanks"));
  ASSERT_TRUE(AwaitLog("name? "));
  std::filesystem::create_directory(WorkPath("go"));
  ASSERT_TRUE(host().AwaitPhase(task, DETENT_PHASE_TERMINATED));
  EXPECT_EQ(Log(), "1:name? +1:thanks\n");
}

TEST_F(ExecTest, LogsKeepAnyBytes) {
  Ended(Script(R"(printf 'a\000b\377\r\n\n')"));
  EXPECT_EQ(Log(), std::string("1:a\0b\xFF\r\n1:\n", 11));
}

TEST_F(ExecTest, LogsRotateAndStayUnderTheirCap) {
  Ended(Script("i=0; while [ $i -lt 3000 ]; do echo line $i of many; i=$((i+1)); done",
               R"("outputLimit":"16Ki")"));
  uintmax_t size = 0;
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(TaskPath())) {
    if (!entry.path().filename().string().starts_with("log.")) continue;
    EXPECT_LE(entry.file_size(), 16384u);
    size += entry.file_size();
    ++files;
  }
  EXPECT_EQ(files, 2);
  EXPECT_LE(size, 32768u);
  const Answer first = host().Await(host().ReadLog(Key(), 0));
  EXPECT_EQ(first.flags & DETENT_LOGS_GAP, DETENT_LOGS_GAP) << "the beginning is gone";
  EXPECT_GT(first.value2, 0u);
  const Answer second = host().Await(host().ReadLog(Key(), first.value));
  EXPECT_EQ(second.flags, DETENT_LOGS_END);
  EXPECT_TRUE(second.body.ends_with("line 2999 of many\n"));
  EXPECT_EQ(second.value - first.value2, size) << "offsets count the whole log";
}

TEST_F(ExecTest, LogsAreReadInPiecesByOffset) {
  Ended(Script("i=0; while [ $i -lt 50 ]; do echo line $i; i=$((i+1)); done"));
  const std::string whole = RawLog();
  std::string pieces;
  uint64_t offset = 0;
  for (bool end = false; !end;) {
    const Answer piece = host().Await(host().ReadLog(Key(), offset, 200));
    ASSERT_EQ(piece.code, DETENT_OK);
    ASSERT_LE(piece.body.size(), 200u);
    EXPECT_TRUE(piece.body.ends_with("\n"));
    pieces += piece.body;
    offset = piece.value;
    end = (piece.flags & DETENT_LOGS_END) != 0;
  }
  EXPECT_EQ(pieces, whole);
  const Answer tail = host().Await(host().ReadLog(Key(), 0, 120, 0, DETENT_LOGS_TAIL));
  EXPECT_TRUE(whole.ends_with(tail.body));
  EXPECT_LE(tail.body.size(), 120u);
  EXPECT_EQ(std::count(tail.body.begin(), tail.body.end(), '\n'), 2);
}

TEST_F(ExecTest, LogsCanBeReadByStream) {
  Ended(Script("echo a; echo b >&2; echo c"));
  const Answer errors = host().Await(host().ReadLog(Key(), 0, 4096, DETENT_LOGS_STDERR));
  EXPECT_EQ(std::count(errors.body.begin(), errors.body.end(), '\n'), 1);
  EXPECT_TRUE(errors.body.ends_with("stderr F b\n"));
  const Answer output = host().Await(host().ReadLog(Key(), 0, 4096, DETENT_LOGS_STDOUT));
  EXPECT_EQ(std::count(output.body.begin(), output.body.end(), '\n'), 2);
  EXPECT_EQ(output.value, errors.value) << "what was skipped counts";
}

TEST_F(ExecTest, LogsStayUntilDiscard) {
  const detent_task task = Started(Script("echo kept"));
  ASSERT_TRUE(host().AwaitPhase(task, DETENT_PHASE_TERMINATED));
  host().Release(task);
  NewHost();
  EXPECT_EQ(Log(), "1:kept\n");
  ASSERT_TRUE(host().RunUntil([&] { return Supervisors().empty(); }));
  host().Discard(Key());
  EXPECT_FALSE(std::filesystem::exists(TaskPath()));
  EXPECT_EQ(host().Await(host().ReadLog(Key(), 0)).code, DETENT_E_NOT_FOUND);
  host().Discard(Key());
}

TEST_F(ExecTest, LogsOfMuchOutputLoseNothing) {
  const Update end = Ended(Script("seq 1 100000", R"("outputLimit":"64Mi")"));
  EXPECT_EQ(end.result, DETENT_RESULT_SUCCEEDED);
  const std::string raw = RawLog();
  EXPECT_EQ(std::count(raw.begin(), raw.end(), '\n'), 100000);
  EXPECT_TRUE(raw.ends_with("stdout F 100000\n"));
}

}  // namespace
}  // namespace detent::testing
