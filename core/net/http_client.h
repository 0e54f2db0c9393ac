// HTTP for programs that have nothing else to do meanwhile: the command line.
//
// Blocks the calling thread. A client keeps its connection between calls; one thread at a time.

#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/net/headers.h"

namespace detent {

struct HttpClientOptions {
  std::string base_url;      // "http://127.0.0.1:7420"; with a unix socket the host is a formality.
  std::string unix_socket;   // Path to connect to instead; empty: none.
  std::string bearer_token;  // Sent as "Authorization: Bearer ..."; empty: none.
  std::string ca_file;       // Trust these certificates instead of the system's.
  std::chrono::milliseconds timeout{30'000};  // Of a Fetch; for a Stream, of its connecting.
};

struct ClientRequest {
  std::string method = "GET";
  std::string path;  // Put behind base_url: "/api/v1/...", with its query.
  HttpHeaders headers;
  std::string body;
};

struct ClientReply {
  int status = 0;
  HttpHeaders headers;
  std::string body;
};

class HttpClient {
 public:
  explicit HttpClient(HttpClientOptions options);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // A reply of any status is a value. kUnavailable: the server cannot be reached, or the
  // machine has no libcurl; kDeadline; kInvalid: the URL. Redirects are not followed.
  Result<ClientReply> Fetch(const ClientRequest& request);

  // Called with each line of a reply of status 200, without its end; false ends the stream.
  using OnLine = std::function<bool(std::string_view line)>;

  // Reads until the server or `on_line` ends it, without a limit of time. A reply of another status
  // is given back with its body, as by Fetch; of 200 the body is empty.
  Result<ClientReply> Stream(const ClientRequest& request, const OnLine& on_line);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace detent
