// The output of one task from the log of its Pod, in CRI format, as a host's plugin gives it: that
// of the Pod's main container, or, where the Pod ended before that ran, of the init container that
// failed.
//
// It remembers how far it has read, since the server knows no offsets: "since that second" is all
// that can be asked for, so that what was given of that second comes again and is passed over. The
// server does not say either which stream a line was written to: all are said to be stdout. One
// thread.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/net/http_client.h"

namespace detent {

class PodLog {
 public:
  // Whose output is meant.
  struct Source {
    std::string kind;      // Of the executor.
    std::string ns;        // Of the Pod, too.
    std::string task_key;  // TaskKey().
    std::string shown;     // For messages.
    bool ended = false;    // No Pod can come any more.
  };

  // The server: a reply to GET of a path, of any status; and what a refusal says.
  using Fetcher = std::function<Result<ClientReply>(const std::string& path)>;
  struct Server {
    Fetcher fetch;
    std::function<Error(const ClientReply& reply)> refusal;
  };

  // Calls `on_line` with each line that is new. None: the container has not begun yet.
  // kExpired: the Pod is not there any more, and its output with it.
  Result<void> Read(const Source& source, const Server& server, const HttpClient::OnLine& on_line);

 private:
  void Give(std::string_view text, bool whole, const HttpClient::OnLine& on_line);

  std::string since_;  // The second of the newest line, RFC 3339; empty: none was given.
  size_t given_ = 0;   // Lines of that second.
};

}  // namespace detent
