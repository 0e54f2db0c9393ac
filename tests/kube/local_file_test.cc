#include "core/kube/local_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace detent {
namespace {

class LocalFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = std::filesystem::temp_directory_path() / "detent-file-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    home_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(home_); }
  std::string home_;
};

TEST_F(LocalFile, ReadsAllBytes) {
  const std::string text = std::string(200'000, 'x') + std::string("\0\n", 2);
  std::ofstream(home_ + "/f", std::ios::binary) << text;
  auto read = ReadLocalFile(home_ + "/f");
  ASSERT_TRUE(read);
  EXPECT_TRUE(*read == text);
}

TEST_F(LocalFile, SaysWhyThereIsNothingToRead) {
  std::ofstream(home_ + "/f") << "x";
  std::ofstream(home_ + "/big") << "x";
  std::filesystem::resize_file(home_ + "/big", kLocalFileBytesMax + 1);
  const struct {
    std::string path;
    Code code;
    const char* because;
  } rows[] = {
      {home_ + "/none", Code::kNotFound, "there is none"},
      {home_, Code::kInvalid, "a directory opens, but cannot be read"},
      {home_ + "/f/g", Code::kInvalid, "a file has nothing below it"},
      {home_ + "/big", Code::kTooLarge, "over the limit"},
  };
  for (const auto& row : rows) {
    auto read = ReadLocalFile(row.path);
    ASSERT_FALSE(read) << row.because;
    EXPECT_EQ(read.error().code(), row.code) << row.because;
    EXPECT_NE(read.error().message().find("'" + row.path + "'"), std::string::npos) << row.because;
  }
}

TEST_F(LocalFile, ReadsAPipeToItsEnd) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(write(ends[1], "abc", 3), 3);
  close(ends[1]);
  auto read = ReadLocalFile("/dev/fd/" + std::to_string(ends[0]));
  close(ends[0]);
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, "abc");
}

}  // namespace
}  // namespace detent
