#include "core/cli/transport.h"

#include <poll.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace detent {
namespace {

constexpr std::string_view kUnix = "unix:";

class HttpClientTransport final : public ClientTransport {
 public:
  explicit HttpClientTransport(const HttpClientOptions& options) : client_(options) {}
  Result<ClientReply> Fetch(const ClientRequest& request) override {
    return client_.Fetch(request);
  }
  Result<ClientReply> Stream(const ClientRequest& request,
                             const HttpClient::OnLine& on_line) override {
    return client_.Stream(request, on_line);
  }
  void Pause(std::chrono::milliseconds time) override {
    poll(nullptr, 0, static_cast<int>(time.count()));
  }

 private:
  HttpClient client_;
};

}  // namespace

std::unique_ptr<ClientTransport> MakeHttpTransport(const HttpClientOptions& options) {
  return std::make_unique<HttpClientTransport>(options);
}

Result<void> SetServer(const std::string& address, HttpClientOptions& options) {
  if (address.starts_with(kUnix)) {
    std::string path = address.substr(kUnix.size());
    if (path.starts_with("//")) path.erase(0, 2);
    if (!path.starts_with("/")) {
      return Error(Code::kInvalid,
                   "--server: a unix socket is given by its absolute path, as in "
                   "unix:/run/detent.sock, not '" +
                       address + "'");
    }
    options.unix_socket = path;
    options.base_url = "http://localhost";
    return {};
  }
  if (!address.starts_with("http://") && !address.starts_with("https://")) {
    return Error(Code::kInvalid,
                 "--server: must begin with http://, https:// or unix:, not '" + address + "'");
  }
  options.base_url = address;
  // Paths are put behind it.
  while (options.base_url.ends_with("/")) options.base_url.pop_back();
  return {};
}

Result<std::string> ReadTokenFile(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    return Error(Code::kInvalid, "--token-file: cannot read '" + path +
                                     "': " + (errno != 0 ? std::strerror(errno) : "it is empty"));
  }
  std::string token = text.str();
  const size_t begin = token.find_first_not_of(" \t\r\n");
  if (begin == token.npos) return Error(Code::kInvalid, "--token-file: '" + path + "' is empty");
  token = token.substr(begin, token.find_last_not_of(" \t\r\n") - begin + 1);
  if (token.find_first_of(" \t\r\n") != token.npos) {
    return Error(Code::kInvalid,
                 "--token-file: '" + path + "' must hold one token, without blanks inside");
  }
  return token;
}

}  // namespace detent
