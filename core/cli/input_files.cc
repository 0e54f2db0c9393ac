#include "core/cli/input_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <istream>
#include <iterator>

namespace detent {
namespace {

namespace fs = std::filesystem;

bool IsManifestName(const fs::path& path) {
  const std::string extension = path.extension().string();
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

Result<std::vector<std::string>> FilesIn(const std::string& directory) {
  std::vector<std::string> files;
  std::error_code error;
  fs::directory_iterator entry(directory, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_regular_file(ignored) && IsManifestName(entry->path())) {
      files.push_back(entry->path().string());
    }
  }
  if (error) return Error(Code::kInvalid, directory + ": cannot be listed: " + error.message());
  if (files.empty()) {
    return Error(Code::kInvalid, directory + ": has no *.yaml, *.yml or *.json file in it");
  }
  std::sort(files.begin(), files.end());
  return files;
}

Result<InputFile> ReadOne(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::error_code error;
    const bool there = fs::exists(path, error);
    return Error(Code::kInvalid,
                 path + ": " + (there ? "cannot be read; check its mode" : "no such file"));
  }
  InputFile input{path, {std::istreambuf_iterator<char>(file), {}}};
  if (file.bad()) return Error(Code::kInvalid, path + ": cannot be read");
  return input;
}

}  // namespace

Result<std::vector<InputFile>> ReadInputFiles(const std::vector<std::string>& paths,
                                              std::istream& in) {
  std::vector<InputFile> inputs;
  for (const std::string& path : paths) {
    std::error_code error;
    if (path == "-") {
      inputs.push_back({"<stdin>", {std::istreambuf_iterator<char>(in), {}}});
    } else if (fs::is_directory(path, error)) {
      const std::vector<std::string> files = TRY(FilesIn(path));
      for (const std::string& file : files) inputs.push_back(TRY(ReadOne(file)));
    } else {
      inputs.push_back(TRY(ReadOne(path)));
    }
  }
  return inputs;
}

Result<std::vector<Manifest>> ReadInputManifests(const std::vector<std::string>& paths,
                                                 std::istream& in) {
  const std::vector<InputFile> inputs = TRY(ReadInputFiles(paths, in));
  std::vector<Manifest> all;
  for (const InputFile& input : inputs) {
    std::vector<Manifest> manifests = TRY(ReadManifests(input.text, input.name));
    for (Manifest& manifest : manifests) all.push_back(std::move(manifest));
  }
  return all;
}

}  // namespace detent
