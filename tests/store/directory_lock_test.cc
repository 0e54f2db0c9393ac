#include "core/store/directory_lock.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "tests/store/store_fixture.h"

namespace detent {
namespace {

TEST(DirectoryLock, NamesTheProcessThatHoldsIt) {
  const TemporaryDirectory directory;
  const std::string path = directory.Inside("deep/data");
  {
    Result<DirectoryLock> lock = DirectoryLock::Acquire(path);
    ASSERT_TRUE(lock) << lock.error().message();
    const DirectoryLock moved = *std::move(lock);
    const Result<DirectoryLock> second = DirectoryLock::Acquire(path);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code(), Code::kUnavailable);
    EXPECT_EQ(second.error().message(),
              "data directory " + path + " is in use by process " + std::to_string(getpid()));
  }
  EXPECT_TRUE(DirectoryLock::Acquire(path)) << "free again, though the file is still there";
}

TEST(DirectoryLock, HidesADirectoryThatItMakes) {
  const TemporaryDirectory directory;
  const std::string path = directory.Inside("data");
  ASSERT_TRUE(DirectoryLock::Acquire(path));
  EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms::owner_all);
}

TEST(DirectoryLock, SaysWhyItCannotBeHad) {
  const TemporaryDirectory directory;
  std::ofstream(directory.Inside("file")) << "no directory";
  const Result<DirectoryLock> lock = DirectoryLock::Acquire(directory.Inside("file"));
  ASSERT_FALSE(lock);
  EXPECT_EQ(lock.error().code(), Code::kUnavailable);
  EXPECT_NE(lock.error().message().find(directory.Inside("file")), std::string::npos);
}

}  // namespace
}  // namespace detent
