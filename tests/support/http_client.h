// A small HTTP client for tests: whole answers, and streams read line by line.
//
// Errors of the transport are answers with status 0. One thread uses one client; a stream has a
// thread of its own, which its destructor ends.

#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/base/json.h"

namespace detent::testing {

struct HttpAnswer {
  int status = 0;
  std::string body;
  std::string error;                                // Of the transport, where status is 0.
  std::multimap<std::string, std::string> headers;  // Names in lower case.

  // The body as JSON; null where it is none.
  Json json() const;
  std::string Header(const std::string& name) const;
  // The text at an RFC 6901 pointer of the body, or "".
  std::string Text(const std::string& pointer) const;
};

struct HttpCall {
  std::string method = "GET";
  std::string path;
  std::string body;
  std::string content_type = "application/json";
  std::string accept = "application/json";
  std::map<std::string, std::string> headers = {};
};

struct HttpServerAddress {
  std::string url;  // "http://127.0.0.1:1234", or "unix:/path".
  std::string token;
  std::string ca_file;  // Of https.
  std::string certificate_file;
  std::string key_file;
};

HttpAnswer Send(const HttpServerAddress& server, const HttpCall& call);

// A response that goes on, as lines.
class HttpLines {
 public:
  HttpLines(const HttpServerAddress& server, HttpCall call);
  ~HttpLines();

  // The next line without its end; nullopt when none has come in time or the stream is over.
  std::optional<std::string> Next(
      std::chrono::milliseconds timeout = std::chrono::milliseconds(10'000));
  // The next line as JSON; null as above.
  Json NextJson(std::chrono::milliseconds timeout = std::chrono::milliseconds(10'000));
  // Whether the stream has ended within `timeout`.
  bool WaitForEnd(std::chrono::milliseconds timeout = std::chrono::milliseconds(10'000));

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace detent::testing
