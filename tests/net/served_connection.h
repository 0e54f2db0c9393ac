// The server's side of one HTTP connection of a test, without its bytes' way: HTTP/1.1, or HTTP/2
// as much as libcurl makes use of it. What comes in is fed, what goes out is taken.
//
// The connection's thread feeds and takes; any thread may answer, now or later, through the handle
// that the handler is given. Source: RFC 9112, RFC 9113.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "tests/net/hpack.h"

namespace detent::testing {

struct ServedRequest {
  std::string method, path, body;
  std::string authority;  // As the client said it: Host, or :authority.
  Fields fields;          // Without those of HTTP/2's own.
  bool http2 = false;
  int connection = 0;       // Of the server's, from 1.
  std::string client;       // The common name that its certificate says; empty: it showed none.
  int certificates = 0;     // That it showed, its own among them.
  std::string server_name;  // That it asked for (SNI); empty: none.

  // The first of that name; empty: none.
  std::string Field(std::string_view name) const;
};

class ServedConnection;

// One exchange, to be answered once: by Answer, or by Begin, any number of Sends, and End.
class Served {
 public:
  Served(std::shared_ptr<ServedConnection> connection, uint32_t stream)
      : connection_(std::move(connection)), stream_(stream) {}

  void Answer(int status, const std::string& body, const Fields& fields = {});
  void Begin(int status, const Fields& fields = {});
  void Send(std::string_view piece);
  void End();
  // Breaks this exchange alone (RST_STREAM with that error), HTTP/1.1 its connection.
  void Reset(uint32_t error);
  // Closes the connection without another word.
  void Drop();
  // No more exchanges on this connection (GOAWAY) but for those up to `last`.
  void GoAway(uint32_t last);
  // Waits until the client reset it; false after 20 seconds.
  bool AwaitReset();
  uint32_t stream() const { return stream_; }

 private:
  const std::shared_ptr<ServedConnection> connection_;
  const uint32_t stream_;  // 0: HTTP/1.1.
};

using ServedHandler =
    std::function<void(const ServedRequest& request, std::shared_ptr<Served> exchange)>;

class ServedConnection : public std::enable_shared_from_this<ServedConnection> {
 public:
  // `common` is what all of its requests say of themselves. `wake` is called when there is
  // something to take.
  ServedConnection(ServedRequest common, ServedHandler handler, std::function<void()> wake);

  // False: the client does not speak HTTP.
  bool Feed(std::string_view bytes);
  // What is to be written. `close`: and the connection closed behind it.
  std::string Take(bool& close);

 private:
  friend class Served;
  struct Stream {
    ServedRequest request;
    bool reset = false;
  };
  bool FeedHttp1();
  bool FeedHttp2();
  bool TakeFrame(uint8_t type, uint8_t flags, uint32_t stream, std::string_view payload);
  bool TakeHeaders(uint8_t flags, uint32_t stream, std::string_view payload);
  void Dispatch(ServedRequest request, uint32_t stream);
  void Write(const std::string& bytes, bool close = false);
  void WriteData(uint32_t stream, std::string_view piece, bool end);

  const ServedRequest common_;
  const ServedHandler handler_;
  const std::function<void()> wake_;
  std::string in_;  // The connection's thread only, as is the next.
  HpackDecoder hpack_;
  bool greeted_ = false;

  std::mutex mutex_;
  std::condition_variable reset_;
  std::string out_;                     // Guarded by mutex_, as are the next two.
  std::map<uint32_t, Stream> streams_;  // Of HTTP/2.
  bool close_ = false;
};

}  // namespace detent::testing
