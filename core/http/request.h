// A request and its response, free of any transport: what the API's logic works on.
//
// Values, made for one exchange and used by one thread. A response is either a body that is ready,
// or a stream that is written while it lasts (a watch, a log).

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace detent {

using HeaderList = std::vector<std::pair<std::string, std::string>>;

struct Request {
  std::string method;                                      // As on the wire: "GET".
  std::string path;                                        // Decoded, without the query.
  std::vector<std::string> segments;                       // Of the path, each decoded.
  std::vector<std::pair<std::string, std::string>> query;  // Decoded, in order.
  HeaderList headers;
  std::string body;
  // The transport vouches for the client: a Unix socket's file mode, or a verified certificate.
  bool trusted = false;

  // The first header of that name (case ignored), or empty. Borrowed.
  std::string_view Header(std::string_view name) const;
  // The first query parameter of that name, or null. Borrowed.
  const std::string* Parameter(std::string_view name) const;
  // Its value, or empty.
  std::string_view ParameterOr(std::string_view name, std::string_view absent = "") const;
};

// Splits and decodes a request target ("/a/b%20c?x=1"). kInvalid: bad escapes, NUL, not UTF-8.
Result<void> SetTarget(Request& request, std::string_view target);

// Where a stream goes. Used by the thread that serves the request, and only while it does.
class BodySink {
 public:
  virtual ~BodySink() = default;
  // Sends a piece; waits while the client is slow, up to the server's send timeout. False: the
  // client is gone, or the server stops; write no more.
  virtual bool Write(std::string_view piece) = 0;
  // Whether anybody is still there to write for. Asked between waits.
  virtual bool Alive() = 0;
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  HeaderList headers;
  std::string body;
  // If set, is called once in place of `body`. Returning false tells the client that what it got
  // is not whole.
  std::function<bool(BodySink&)> stream;
};

Response JsonResponse(std::string body, int status = 200);
Response TextResponse(std::string body, int status = 200);

using Handler = std::function<Response(const Request&)>;

}  // namespace detent
