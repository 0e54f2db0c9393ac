#include "tests/tidy/source_tree.h"

#include <gtest/gtest.h>

namespace detent::tidy {
namespace {

TEST(SourceTree, BlanksCommentsAndLiteralsAndKeepsTheCode) {
  struct Row {
    const char* text;
    const char* blanked;
    const char* because;
  };
  const Row rows[] = {
      {"a; // b\nc", "a;     \nc", "a line comment ends with its line"},
      {"a /* b\nc */ d", "a     \n     d", "a block comment keeps its line breaks"},
      {"f(\"x\\\"y\") + g", "f(      ) + g", "an escaped quote does not end a string"},
      {"R\"(\"a//)\" b", "          b", "a raw string ends at its own delimiter"},
      {"1'000'000 + 'x' + b", "1'000'000 +     + b", "a digit separator opens nothing"},
      {"\"//\" + c", "     + c", "slashes inside a string are no comment"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(BlankCommentsAndLiterals(row.text), row.blanked) << row.because;
  }
}

TEST(SourceTree, FindsIncludesButNotThoseInComments) {
  const SourceFile file =
      MakeFile("core/x/a.cc", "#include \"core/x/a.h\"\n// #include \"b.h\"\n#  include <c/d.h>\n");
  const std::vector<Include> includes = IncludesOf(file);
  ASSERT_EQ(includes.size(), 2u);
  EXPECT_EQ(includes[0].name, "core/x/a.h");
  EXPECT_TRUE(includes[0].quoted);
  EXPECT_EQ(includes[1].name, "c/d.h");
  EXPECT_EQ(includes[1].line, 3);
}

TEST(SourceTree, ResolvesAnIncludeBesideTheFileThenFromTheRoots) {
  const SourceTree tree({MakeFile("plugins/a/spec.h", ""), MakeFile("include/detent/types.h", ""),
                         MakeFile("sdk/cpp/detent/sdk/task.h", "")});
  const SourceFile from = MakeFile("plugins/a/spec.cc", "");
  EXPECT_EQ(tree.Resolve(from, {1, "spec.h", true}), "plugins/a/spec.h");
  EXPECT_EQ(tree.Resolve(from, {1, "spec.h", false}), "");
  EXPECT_EQ(tree.Resolve(from, {1, "detent/types.h", true}), "include/detent/types.h");
  EXPECT_EQ(tree.Resolve(from, {1, "detent/sdk/task.h", false}), "sdk/cpp/detent/sdk/task.h");
}

TEST(SourceTree, MatchesWholeWordsOnly) {
  EXPECT_TRUE(HasWord("x = rand();", "rand("));
  EXPECT_FALSE(HasWord("x = operand();", "rand("));
  EXPECT_FALSE(HasWord("sleep_forever", "sleep_for"));
}

TEST(SourceTree, LoadsTheRepositoryItWasConfiguredFrom) {
  EXPECT_NE(LoadRepository().Find("CMakeLists.txt"), nullptr);
}

}  // namespace
}  // namespace detent::tidy
