#include "tests/tidy/source_tree.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

namespace detent::tidy {
namespace {

namespace fs = std::filesystem;

bool IsIdentifierCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool HasAnyExtension(const std::string& path, std::initializer_list<std::string_view> extensions) {
  return std::any_of(extensions.begin(), extensions.end(), [&](std::string_view extension) {
    return path.size() > extension.size() &&
           std::string_view(path).substr(path.size() - extension.size()) == extension;
  });
}

std::vector<std::string> SplitLines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> ListWithGit(const std::string& root) {
  std::vector<std::string> paths;
  const std::string command =
      "git -C '" + root + "' ls-files -z -co --exclude-standard 2>/dev/null";
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return paths;
  std::string output;
  std::array<char, 65536> buffer;
  while (const size_t got = fread(buffer.data(), 1, buffer.size(), pipe)) {
    output.append(buffer.data(), got);
  }
  if (pclose(pipe) != 0) return paths;
  std::istringstream stream(output);
  for (std::string path; std::getline(stream, path, '\0');) paths.push_back(path);
  return paths;
}

std::vector<std::string> ListByWalking(const fs::path& root) {
  std::vector<std::string> paths;
  for (auto it = fs::recursive_directory_iterator(root); it != fs::end(it); ++it) {
    const std::string name = it->path().filename().string();
    const bool skipped = name == ".git" || name == ".cache" || name.rfind("build", 0) == 0;
    if (it->is_directory() && skipped) it.disable_recursion_pending();
    if (it->is_regular_file()) paths.push_back(fs::relative(it->path(), root).generic_string());
  }
  return paths;
}

// Where the literal or comment that begins at `at` ends (one past its last character); `at` when
// none begins there.
size_t EndOfBlank(std::string_view text, size_t at) {
  const auto end_after = [&](std::string_view closing, size_t from) {
    const size_t found = text.find(closing, from);
    return found == std::string_view::npos ? text.size() : found + closing.size();
  };
  const std::string_view rest = text.substr(at);
  if (rest.starts_with("//")) return std::min(text.find('\n', at), text.size());
  if (rest.starts_with("/*")) return end_after("*/", at + 2);
  if (rest.starts_with("R\"") && (at == 0 || !IsIdentifierCharacter(text[at - 1]))) {
    const size_t open = text.find('(', at);
    if (open == std::string_view::npos) return text.size();
    return end_after(")" + std::string(text.substr(at + 2, open - at - 2)) + "\"", open);
  }
  // A quote after a digit or letter separates digits (1'000) or belongs to a prefix that needs no
  // care (u8"").
  const bool character = rest[0] == '\'' && (at == 0 || !IsIdentifierCharacter(text[at - 1]));
  if (rest[0] != '"' && !character) return at;
  size_t i = at + 1;
  while (i < text.size() && text[i] != rest[0] && text[i] != '\n') i += text[i] == '\\' ? 2 : 1;
  return std::min(i + 1, text.size());
}

}  // namespace

bool SourceFile::IsHeader() const {
  return HasAnyExtension(path, {".h", ".hpp"});
}

bool SourceFile::IsCode() const {
  return IsHeader() || HasAnyExtension(path, {".cc", ".cpp", ".c"});
}

bool SourceFile::IsUnder(std::string_view directory) const {
  return path.size() > directory.size() && path[directory.size()] == '/' &&
         std::string_view(path).starts_with(directory);
}

SourceTree::SourceTree(std::vector<SourceFile> files) : files_(std::move(files)) {
  std::sort(files_.begin(), files_.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  for (const SourceFile& file : files_) paths_.insert(file.path);
}

const SourceFile* SourceTree::Find(std::string_view path) const {
  const auto it =
      std::lower_bound(files_.begin(), files_.end(), path,
                       [](const SourceFile& file, std::string_view p) { return file.path < p; });
  return it != files_.end() && it->path == path ? &*it : nullptr;
}

std::string SourceTree::Resolve(const SourceFile& from, const Include& include) const {
  std::vector<std::string> candidates;
  if (include.quoted) {
    const fs::path beside = fs::path(from.path).parent_path() / include.name;
    candidates.push_back(beside.lexically_normal().generic_string());
  }
  for (const char* base : {"", "include/", "sdk/cpp/"}) candidates.push_back(base + include.name);
  for (const std::string& candidate : candidates) {
    if (paths_.contains(candidate)) return candidate;
  }
  return "";
}

SourceTree LoadRepository() {
  const std::string root = DETENT_SOURCE_DIR;
  std::vector<std::string> paths = ListWithGit(root);
  if (paths.empty()) paths = ListByWalking(root);
  std::vector<SourceFile> files;
  for (const std::string& path : paths) {
    // Git also lists what is deleted in the work tree and not yet staged; a rule cannot read that.
    std::ifstream stream(fs::path(root) / path, std::ios::binary);
    if (!stream || !fs::is_regular_file(fs::path(root) / path)) continue;
    std::ostringstream text;
    text << stream.rdbuf();
    files.push_back(MakeFile(path, text.str()));
  }
  return SourceTree(std::move(files));
}

SourceFile MakeFile(std::string path, std::string text) {
  SourceFile file;
  file.path = std::move(path);
  file.text = std::move(text);
  file.lines = SplitLines(file.text);
  if (file.IsCode()) file.code = SplitLines(BlankCommentsAndLiterals(file.text));
  return file;
}

std::string BlankCommentsAndLiterals(std::string_view text) {
  std::string out(text);
  for (size_t i = 0; i < text.size();) {
    const size_t end = EndOfBlank(text, i);
    for (size_t j = i; j < end; ++j) {
      if (out[j] != '\n') out[j] = ' ';
    }
    i = std::max(end, i + 1);
  }
  return out;
}

std::vector<Include> IncludesOf(const SourceFile& file) {
  std::vector<Include> includes;
  for (size_t i = 0; i < file.code.size(); ++i) {
    // The blanked line says whether this is an include; only the raw line still has the quoted
    // name.
    const size_t hash = file.code[i].find_first_not_of(" \t");
    if (hash == std::string::npos || file.code[i][hash] != '#') continue;
    if (!HasWord(file.code[i], "include")) continue;
    const std::string& raw = file.lines[i];
    const size_t open = raw.find_first_of("\"<");
    if (open == std::string::npos) continue;
    const size_t close = raw.find(raw[open] == '<' ? '>' : '"', open + 1);
    if (close == std::string::npos) continue;
    includes.push_back(
        {static_cast<int>(i + 1), raw.substr(open + 1, close - open - 1), raw[open] == '"'});
  }
  return includes;
}

bool HasWord(std::string_view line, std::string_view needle) {
  for (size_t at = line.find(needle); at != std::string_view::npos;
       at = line.find(needle, at + 1)) {
    const size_t end = at + needle.size();
    const bool joined_before =
        at > 0 && IsIdentifierCharacter(needle.front()) && IsIdentifierCharacter(line[at - 1]);
    const bool joined_after = end < line.size() && IsIdentifierCharacter(needle.back()) &&
                              IsIdentifierCharacter(line[end]);
    if (!joined_before && !joined_after) return true;
  }
  return false;
}

bool MatchesPath(std::string_view pattern, const std::string& path) {
  return fnmatch(std::string(pattern).c_str(), path.c_str(), FNM_PATHNAME) == 0;
}

std::string Report(const Findings& findings) {
  std::ostringstream out;
  for (const Finding& finding : findings) {
    out << finding.path;
    if (finding.line > 0) out << ':' << finding.line;
    out << ": " << finding.message << '\n';
  }
  return out.str();
}

}  // namespace detent::tidy
