// What the tidy rules look at: the files of the repository as git sees them (tracked, and new ones
// that are not ignored), with comments and literals blanked out for rules that speak about code.
// Rules are pure functions from these to findings, so each can be tested on a snippet. Everything
// here is used by one thread.

#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace detent::tidy {

struct SourceFile {
  std::string path;  // From the repository's root, with '/'.
  std::string text;
  std::vector<std::string> lines;
  // As `lines`, with the contents of comments and literals replaced by spaces. Filled for C and C++
  // only.
  std::vector<std::string> code;

  bool IsHeader() const;
  bool IsCode() const;  // C or C++, header or source.
  bool IsUnder(std::string_view directory) const;
};

// One breach of one rule. `line` counts from 1; 0 means the file as a whole.
struct Finding {
  std::string path;
  int line = 0;
  std::string message;
};
using Findings = std::vector<Finding>;

struct Include {
  int line = 0;
  std::string name;  // As written between the quotes or brackets.
  bool quoted = false;
};

class SourceTree {
 public:
  SourceTree() = default;
  explicit SourceTree(std::vector<SourceFile> files);

  const std::vector<SourceFile>& files() const { return files_; }
  const SourceFile* Find(std::string_view path) const;

  // The repository path that an #include in `from` means: beside the file (quoted form only), then
  // from the root, from include/ and from sdk/cpp/. Empty when it is no file of ours.
  std::string Resolve(const SourceFile& from, const Include& include) const;

 private:
  std::vector<SourceFile> files_;  // Sorted by path.
  std::set<std::string, std::less<>> paths_;
};

// Reads the checkout this test was configured from. Where git is absent, walks the directory
// without build trees.
SourceTree LoadRepository();

SourceFile MakeFile(std::string path, std::string text);

// The text with the contents of comments, strings and characters replaced by spaces; line breaks
// stay.
std::string BlankCommentsAndLiterals(std::string_view text);

std::vector<Include> IncludesOf(const SourceFile& file);

// Whether `needle` stands in `line` as a word of its own: not as part of a longer identifier.
bool HasWord(std::string_view line, std::string_view needle);

// Shell-style match of a path, where '*' does not cross a '/'.
bool MatchesPath(std::string_view pattern, const std::string& path);

// The findings, one a line, as compilers print them; empty when there are none.
std::string Report(const Findings& findings);

// Applies a rule for single files to the whole repository.
template <typename Rule>
Findings CheckAll(const SourceTree& tree, Rule rule) {
  Findings all;
  for (const SourceFile& file : tree.files()) {
    for (Finding& finding : rule(file)) all.push_back(std::move(finding));
  }
  return all;
}

}  // namespace detent::tidy
