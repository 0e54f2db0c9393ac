#include "core/base/log.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "core/base/clock.h"

namespace detent {
namespace {

// What follows the time of a line, which must be there.
std::string AfterTime(const std::string& line) {
  const size_t space = line.find(' ');
  EXPECT_EQ(line.rfind("time=", 0), 0u) << line;
  EXPECT_TRUE(ParseTime(line.substr(5, space - 5))) << line;
  return line.substr(space + 1);
}

TEST(Logger, WritesLogfmt) {
  std::vector<std::string> lines;
  Logger logger(LogLevel::kDebug, [&](std::string_view line) { lines.emplace_back(line); });
  logger.Info("job started", {{"job", "default/hello"}, {"index", 3}, {"bytes", uint64_t{7}}});
  logger.Debug("x");
  logger.Warning("x");
  logger.Error("x");
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(AfterTime(lines[0]),
            "level=info msg=\"job started\" job=default/hello index=3 bytes=7\n");
  EXPECT_EQ(AfterTime(lines[1]), "level=debug msg=x\n");
  EXPECT_EQ(AfterTime(lines[2]), "level=warning msg=x\n");
  EXPECT_EQ(AfterTime(lines[3]), "level=error msg=x\n");
}

TEST(Logger, QuotesWhatWouldBeMisread) {
  struct Case {
    const char* value;
    const char* written;
    const char* because;
  };
  const Case cases[] = {
      {"plain", "plain", "nothing to quote"},
      {"/a/b:c,d", "/a/b:c,d", "punctuation is plain"},
      {"", R"("")", "an empty value must be seen"},
      {"a b", R"("a b")", "a space"},
      {"a=b", R"("a=b")", "an equals sign"},
      {"say \"x\"", R"("say \"x\"")", "quotes"},
      {"c:\\d", R"("c:\\d")", "a backslash"},
      {"one\ntwo", R"("one\ntwo")", "a line feed cannot forge a line"},
      {"\x1b[31m", R"("\u001b[31m")", "nor an escape colour a terminal"},
      {"caf\xC3\xA9", "\"caf\xC3\xA9\"", "UTF-8"},
      {"bad\xFF", "\"bad\xEF\xBF\xBD\"", "what is no UTF-8 is replaced"},
  };
  std::string line;
  Logger logger(LogLevel::kInfo, [&](std::string_view text) { line = text; });
  for (const Case& c : cases) {
    logger.Info("m", {{"k", c.value}});
    EXPECT_EQ(AfterTime(line), "level=info msg=m k=" + std::string(c.written) + "\n") << c.because;
  }
}

TEST(Logger, LeavesOutWhatIsBelowItsLevel) {
  std::vector<std::string> lines;
  Logger logger(LogLevel::kWarning, [&](std::string_view line) { lines.emplace_back(line); });
  logger.Debug("a");
  logger.Info("b");
  logger.Warning("c");
  logger.Error("d");
  EXPECT_EQ(lines.size(), 2u);
}

TEST(Logger, CallsItsSinkWithOneLineAtATime) {
  std::string all;  // Unguarded: the thread sanitizer sees it if two calls overlap.
  Logger logger(LogLevel::kInfo, [&](std::string_view line) { all += line; });
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 250; ++i) logger.Info("x");
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 1000);
}

TEST(Logger, WritesWholeLinesToStandardError) {
  testing::internal::CaptureStderr();
  StandardErrorSink()("a line\n");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "a line\n");
}

}  // namespace
}  // namespace detent
