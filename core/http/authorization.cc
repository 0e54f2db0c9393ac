#include "core/http/authorization.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

namespace detent {
namespace {

std::string Trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

bool EqualsInConstantTime(std::string_view a, std::string_view b) {
  // The length is no secret; every byte of the longer text is looked at.
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (size_t i = 0; i < a.size(); ++i) {
    const char other = i < b.size() ? b[i] : '\0';
    difference |= static_cast<unsigned char>(a[i] ^ other);
  }
  return difference == 0;
}

bool IsHealthCheck(const Request& request) {
  if (request.method != "GET" || request.segments.size() != 1) return false;
  const std::string& path = request.segments[0];
  return path == "healthz" || path == "livez" || path == "readyz";
}

}  // namespace

TokenFile::TokenFile(TokenFile&& other) noexcept
    : path_(other.path_), token_(std::move(other.token_)) {
  std::copy(std::begin(other.stamp_), std::end(other.stamp_), std::begin(stamp_));
}

Result<TokenFile> TokenFile::Open(const std::string& path) {
  TokenFile file(path);
  file.ReadAgainIfChanged();
  if (file.token_.empty()) {
    return Error(Code::kInvalid, "token file '" + path + "' " +
                                     (file.stamp_[0] < 0 ? "cannot be read" : "is empty"));
  }
  return file;
}

void TokenFile::ReadAgainIfChanged() {
  struct stat found {};
  int64_t stamp[4] = {-1, -1, -1, -1};
  if (stat(path_.c_str(), &found) == 0) {
    stamp[0] = static_cast<int64_t>(found.st_ino);
    stamp[1] = found.st_size;
    stamp[2] = found.st_mtim.tv_sec;
    stamp[3] = found.st_mtim.tv_nsec;
  }
  if (stamp[0] >= 0 && std::equal(std::begin(stamp), std::end(stamp), std::begin(stamp_))) return;
  std::copy(std::begin(stamp), std::end(stamp), std::begin(stamp_));
  std::ifstream in(path_, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  token_ = Trimmed(text);
}

bool TokenFile::Accepts(std::string_view token) {
  std::lock_guard lock(mutex_);
  ReadAgainIfChanged();
  return !token_.empty() && EqualsInConstantTime(token, token_);
}

bool IsAuthorized(const Request& request, TokenFile* tokens) {
  if (tokens == nullptr || request.trusted || IsHealthCheck(request)) return true;
  std::string_view header = request.Header("authorization");
  constexpr std::string_view kScheme = "bearer ";
  if (header.size() < kScheme.size()) return false;
  for (size_t i = 0; i < kScheme.size(); ++i) {
    const char c =
        header[i] >= 'A' && header[i] <= 'Z' ? static_cast<char>(header[i] + 32) : header[i];
    if (c != kScheme[i]) return false;
  }
  header.remove_prefix(kScheme.size());
  header.remove_prefix(std::min(header.find_first_not_of(' '), header.size()));
  return tokens->Accepts(header);
}

}  // namespace detent
