// Kills a process that writes, at any moment, and looks at what is left: everything that was
// acknowledged, and nothing by halves.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "tests/store/store_fixture.h"

namespace detent {
namespace {

constexpr int kRounds = 20;
constexpr int kInFlight = 32;
constexpr int kNames = 40;

// What a child tells of each transaction: small enough for one write to a pipe to be whole.
struct Acknowledged {
  int32_t name = 0;
  int32_t counter = 0;
  int64_t version = 0;  // Of "left", the first object of the two.
};

// Writes pairs of objects for ever; each transaction sets both to the same counter.
[[noreturn]] void WriteUntilKilled(const std::string& directory, int round, int pipe_end) {
  const auto store = OpenSqlite(directory);
  std::mutex mutex;
  std::condition_variable answered;
  int in_flight = 0;
  for (int32_t i = 0;; ++i) {
    {
      std::unique_lock lock(mutex);
      answered.wait(lock, [&] { return in_flight < kInFlight; });
      ++in_flight;
    }
    Transaction transaction;
    const int32_t name = i % kNames;
    for (const char* side : {"left-", "right-"}) {
      std::shared_ptr<Object> object = MakeObject(side + std::to_string(name));
      object->status = std::to_string(round) + "/" + std::to_string(i);
      const bool first = round == 0 && i < kNames;
      transaction.push_back(first ? CreateOf(object) : UpdateOf(object));
    }
    store->Submit(std::move(transaction), [&, name, i](Result<Committed> result) {
      if (!result) _exit(3);
      const Acknowledged told{name, i, result->objects[0]->meta.resource_version};
      if (write(pipe_end, &told, sizeof(told)) != sizeof(told)) _exit(4);
      const std::lock_guard lock(mutex);
      --in_flight;
      answered.notify_one();
    });
  }
}

// Reads `enough` reports, kills the child, and reads what it still got out.
std::map<int32_t, Acknowledged> KillAfter(pid_t child, int pipe_end, uint64_t enough) {
  std::map<int32_t, Acknowledged> newest;
  Acknowledged told;
  uint64_t count = 0;
  while (read(pipe_end, &told, sizeof(told)) == sizeof(told)) {
    newest[told.name] = told;
    if (++count == enough) kill(child, SIGKILL);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the child gave up by itself: " << WEXITSTATUS(status);
  return newest;
}

void CheckRound(const std::string& directory, int round,
                const std::map<int32_t, Acknowledged>& newest) {
  const auto store = OpenSqlite(directory);
  for (const auto& [name, told] : newest) {
    const std::string number = std::to_string(name);
    const auto left = store->Read({Kind::kJob, "default", "left-" + number});
    const auto right = store->Read({Kind::kJob, "default", "right-" + number});
    ASSERT_TRUE(left && right) << "round " << round << ": " << number << " is lost";
    EXPECT_EQ((*left)->status, (*right)->status) << "a transaction by halves";
    // More than was told may be there: the child died before it could tell.
    EXPECT_GE((*left)->meta.resource_version, told.version) << "round " << round;
    if ((*left)->meta.resource_version == told.version) {
      EXPECT_EQ((*left)->status, std::to_string(round) + "/" + std::to_string(told.counter));
    }
    EXPECT_GE(store->changes(Kind::kJob).version(), (*right)->meta.resource_version);
  }
}

TEST(SqliteCrash, EveryAcknowledgedWriteSurvivesAKill) {
  const TemporaryDirectory directory;
  SeededRandom random(20261121);
  for (int round = 0; round < kRounds && !HasFailure(); ++round) {
    SCOPED_TRACE(round);
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      close(ends[0]);
      WriteUntilKilled(directory.path(), round, ends[1]);
    }
    close(ends[1]);
    // The first round must get as far as creating all names.
    const uint64_t enough = kNames + 1 + random.Below(400);
    const auto newest = KillAfter(child, ends[0], enough);
    close(ends[0]);
    CheckRound(directory.path(), round, newest);
  }
}

}  // namespace
}  // namespace detent
