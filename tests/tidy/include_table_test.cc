// Dependencies point downwards: the table in ARCHITECTURE.md is the rule, and every #include is
// held against it.

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "tests/tidy/source_tree.h"

namespace detent::tidy {
namespace {

struct Row {
  std::string directory;             // "core/base", or "plugins/*" for each directory below.
  std::vector<std::string> allowed;  // Directories, files, or "core/*" for all below.
};
using Table = std::vector<Row>;

// Rows are the indented "directory: ..." lines between the heading "Include table" and the next
// heading.
Table ParseTable(const SourceFile& document) {
  Table table;
  bool inside = false;
  for (const std::string& line : document.lines) {
    if (line.starts_with("#")) inside = line.find("Include table") != std::string::npos;
    std::istringstream words(line);
    std::string first;
    words >> first;
    if (!inside || !line.starts_with("    ") || !first.ends_with(":")) continue;
    Row row{first.substr(0, first.size() - 1), {}};
    for (std::string word; words >> word;) {
      if (word != "-") row.allowed.push_back(word);
    }
    table.push_back(std::move(row));
  }
  return table;
}

bool Covers(const std::string& entry, const std::string& path) {
  const bool all_below = entry.ends_with("/*");
  const std::string prefix = all_below ? entry.substr(0, entry.size() - 1) : entry + "/";
  return path == entry || path.starts_with(prefix);
}

// The row for a file, and the directory it counts as: for "plugins/*" the plugin's own.
std::optional<std::pair<const Row*, std::string>> RowFor(const Table& table,
                                                         const std::string& path) {
  for (const Row& row : table) {
    if (!Covers(row.directory, path)) continue;
    if (!row.directory.ends_with("/*")) return std::pair(&row, row.directory);
    return std::pair(&row, path.substr(0, path.find('/', row.directory.size() - 1)));
  }
  return std::nullopt;
}

Findings CheckIncludes(const Table& table, const SourceTree& tree, const SourceFile& file) {
  Findings findings;
  const bool ruled = file.IsUnder("include") || file.IsUnder("sdk") || file.IsUnder("core") ||
                     file.IsUnder("plugins");
  if (!ruled || !file.IsCode()) return findings;
  const auto found = RowFor(table, file.path);
  if (!found) {
    return {{file.path, 0, "its directory has no row in ARCHITECTURE.md's include table"}};
  }
  const auto& [row, own] = *found;
  for (const Include& include : IncludesOf(file)) {
    const std::string target = tree.Resolve(file, include);
    if (target.empty()) {
      if (include.quoted) {
        findings.push_back({file.path, include.line,
                            "no file of the repository is \"" + include.name +
                                "\"; other people's headers are written with <>"});
      }
      continue;
    }
    const bool allowed =
        Covers(own, target) ||
        std::any_of(row->allowed.begin(), row->allowed.end(),
                    [&](const std::string& entry) { return Covers(entry, target); });
    if (allowed) continue;
    findings.push_back({file.path, include.line,
                        own + " may not include " + target + " (include table, ARCHITECTURE.md)"});
  }
  return findings;
}

Table RepositoryTable(const SourceTree& tree) {
  const SourceFile* document = tree.Find("ARCHITECTURE.md");
  return document == nullptr ? Table{} : ParseTable(*document);
}

TEST(IncludeTable, EveryIncludeInTheRepositoryPointsDownwards) {
  const SourceTree tree = LoadRepository();
  const Table table = RepositoryTable(tree);
  ASSERT_GE(table.size(), 10u) << "ARCHITECTURE.md has lost its include table";
  EXPECT_EQ(Report(CheckAll(
                tree, [&](const SourceFile& file) { return CheckIncludes(table, tree, file); })),
            "");
}

TEST(IncludeTable, SeesAnUpwardASiblingAndAnUnknownInclude) {
  const Table table = ParseTable(MakeFile("ARCHITECTURE.md",
                                          "## Include table\n"
                                          "    core/base: -\n"
                                          "    core/api:  core/base\n"
                                          "    core/up:   core/api/job.h\n"
                                          "    plugins/*: include/detent\n"
                                          "## Next\n"
                                          "    core/late: core/base\n"));
  ASSERT_EQ(table.size(), 4u);
  const SourceTree tree({MakeFile("core/base/result.h", ""), MakeFile("core/api/job.h", ""),
                         MakeFile("core/api/other.h", ""), MakeFile("plugins/a/spec.h", ""),
                         MakeFile("include/detent/types.h", "")});
  struct Case {
    const char* path;
    const char* text;
    size_t findings;
    const char* because;
  };
  const Case cases[] = {
      {"core/api/job.cc", "#include \"core/base/result.h\"\n", 0, "downwards is allowed"},
      {"core/base/result.cc", "#include \"core/api/job.h\"\n", 1, "upwards is not"},
      {"core/up/x.cc", "#include \"core/api/job.h\"\n", 0, "a single file may be named"},
      {"core/up/x.cc", "#include \"core/api/other.h\"\n", 1, "and then only that one"},
      {"plugins/a/spec.cc", "#include \"plugins/a/spec.h\"\n", 0, "its own folder"},
      {"plugins/b/spec.cc", "#include \"plugins/a/spec.h\"\n", 1, "not a sibling's"},
      {"plugins/b/spec.cc", "#include <detent/types.h>\n", 0, "the ABI, in either form"},
      {"plugins/b/spec.cc", "#include \"core/base/result.h\"\n", 1, "never the core"},
      {"core/api/job.cc", "#include \"curl/curl.h\"\n", 1, "quotes are for our own files"},
      {"core/late/x.cc", "", 1, "a directory without a row"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(CheckIncludes(table, tree, MakeFile(c.path, c.text)).size(), c.findings) << c.because;
  }
}

}  // namespace
}  // namespace detent::tidy
