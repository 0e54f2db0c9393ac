#include "core/http/server_connection.h"

#include <Poco/Exception.h>
#include <Poco/Net/HTTPServerParams.h>
#include <Poco/Net/HTTPServerRequestImpl.h>
#include <Poco/Net/HTTPServerResponseImpl.h>
#include <Poco/Net/HTTPServerSession.h>
#include <Poco/Net/NetException.h>
#include <Poco/Net/StreamSocket.h>
#include <poll.h>

#include <algorithm>
#include <istream>
#include <ostream>
#include <vector>

#include "core/http/status_error.h"

namespace detent {
namespace {

using Poco::Net::HTTPServerRequestImpl;
using Poco::Net::HTTPServerResponseImpl;
using Poco::Net::HTTPServerSession;

constexpr size_t kPieceBytes = 64 * 1024;
// What a client may still send after an early answer before its connection is cut.
constexpr size_t kDrainBytes = 16 * 1024 * 1024;

Poco::Timespan ToTimespan(std::chrono::milliseconds time) {
  return Poco::Timespan(std::chrono::duration_cast<std::chrono::microseconds>(time).count());
}

// A closed connection that nobody reads from tells so only by this event.
bool PeerIsGone(int socket) {
  pollfd descriptor{socket, POLLRDHUP, 0};
  return poll(&descriptor, 1, 0) > 0 &&
         (descriptor.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0;
}

class StreamSink final : public BodySink {
 public:
  StreamSink(std::ostream& out, int socket, const ServerCore& core)
      : out_(out), socket_(socket), core_(core) {}
  bool Write(std::string_view piece) override {
    if (core_.stopping) return false;
    out_.write(piece.data(), static_cast<std::streamsize>(piece.size()));
    out_.flush();
    return out_.good();
  }
  bool Alive() override { return !core_.stopping && out_.good() && !PeerIsGone(socket_); }

 private:
  std::ostream& out_;
  const int socket_;
  const ServerCore& core_;
};

class Conversation {
 public:
  Conversation(Poco::Net::StreamSocket& socket, const ListenerRules& rules, ServerCore& core,
               OpenConnections::Id id)
      : socket_(socket),
        rules_(rules),
        core_(core),
        id_(id),
        descriptor_(socket.impl()->sockfd()),
        session_(socket, Params(core.options)) {
    socket_.setSendTimeout(ToTimespan(core.options.send_timeout));
    session_.setKeepAlive(true);
  }

  void Run() {
    while (!core_.stopping && session_.hasMoreRequests()) {
      core_.connections.SetReading(id_, core_.clock->Mono());
      if (!ServeOne()) break;
      core_.connections.SetReading(id_, std::nullopt);
    }
    if (drain_) Drain();
  }

 private:
  static Poco::Net::HTTPServerParams::Ptr Params(const ServerOptions& options) {
    Poco::Net::HTTPServerParams::Ptr params = new Poco::Net::HTTPServerParams;
    params->setTimeout(ToTimespan(options.request_timeout));
    params->setKeepAliveTimeout(ToTimespan(options.idle_timeout));
    params->setMaxKeepAliveRequests(0);
    return params;
  }

  // False: this was the connection's last request.
  bool ServeOne() {
    HTTPServerResponseImpl out(session_);
    std::optional<HTTPServerRequestImpl> in;
    auto params = Params(core_.options);
    try {
      in.emplace(out, session_, params.get());
    } catch (const Poco::Net::NoMessageException&) {
      return false;
    } catch (const Poco::Net::MessageException& error) {
      out.setVersion("HTTP/1.1");
      Send(out, BadRequest("malformed request: " + error.message()), false);
      return false;
    }
    out.setVersion(in->getVersion());
    Request request;
    bool keep = in->getKeepAlive() && !core_.stopping;
    // What follows a chunked body is not ours to find; a new connection is cheap.
    if (in->getChunkedTransferEncoding()) keep = false;
    std::optional<Response> refusal = Receive(*in, out, request);
    core_.connections.SetReading(id_, std::nullopt);
    if (refusal) {
      drain_ = true;
      Send(out, *std::move(refusal), false);
      return false;
    }
    return Send(out, Answer(request), keep) && keep;
  }

  Response Answer(const Request& request) {
    // Nothing should be thrown; if it is, one request fails and not the host.
    try {
      return core_.handler(request);
    } catch (const std::exception& error) {
      if (core_.logger != nullptr) {
        core_.logger->Error("request failed", {{"path", request.path}, {"error", error.what()}});
      }
      return Internal(error.what());
    }
  }

  // Fills `request`, or says why there is none. Who may not ask is not listened to.
  std::optional<Response> Receive(HTTPServerRequestImpl& in, HTTPServerResponseImpl& out,
                                  Request& request) {
    request.method = in.getMethod();
    request.trusted = rules_.trusted;
    for (const auto& [name, value] : in) request.headers.emplace_back(name, value);
    if (const Result<void> target = SetTarget(request, in.getURI()); !target) {
      return BadRequest(target.error().message());
    }
    if (core_.connections.count() > core_.options.connections_max) return TooManyRequests(1);
    TokenFile* const tokens = core_.tokens && !rules_.open ? &*core_.tokens : nullptr;
    if (!IsAuthorized(request, tokens)) return Unauthorized();
    return ReceiveBody(in, out, request.body);
  }

  std::optional<Response> ReceiveBody(HTTPServerRequestImpl& in, HTTPServerResponseImpl& out,
                                      std::string& body) {
    const bool chunked = in.getChunkedTransferEncoding();
    // Both at once is how requests are smuggled past proxies (RFC 9112 6.3).
    if (chunked && in.hasContentLength()) return BadRequest("Content-Length beside chunks");
    if (!chunked && in.has("Transfer-Encoding")) return BadRequest("unknown Transfer-Encoding");
    const size_t most = core_.options.request_bytes_max;
    size_t length = chunked ? most + 1 : 0;
    if (!chunked && in.hasContentLength()) {
      const std::string& text = in.get("Content-Length");
      if (text.empty() || text.size() > 18 ||
          text.find_first_not_of("0123456789") != std::string::npos) {
        return BadRequest("malformed Content-Length");
      }
      length = static_cast<size_t>(in.getContentLength64());
      if (length > most) return RequestTooLarge(most);
    }
    if (length == 0) return std::nullopt;
    if (in.getExpectContinue()) out.sendContinue();
    while (body.size() < length) {
      const size_t have = body.size();
      body.resize(have + std::min(kPieceBytes, length - have));
      in.stream().read(body.data() + have, static_cast<std::streamsize>(body.size() - have));
      const auto got = static_cast<size_t>(in.stream().gcount());
      body.resize(have + got);
      if (got == 0) break;
    }
    if (body.size() > most) return RequestTooLarge(most);
    const bool whole = chunked ? !in.stream().bad() : body.size() == length;
    if (!whole) return BadRequest("the request's body ended before it was whole");
    return std::nullopt;
  }

  // False: the connection cannot be used any more.
  bool Send(HTTPServerResponseImpl& out, Response response, bool keep) {
    using Status = Poco::Net::HTTPResponse::HTTPStatus;
    out.setStatusAndReason(static_cast<Status>(response.status));
    out.setContentType(response.content_type);
    out.setDate(Poco::Timestamp::fromEpochTime(UnixSeconds(core_.clock->Now())));
    // Answers are of the moment; only what says so itself may be kept.
    out.set("Cache-Control", "no-cache, private");
    for (const auto& [name, value] : response.headers) out.add(name, value);
    const bool may_chunk = out.getVersion() == "HTTP/1.1";
    if (response.stream && !may_chunk) keep = false;
    out.setKeepAlive(keep);
    if (!response.stream) return SendBody(out, response.body);
    out.setChunkedTransferEncoding(may_chunk);
    StreamSink sink(out.send(), descriptor_, core_);
    const bool whole = response.stream(sink);
    // Without the last chunk a client can tell that this was not all.
    if (!whole) shutdown(descriptor_, SHUT_RDWR);
    return whole && !core_.stopping;
  }

  bool SendBody(HTTPServerResponseImpl& out, const std::string& body) {
    out.setContentLength64(static_cast<Poco::Int64>(body.size()));
    std::ostream& stream = out.send();
    for (size_t at = 0; at < body.size() && stream.good(); at += kPieceBytes) {
      const size_t size = std::min(kPieceBytes, body.size() - at);
      stream.write(body.data() + at, static_cast<std::streamsize>(size));
    }
    stream.flush();
    return stream.good();
  }

  // Closing while a client still sends makes the kernel discard our answer, so its body is taken
  // first, up to a bound.
  void Drain() {
    core_.connections.SetReading(id_, core_.clock->Mono());
    shutdown(descriptor_, SHUT_WR);
    std::vector<char> piece(kPieceBytes);
    for (size_t taken = 0; taken < kDrainBytes && !core_.stopping;) {
      const ssize_t got = recv(descriptor_, piece.data(), piece.size(), 0);
      if (got <= 0) return;
      taken += static_cast<size_t>(got);
    }
  }

  Poco::Net::StreamSocket& socket_;
  const ListenerRules& rules_;
  ServerCore& core_;
  const OpenConnections::Id id_;
  const int descriptor_;
  HTTPServerSession session_;
  bool drain_ = false;
};

}  // namespace

OpenConnections::Id OpenConnections::Add(int socket) {
  std::lock_guard lock(mutex_);
  connections_[++last_id_].socket = socket;
  return last_id_;
}

void OpenConnections::Remove(Id id) {
  std::lock_guard lock(mutex_);
  connections_.erase(id);
  changed_.notify_all();
}

void OpenConnections::SetReading(Id id, std::optional<MonoTime> since) {
  std::lock_guard lock(mutex_);
  connections_[id].reading_since = since;
}

int OpenConnections::count() const {
  std::lock_guard lock(mutex_);
  return static_cast<int>(connections_.size());
}

void OpenConnections::EndLate(MonoTime since) {
  std::lock_guard lock(mutex_);
  for (const auto& [id, connection] : connections_) {
    if (connection.reading_since && *connection.reading_since < since) {
      shutdown(connection.socket, SHUT_RDWR);
    }
  }
}

void OpenConnections::EndAll(int how) {
  std::lock_guard lock(mutex_);
  for (const auto& [id, connection] : connections_) shutdown(connection.socket, how);
}

bool OpenConnections::WaitUntilNone(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, timeout, [this] { return connections_.empty(); });
}

void ServeConnection(Poco::Net::StreamSocket& socket, const ListenerRules& rules,
                     ServerCore& core) {
  const OpenConnections::Id id = core.connections.Add(socket.impl()->sockfd());
  Poco::Net::StreamSocket served = socket;  // Out here, since its end closes what `id` stands for.
  try {
    if (rules.tls != nullptr) served = rules.tls->Attach(socket);
    Conversation(served, rules, core, id).Run();
  } catch (const Poco::Exception& error) {
    // Clients come and go as they like; only a debugger wants to know.
    if (core.logger != nullptr) {
      core.logger->Debug("connection ended", {{"error", error.displayText()}});
    }
  } catch (const std::exception& error) {
    if (core.logger != nullptr) {
      core.logger->Error("connection failed", {{"error", error.what()}});
    }
  }
  core.connections.Remove(id);
}

}  // namespace detent
