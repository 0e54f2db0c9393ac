// Calls that make behaviour depend on what a test cannot control, each with what to use instead.

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/tidy/source_tree.h"

namespace detent::tidy {
namespace {

struct Ban {
  std::string_view word;
  std::string_view instead;
  std::vector<std::string_view> only_under;  // Directories it holds in; empty: all code.
  std::string_view exempt = "";              // The one file that wraps it.
};

// Time is an argument in the core. Plugins live behind the ABI, and tests measure: both may read a
// clock.
const std::vector<Ban>& Bans() {
  constexpr std::string_view kClock = "core/base/clock.h, or take `now` as an argument";
  constexpr std::string_view kRandom = "core/base/random.h";
  constexpr std::string_view kWait = "a timer, or waiting on the condition itself";
  constexpr std::string_view kOrder =
      "std::map or a sorted vector: decisions must not depend on hash order";
  static const std::vector<Ban> bans = {
      {"system_clock::now", kClock, {"core", "include"}, "core/base/clock.cc"},
      {"steady_clock::now", kClock, {"core", "include"}, "core/base/clock.cc"},
      {"high_resolution_clock", kClock, {"core", "include"}, "core/base/clock.cc"},
      {"std::time(", kClock, {"core", "include"}, "core/base/clock.cc"},
      {"time(nullptr)", kClock, {"core", "include"}, "core/base/clock.cc"},
      {"clock_gettime(", kClock, {"core", "include"}, "core/base/clock.cc"},
      {"gettimeofday(", kClock, {"core", "include"}, "core/base/clock.cc"},
      {"sleep_for", kWait, {}},
      {"sleep_until", kWait, {}},
      {"usleep(", kWait, {}},
      {"nanosleep(", kWait, {}},
      {"sleep(", kWait, {}},
      {"rand(", kRandom, {}, "core/base/random.cc"},
      {"srand(", kRandom, {}, "core/base/random.cc"},
      {"random_device", kRandom, {}, "core/base/random.cc"},
      {"unordered_map", kOrder, {"core/sched", "core/control"}},
      {"unordered_set", kOrder, {"core/sched", "core/control"}},
      {"unordered_multimap", kOrder, {"core/sched", "core/control"}},
      {"unordered_multiset", kOrder, {"core/sched", "core/control"}},
  };
  return bans;
}

// A member of the same name (`child.sleep(...)`) is another function.
bool Calls(std::string_view line, std::string_view word) {
  if (!HasWord(line, word)) return false;
  if (word.back() != '(') return true;
  const size_t at = line.find(word);
  return at == 0 || (line[at - 1] != '.' && line[at - 1] != '>');
}

Findings CheckBans(const SourceFile& file) {
  Findings findings;
  for (const Ban& ban : Bans()) {
    const bool holds =
        ban.only_under.empty() ||
        std::any_of(ban.only_under.begin(), ban.only_under.end(),
                    [&](std::string_view directory) { return file.IsUnder(directory); });
    if (!holds || file.path == ban.exempt) continue;
    for (size_t i = 0; i < file.code.size(); ++i) {
      if (!Calls(file.code[i], ban.word)) continue;
      findings.push_back(
          {file.path, static_cast<int>(i + 1),
           std::string(ban.word) + " is banned here; use " + std::string(ban.instead)});
    }
  }
  return findings;
}

TEST(Banned, NoCallInTheRepositoryIsBanned) {
  EXPECT_EQ(Report(CheckAll(LoadRepository(), CheckBans)), "");
}

TEST(Banned, SeesEachBannedCallAndLeavesTheRest) {
  struct Row {
    const char* path;
    const char* text;
    size_t findings;
    const char* because;
  };
  const Row rows[] = {
      {"core/sched/x.cc", "auto n = std::chrono::system_clock::now();", 1, "time is injected"},
      {"core/base/clock.cc", "auto n = std::chrono::system_clock::now();", 0, "the wrapper"},
      {"plugins/http/x.cc", "auto n = std::chrono::steady_clock::now();", 0, "beyond the ABI"},
      {"core/http/x.cc", "const auto t = std::time(nullptr);", 2, "both spellings"},
      {"tests/e2e/x.cc", "std::this_thread::sleep_for(5ms);", 1, "tests do not sleep either"},
      {"plugins/exec/x.cc", "  usleep(10);", 1, "nor plugins"},
      {"plugins/exec/x.cc", "// sleep(10) is what the child does", 0, "a comment calls nothing"},
      {"plugins/exec/x.cc", "Run(\"sleep(10)\");", 0, "nor does a string"},
      {"plugins/exec/x.cc", "child.sleep(10);", 0, "a member is another function"},
      {"core/net/x.cc", "std::random_device seed;", 1, "randomness is injected"},
      {"core/base/random.cc", "std::random_device seed;", 0, "the wrapper"},
      {"core/sched/x.h", "#include <unordered_map>", 1, "order decides there"},
      {"core/store/x.h", "#include <unordered_map>", 0, "not elsewhere"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(CheckBans(MakeFile(row.path, row.text)).size(), row.findings) << row.because;
  }
}

}  // namespace
}  // namespace detent::tidy
