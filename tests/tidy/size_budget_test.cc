// What a reader can hold in the head at once: lines of a file, of a function, columns. Split by
// idea, not by length.

#include <gtest/gtest.h>

#include "tests/tidy/source_tree.h"

namespace detent::tidy {
namespace {

constexpr size_t kHeaderLines = 200;
constexpr size_t kSourceLines = 500;
constexpr int kFunctionLines = 70;
constexpr int kColumns = 100;

bool IsProduct(const SourceFile& file) {
  return file.IsUnder("include") || file.IsUnder("sdk") || file.IsUnder("core") ||
         file.IsUnder("plugins");
}

Findings CheckFileLength(const SourceFile& file) {
  if (!file.IsCode() || !IsProduct(file)) return {};
  const size_t budget = file.IsHeader() ? kHeaderLines : kSourceLines;
  if (file.lines.size() <= budget) return {};
  return {{file.path, 0,
           std::to_string(file.lines.size()) + " lines; the budget is " + std::to_string(budget) +
               ", split it by idea"}};
}

int CodePoints(const std::string& line) {
  int count = 0;
  for (const char c : line) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
  return count;
}

Findings CheckColumns(const SourceFile& file) {
  Findings findings;
  if (!file.IsCode()) return findings;
  for (size_t i = 0; i < file.lines.size(); ++i) {
    // A link cannot be broken.
    if (file.lines[i].find("://") != std::string::npos) continue;
    const int columns = CodePoints(file.lines[i]);
    if (columns <= kColumns) continue;
    findings.push_back(
        {file.path, static_cast<int>(i + 1),
         std::to_string(columns) + " columns; the budget is " + std::to_string(kColumns)});
  }
  return findings;
}

// Functions are found by the layout that clang-format gives: a signature that begins in column 0,
// and a lone `}` there.
Findings CheckFunctionLength(const SourceFile& file) {
  Findings findings;
  std::string signature;
  int opened = 0;  // The line whose '{' opens the body; 0 outside of one.
  for (size_t i = 0; i < file.code.size(); ++i) {
    const std::string& line = file.code[i];
    const int number = static_cast<int>(i + 1);
    const size_t last = line.find_last_not_of(" \t");
    if (last == std::string::npos || line[0] == '#') continue;
    if (line[0] == '}') {
      const int body = number - opened - 1;
      if (last == 0 && opened > 0 && body > kFunctionLines) {
        findings.push_back({file.path, opened,
                            "a function of " + std::to_string(body) + " lines; the budget is " +
                                std::to_string(kFunctionLines)});
      }
      opened = 0;
      signature.clear();
      continue;
    }
    if (opened > 0) continue;
    signature += line.substr(0, last + 1);
    if (line[last] == '{' && signature.find('(') != std::string::npos) opened = number;
    if (line[last] == '{' || line[last] == ';' || line[last] == '}') signature.clear();
  }
  return findings;
}

std::string Repeat(const std::string& text, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += text;
  return out;
}

TEST(SizeBudget, EveryFileKeepsIt) {
  EXPECT_EQ(Report(CheckAll(LoadRepository(), CheckFileLength)), "");
}

TEST(SizeBudget, EveryLineKeepsIt) {
  EXPECT_EQ(Report(CheckAll(LoadRepository(), CheckColumns)), "");
}

TEST(SizeBudget, EveryFunctionKeepsIt) {
  EXPECT_EQ(Report(CheckAll(LoadRepository(), CheckFunctionLength)), "");
}

TEST(SizeBudget, SeesALongHeaderAndALongSource) {
  EXPECT_EQ(CheckFileLength(MakeFile("core/a/b.h", Repeat("//\n", kHeaderLines))).size(), 0u);
  EXPECT_EQ(CheckFileLength(MakeFile("core/a/b.h", Repeat("//\n", kHeaderLines + 1))).size(), 1u);
  EXPECT_EQ(CheckFileLength(MakeFile("sdk/a/b.cc", Repeat("//\n", kSourceLines + 1))).size(), 1u);
}

TEST(SizeBudget, CountsColumnsInCharactersNotBytes) {
  EXPECT_EQ(CheckColumns(MakeFile("core/a.h", Repeat("\xC3\xA9", kColumns))).size(), 0u);
  EXPECT_EQ(CheckColumns(MakeFile("core/a.h", Repeat("e", kColumns + 1))).size(), 1u);
}

TEST(SizeBudget, SeesALongFunctionInsideNamespaces) {
  const std::string before = "namespace a {\nnamespace {\nstruct S {\n  int x;\n};\n";
  const std::string after = "}\n}  // namespace\n}  // namespace a\n";
  const auto function = [&](size_t lines) {
    return MakeFile("core/a.cc", before + "void F(int a,\n       int b) {\n" +
                                     Repeat("  g();\n", lines) + after);
  };
  EXPECT_EQ(Report(CheckFunctionLength(function(kFunctionLines))), "");
  EXPECT_EQ(CheckFunctionLength(function(kFunctionLines + 1)).size(), 1u);
}

TEST(SizeBudget, ATableIsNoFunction) {
  const std::string table = "const int kTable[] = {\n" + Repeat("    1,\n", 200) + "};\n";
  EXPECT_EQ(Report(CheckFunctionLength(MakeFile("core/a.cc", table))), "");
}

}  // namespace
}  // namespace detent::tidy
