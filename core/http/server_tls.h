// The server's side of TLS for one listener: which certificate it shows. Internal to the server.
//
// Any thread. Every connection takes the certificate of the moment it began in, and keeps it.

#pragma once

#include <memory>
#include <mutex>

#include "core/base/result.h"
#include "core/http/server.h"

namespace Poco::Net {
class StreamSocket;
}

namespace detent {

class ServerTls {
 public:
  // kInvalid: they cannot be read, or the key is not the certificate's.
  static Result<std::unique_ptr<ServerTls>> Open(const TlsFiles& files);
  static Result<std::unique_ptr<ServerTls>> Open(const TlsPem& pem);
  ~ServerTls();
  ServerTls(const ServerTls&) = delete;
  ServerTls& operator=(const ServerTls&) = delete;

  // For connections from now on. After an error it is as it was.
  Result<void> Renew(const TlsPem& pem);

  // TLS on an accepted connection; hands are shaken with its first bytes. Throws as Poco does.
  Poco::Net::StreamSocket Attach(const Poco::Net::StreamSocket& socket) const;

 private:
  struct Context;
  explicit ServerTls(std::shared_ptr<const Context> context);

  mutable std::mutex mutex_;
  std::shared_ptr<const Context> context_;  // Guarded by mutex_.
};

}  // namespace detent
