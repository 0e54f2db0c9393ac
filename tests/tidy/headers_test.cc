// A header can be read and included alone: it says what it is for, guards itself, and compiles with
// nothing before it.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <mutex>
#include <set>
#include <thread>

#include "tests/tidy/source_tree.h"

namespace detent::tidy {
namespace {

bool IsGuard(const std::string& line) {
  return line.starts_with("#pragma once") || line.starts_with("#ifndef") ||
         line.starts_with("#define");
}

// The first thing a reader sees, before or right after the guard, is a sentence.
Findings CheckOpening(const SourceFile& file) {
  if (!file.IsHeader()) return {};
  for (const std::string& line : file.lines) {
    if (line.empty() || IsGuard(line)) continue;
    if (line.starts_with("//") || line.starts_with("/*")) return {};
    break;
  }
  return {{file.path, 1, "a header opens with a comment that says what it is for"}};
}

Findings CheckGuard(const SourceFile& file) {
  if (!file.IsHeader()) return {};
  for (size_t i = 0; i < file.code.size(); ++i) {
    const std::string& line = file.code[i];
    if (line.find_first_not_of(" \t") == std::string::npos) continue;
    if (line.starts_with("#pragma once")) return {};
    const bool defines = i + 1 < file.code.size() && file.code[i + 1].starts_with("#define");
    if (line.starts_with("#ifndef") && defines) return {};
    break;
  }
  return {{file.path, 1, "no #pragma once (or, in a C header, no include guard)"}};
}

uint64_t Fnv1a(uint64_t hash, std::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

void CollectReached(const SourceTree& tree, const SourceFile& file,
                    std::set<std::string>& reached) {
  if (!reached.insert(file.path).second) return;
  for (const Include& include : IncludesOf(file)) {
    const SourceFile* next = tree.Find(tree.Resolve(file, include));
    if (next != nullptr) CollectReached(tree, *next, reached);
  }
}

// A header is compiled again only when it, or one of ours that it reaches, has changed.
struct Compilation {
  std::string path;
  std::string command;
  std::string key;  // Names the command and everything it reads of ours.
};

std::string CommandFor(const std::string& path, bool as_c) {
  const std::string root = DETENT_SOURCE_DIR;
  const std::string language =
      as_c ? DETENT_C_COMPILER " -x c -std=c11" : DETENT_CXX_COMPILER " -x c++ -std=c++20";
  // Included from standard input, since compilers warn about #pragma once in a main file; and with
  // a declaration after it, since C forbids an empty unit, which a header of macros would be.
  return "printf '#include \"" + path + "\"\\nextern int detent_unit;\\n' | " + language +
         " -fsyntax-only -Wall -Wextra -Wpedantic -Werror -I'" + root + "' -I'" + root +
         "/include' -I'" + root + "/sdk/cpp' - 2>&1";
}

std::vector<Compilation> Compilations(const SourceTree& tree) {
  std::vector<Compilation> all;
  for (const SourceFile& file : tree.files()) {
    if (!file.IsHeader() || file.IsUnder("sdk/template")) continue;
    std::set<std::string> reached;
    CollectReached(tree, file, reached);
    uint64_t contents = 14695981039346656037u;
    for (const std::string& path : reached) contents = Fnv1a(contents, tree.Find(path)->text);
    // The ABI is C: its headers must be read by both compilers.
    for (const bool as_c : {false, true}) {
      if (as_c && !file.IsUnder("include")) continue;
      const std::string command = CommandFor(file.path, as_c);
      all.push_back({file.path, command, std::to_string(Fnv1a(contents, command))});
    }
  }
  return all;
}

// Runs a shell command; returns what it printed when it failed, and nothing when it succeeded.
std::string OutputIfFailed(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "cannot run: " + command;
  std::string output;
  std::array<char, 4096> buffer;
  while (const size_t got = fread(buffer.data(), 1, buffer.size(), pipe)) {
    output.append(buffer.data(), got);
  }
  return pclose(pipe) == 0 ? "" : output + "(failed)";
}

Findings CompileAll(const std::vector<Compilation>& work, std::set<std::string>& passed) {
  Findings findings;
  std::mutex mutex;  // Guards findings and passed.
  std::atomic<size_t> next = 0;
  const auto worker = [&] {
    for (size_t i = next++; i < work.size(); i = next++) {
      const std::string output = OutputIfFailed(work[i].command);
      const std::lock_guard<std::mutex> lock(mutex);
      if (output.empty()) {
        passed.insert(work[i].key);
      } else {
        findings.push_back({work[i].path, 0, "does not compile alone:\n" + output});
      }
    }
  };
  std::thread second(worker);
  worker();
  second.join();
  return findings;
}

TEST(Headers, EachOpensWithWhatItIsFor) {
  EXPECT_EQ(Report(CheckAll(LoadRepository(), CheckOpening)), "");
}

TEST(Headers, EachGuardsItself) {
  EXPECT_EQ(Report(CheckAll(LoadRepository(), CheckGuard)), "");
}

TEST(Headers, EachCompilesAlone) {
  std::set<std::string> known;
  std::ifstream cache(DETENT_HEADER_CACHE);
  for (std::string key; cache >> key;) known.insert(key);

  std::vector<Compilation> stale;
  std::set<std::string> passed;
  for (Compilation& compilation : Compilations(LoadRepository())) {
    if (known.contains(compilation.key)) {
      passed.insert(compilation.key);
    } else {
      stale.push_back(std::move(compilation));
    }
  }
  EXPECT_EQ(Report(CompileAll(stale, passed)), "");

  std::ofstream out(DETENT_HEADER_CACHE, std::ios::trunc);
  for (const std::string& key : passed) out << key << '\n';
}

TEST(Headers, SeesAMissingOpeningAndAMissingGuard) {
  EXPECT_EQ(CheckOpening(MakeFile("core/a.h", "#pragma once\nint F();\n")).size(), 1u);
  EXPECT_EQ(CheckOpening(MakeFile("core/a.h", "#pragma once\n\n// Counts.\n")).size(), 0u);
  EXPECT_EQ(CheckGuard(MakeFile("core/a.h", "// Counts.\nint F();\n")).size(), 1u);
  EXPECT_EQ(CheckGuard(MakeFile("core/a.h", "// Counts.\n#pragma once\n")).size(), 0u);
  EXPECT_EQ(CheckGuard(MakeFile("include/a.h", "/* C. */\n#ifndef A_H\n#define A_H\n")).size(), 0u);
}

TEST(Headers, SeesAHeaderThatNeedsAnotherBeforeIt) {
  const std::string prefix = "printf '%s\\n' 'inline ";
  const std::string suffix = "' | " DETENT_CXX_COMPILER " -x c++ -std=c++20 -fsyntax-only - 2>&1";
  EXPECT_EQ(OutputIfFailed(prefix + "int F() { return 1; }" + suffix), "");
  EXPECT_NE(OutputIfFailed(prefix + "std::string F();" + suffix), "");
}

TEST(Headers, AreCompiledAgainWhenWhatTheyReachHasChanged) {
  const auto key = [](const char* inner) {
    const SourceTree tree(
        {MakeFile("core/a.h", "#include \"core/b.h\"\n"), MakeFile("core/b.h", inner)});
    return Compilations(tree)[0].key;
  };
  EXPECT_EQ(key("int x;"), key("int x;"));
  EXPECT_NE(key("int x;"), key("int y;"));
}

}  // namespace
}  // namespace detent::tidy
