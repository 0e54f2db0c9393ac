// Who may ask: the bearer token of a file, read again when the file changes. Any thread.

#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/http/request.h"

namespace detent {

class TokenFile {
 public:
  // Reads the file once; kInvalid if it is missing or empty. One token, blanks around it ignored.
  static Result<TokenFile> Open(const std::string& path);
  TokenFile(TokenFile&& other) noexcept;

  // Compares in a time that does not depend on where the texts differ. A file that cannot be read
  // any more lets nobody in.
  bool Accepts(std::string_view token);

 private:
  explicit TokenFile(std::string path) : path_(std::move(path)) {}
  void ReadAgainIfChanged();

  const std::string path_;
  std::mutex mutex_;
  std::string token_;  // Guarded by mutex_, as is the stamp it was read at.
  int64_t stamp_[4] = {-1, -1, -1, -1};
};

// Whether a request may pass. Health checks always may; so may all where there is no `tokens`, and
// clients that the transport vouches for.
bool IsAuthorized(const Request& request, TokenFile* tokens);

}  // namespace detent
