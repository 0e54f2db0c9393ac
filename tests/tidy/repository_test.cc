// What may not be in the repository at all: machine paths, secrets, unfinished marks, drawers, and
// files of core/base or lines of ARCHITECTURE.md beyond what was agreed.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include "tests/tidy/source_tree.h"

namespace detent::tidy {
namespace {

struct Forbidden {
  std::string text;
  std::string_view because;
};

// The texts are put together here, so that this file does not contain them.
const std::vector<Forbidden>& ForbiddenTexts() {
  constexpr std::string_view kMachine = "a path of one machine";
  constexpr std::string_view kRegistry = "the host of a package registry; leave that to the client";
  constexpr std::string_view kUnfinished =
      "finish it, or say in a sentence what is not done and why";
  static const std::vector<Forbidden> texts = {
      {std::string("/wo") + "rk/", kMachine},
      {std::string("/tmp") + "/w/", kMachine},
      {std::string("/ro") + "ot/", kMachine},
      {std::string("/fa") + "rm/", kMachine},
      {std::string("PRIVATE") + " KEY-----", "a private key; make one when the test runs"},
      {std::string("proxy.golang") + ".org", kRegistry},
      {std::string("pypi") + ".org", kRegistry},
      {std::string("pythonhosted") + ".org", kRegistry},
      {std::string("npmjs") + ".org", kRegistry},
      {std::string("crates") + ".io", kRegistry},
      {std::string("deb.debian") + ".org", kRegistry},
      {std::string("FIX") + "ME", kUnfinished},
      {std::string("TO") + "DO", kUnfinished},
      {std::string("XX") + "X", kUnfinished},
  };
  return texts;
}

// A path is meant only where it begins: "$build/x/" is somebody else's.
bool HasForbidden(std::string_view line, const std::string& text) {
  if (text[0] != '/') return HasWord(line, text);
  for (size_t at = line.find(text); at != std::string_view::npos; at = line.find(text, at + 1)) {
    if (at == 0 ||
        std::string_view(" \t\"'`=:(,[<>").find(line[at - 1]) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

Findings CheckForbiddenTexts(const SourceFile& file) {
  Findings findings;
  // go.mod and go.sum name modules by their import path, which may look like a host's name.
  if (file.path == "LICENSE" || file.path.ends_with("go.sum") || file.path.ends_with("go.mod")) {
    return findings;
  }
  for (size_t i = 0; i < file.lines.size(); ++i) {
    for (const Forbidden& forbidden : ForbiddenTexts()) {
      if (!HasForbidden(file.lines[i], forbidden.text)) continue;
      findings.push_back({file.path, static_cast<int>(i + 1),
                          "\"" + forbidden.text + "\": " + std::string(forbidden.because)});
    }
  }
  return findings;
}

Findings CheckDrawers(const SourceFile& file) {
  for (const std::filesystem::path& part : std::filesystem::path(file.path)) {
    const std::string stem = part.stem().string();
    for (const std::string drawer :
         {"util", "utils", "helper", "helpers", "common", "misc", "shared", "manager"}) {
      if (stem != drawer && !stem.ends_with("_" + drawer)) continue;
      return {{file.path, 0, "\"" + drawer + "\" says nothing; name the idea"}};
    }
  }
  return {};
}

// The words of the indented block below the heading that names core/base.
std::set<std::string> ClosedList(const SourceFile& document) {
  std::set<std::string> names;
  bool inside = false;
  for (const std::string& line : document.lines) {
    if (line.starts_with("#")) inside = line.find("core/base") != std::string::npos;
    if (!inside || !line.starts_with("    ")) continue;
    std::istringstream words(line);
    for (std::string word; words >> word;) names.insert(word);
  }
  return names;
}

Findings CheckClosedList(const std::set<std::string>& names, const SourceFile& file) {
  if (!file.IsUnder("core/base") || !file.IsCode()) return {};
  const std::string stem = std::filesystem::path(file.path).stem().string();
  if (names.contains(stem)) return {};
  return {{file.path, 0,
           "core/base is a closed list: argue for \"" + stem +
               "\" in ARCHITECTURE.md, or put it where its idea lives"}};
}

TEST(Repository, HasNoForbiddenText) {
  EXPECT_EQ(Report(CheckAll(LoadRepository(), CheckForbiddenTexts)), "");
}

TEST(Repository, HasNoDrawers) {
  EXPECT_EQ(Report(CheckAll(LoadRepository(), CheckDrawers)), "");
}

TEST(Repository, CoreBaseIsAClosedList) {
  const SourceTree tree = LoadRepository();
  const SourceFile* document = tree.Find("ARCHITECTURE.md");
  ASSERT_NE(document, nullptr);
  const std::set<std::string> names = ClosedList(*document);
  ASSERT_FALSE(names.empty()) << "ARCHITECTURE.md has lost its list of core/base";
  EXPECT_EQ(
      Report(CheckAll(tree, [&](const SourceFile& file) { return CheckClosedList(names, file); })),
      "");
}

TEST(Repository, ArchitectureFitsOneScreen) {
  const SourceTree tree = LoadRepository();
  const SourceFile* document = tree.Find("ARCHITECTURE.md");
  ASSERT_NE(document, nullptr);
  EXPECT_LE(document->lines.size(), 60u);
}

TEST(Repository, SeesEachForbiddenText) {
  for (const Forbidden& forbidden : ForbiddenTexts()) {
    const std::string line = "a " + forbidden.text + " b\n";
    EXPECT_GE(CheckForbiddenTexts(MakeFile("docs/x.md", line)).size(), 1u) << forbidden.text;
  }
  const std::string inner = "cd $build" + ForbiddenTexts()[0].text + "\n";
  EXPECT_EQ(Report(CheckForbiddenTexts(MakeFile("run.sh", inner))), "");
}

TEST(Repository, SeesDrawersInFilesAndFolders) {
  EXPECT_EQ(CheckDrawers(MakeFile("core/base/string_util.h", "")).size(), 1u);
  EXPECT_EQ(CheckDrawers(MakeFile("core/common/x.h", "")).size(), 1u);
  EXPECT_EQ(CheckDrawers(MakeFile("core/plugin/shared_object.cc", "")).size(), 0u);
}

TEST(Repository, SeesAFileBeyondTheClosedList) {
  const std::set<std::string> names = ClosedList(
      MakeFile("ARCHITECTURE.md", "## core/base\ntext\n\n    clock result\n## x\n    y\n"));
  EXPECT_EQ(names, (std::set<std::string>{"clock", "result"}));
  EXPECT_EQ(CheckClosedList(names, MakeFile("core/base/clock.h", "")).size(), 0u);
  EXPECT_EQ(CheckClosedList(names, MakeFile("core/base/bag.h", "")).size(), 1u);
}

}  // namespace
}  // namespace detent::tidy
