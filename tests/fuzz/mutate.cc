// A main() for the fuzz tests where there is no libFuzzer: the seeds of a directory, and then
// mutations of them that a fixed random seed makes, so that a failure comes again.
//
// A file is a seed; of a file *.lines each line is one. The input that ends the process is printed
// as a string of C, to be added to the seeds.

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/random.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

constexpr size_t kLongest = 4096;

std::string input;

void PrintInput(int signal) {
  // Not async-signal-safe, and the process ends anyway.
  std::fprintf(stderr, "the input was \"");
  for (const char c : input) {
    const bool plain = c >= ' ' && c <= '~' && c != '"' && c != '\\';
    std::fprintf(stderr, plain ? "%c" : "\\%03o", static_cast<unsigned char>(c));
  }
  std::fprintf(stderr, "\"\n");
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void RunOne(std::string text) {
  input = std::move(text);
  // A copy of its very size, so that a sanitizer sees a read beyond its end.
  const std::vector<uint8_t> bytes(input.begin(), input.end());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

std::vector<std::string> ReadSeeds(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> seeds;
  for (const auto& path : files) {
    std::ifstream file(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    if (path.extension() != ".lines") {
      seeds.push_back(std::move(text));
      continue;
    }
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) seeds.push_back(line);
  }
  return seeds;
}

size_t Any(detent::Random& random, size_t below) {
  return below == 0 ? 0 : random.Below(below);
}

void Mutate(std::string& text, const std::vector<std::string>& seeds, detent::Random& random) {
  const size_t at = Any(random, text.size() + 1);
  const size_t length = Any(random, std::min<size_t>(text.size() - at, 16) + 1);
  switch (random.Below(6)) {
    case 0:
      if (at < text.size()) text[at] = static_cast<char>(random.Below(256));
      break;
    case 1:
      text.erase(at, length);
      break;
    case 2:
      text.insert(at, text.substr(at, length));
      break;
    case 3:
      text.insert(at, 1, static_cast<char>(random.Below(128)));
      break;
    case 4:
      if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << random.Below(8)));
      break;
    default: {
      const std::string& other = seeds[Any(random, seeds.size())];
      const size_t from = Any(random, other.size() + 1);
      text.replace(at, length, other.substr(from, Any(random, 32)));
    }
  }
  if (text.size() > kLongest) text.resize(kLongest);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s SEEDS RUNS\n", argv[0]);
    return 2;
  }
  std::signal(SIGABRT, PrintInput);
  std::signal(SIGSEGV, PrintInput);
  const std::vector<std::string> seeds = ReadSeeds(argv[1]);
  if (seeds.empty()) {
    std::fprintf(stderr, "there are no seeds in %s\n", argv[1]);
    return 1;
  }
  for (const std::string& seed : seeds) RunOne(seed);
  detent::SeededRandom random(1);
  const long runs = std::atol(argv[2]);
  for (long run = 0; run < runs; ++run) {
    std::string text = seeds[Any(random, seeds.size())];
    for (uint64_t left = 1 + random.Below(4); left > 0; --left) Mutate(text, seeds, random);
    RunOne(std::move(text));
  }
  std::printf("%zu seeds, %ld mutations\n", seeds.size(), runs);
  return 0;
}
