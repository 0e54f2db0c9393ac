// How the client reaches a server: a connection that can be replaced in tests, and the address that
// users write.
//
// One thread at a time. Pause is here because waiting is the outside's matter too: a test's
// transport returns at once.

#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "core/base/result.h"
#include "core/net/http_client.h"

namespace detent {

class ClientTransport {
 public:
  virtual ~ClientTransport() = default;
  // As HttpClient's.
  virtual Result<ClientReply> Fetch(const ClientRequest& request) = 0;
  virtual Result<ClientReply> Stream(const ClientRequest& request,
                                     const HttpClient::OnLine& on_line) = 0;
  // Blocks the thread for that long.
  virtual void Pause(std::chrono::milliseconds time) = 0;
};

std::unique_ptr<ClientTransport> MakeHttpTransport(const HttpClientOptions& options);

// "http://host:port", "https://host:port" or "unix:/path/to/socket", set into `options`.
// kInvalid: none of these.
Result<void> SetServer(const std::string& address, HttpClientOptions& options);

// The bearer token in `path`, without blanks around it. kInvalid: not readable, empty, or of more
// than one line.
Result<std::string> ReadTokenFile(const std::string& path);

}  // namespace detent
