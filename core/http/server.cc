#include "core/http/server.h"

#include <Poco/Exception.h>
#include <Poco/Net/NetSSL.h>
#include <Poco/Net/ServerSocket.h>
#include <Poco/Net/SocketAddress.h>
#include <Poco/Net/StreamSocket.h>
#include <Poco/Net/TCPServer.h>
#include <Poco/Net/TCPServerConnection.h>
#include <Poco/Net/TCPServerConnectionFactory.h>
#include <Poco/Net/TCPServerParams.h>
#include <Poco/ThreadPool.h>
#include <malloc.h>
#include <sys/stat.h>
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "core/http/server_connection.h"

namespace detent {
namespace {

constexpr std::string_view kUnixPrefix = "unix:";
constexpr int kBacklog = 128;
// Threads beyond the limit of connections, so that one too many is told so.
constexpr int kSpareThreads = 8;
constexpr int kIdleThreadSeconds = 5;
// Enough for documents nested as deep as they may be, and small enough for hundreds of threads.
constexpr int kStackBytes = 1024 * 1024;
constexpr auto kHousekeeping = std::chrono::seconds(1);
constexpr auto kGrace = std::chrono::seconds(2);

class Connection final : public Poco::Net::TCPServerConnection {
 public:
  Connection(const Poco::Net::StreamSocket& socket, const ListenerRules& rules, ServerCore& core)
      : TCPServerConnection(socket), rules_(rules), core_(core) {}
  void run() override { ServeConnection(socket(), rules_, core_); }

 private:
  const ListenerRules& rules_;
  ServerCore& core_;
};

class ConnectionFactory final : public Poco::Net::TCPServerConnectionFactory {
 public:
  ConnectionFactory(const ListenerRules& rules, ServerCore& core) : rules_(rules), core_(core) {}
  Poco::Net::TCPServerConnection* createConnection(const Poco::Net::StreamSocket& socket) override {
    return new Connection(socket, rules_, core_);  // Owned by Poco.
  }

 private:
  const ListenerRules& rules_;
  ServerCore& core_;
};

// Takes the place of a socket that nobody listens on any more; leaves any other file alone.
Result<void> ClearUnixPath(const std::string& path) {
  struct stat found {};
  if (lstat(path.c_str(), &found) != 0) return {};
  if (!S_ISSOCK(found.st_mode)) {
    return Error(Code::kInvalid, "listen on unix:" + path + ": there is a file that is no socket");
  }
  try {
    Poco::Net::StreamSocket probe;
    probe.connect(Poco::Net::SocketAddress(Poco::Net::SocketAddress::UNIX_LOCAL, path));
  } catch (const Poco::Exception&) {
    unlink(path.c_str());
    return {};
  }
  return Error(Code::kUnavailable, "listen on unix:" + path + ": another server is listening");
}

void RemoveUnixPath(const std::string& url) {
  if (url.starts_with(kUnixPrefix)) unlink(url.substr(kUnixPrefix.size()).c_str());
}

struct Listening {
  Poco::Net::ServerSocket socket;
  ListenerRules rules;
  std::string url;
};

Result<Listening> ListenUnix(const std::string& path) {
  TRY([&]() -> Result<bool> {
    if (Result<void> cleared = ClearUnixPath(path); !cleared) return std::move(cleared).error();
    return true;
  }());
  Listening listening;
  listening.rules.trusted = true;
  listening.url = std::string(kUnixPrefix) + path;
  listening.socket.bind(Poco::Net::SocketAddress(Poco::Net::SocketAddress::UNIX_LOCAL, path));
  // Before listen nobody can connect, so the mode holds from the first client on.
  if (chmod(path.c_str(), 0600) != 0) {
    return Error(Code::kUnavailable, "listen on unix:" + path + ": cannot set its mode");
  }
  listening.socket.listen(kBacklog);
  return listening;
}

// Null: the listener has none.
Result<std::unique_ptr<ServerTls>> OpenTls(const ListenAddress& listener) {
  if (listener.pem) return ServerTls::Open(*listener.pem);
  if (listener.tls) return ServerTls::Open(*listener.tls);
  return std::unique_ptr<ServerTls>();
}

Result<Listening> ListenTcp(const ListenAddress& listener, const ServerOptions& options) {
  const Poco::Net::SocketAddress address(listener.address);
  const bool mutual = listener.tls && !listener.tls->client_ca.empty();
  const bool guarded = mutual || listener.open || !options.token_file.empty();
  if (!address.host().isLoopback() && !guarded) {
    return Error(Code::kInvalid,
                 "listen on " + listener.address +
                     ": an address that others can reach needs a token file or a client CA");
  }
  Listening listening;
  listening.rules.trusted = mutual;
  listening.rules.open = listener.open;
  auto tls = OpenTls(listener);
  if (!tls) return std::move(tls).error().While("listen on " + listener.address);
  listening.rules.tls = *std::move(tls);
  listening.socket.bind(address, true, false);
  listening.socket.listen(kBacklog);
  const bool with_tls = listening.rules.tls != nullptr;
  listening.url = (with_tls ? "https://" : "http://") + listening.socket.address().toString();
  return listening;
}

Result<Listening> Listen(const ListenAddress& listener, const ServerOptions& options) {
  try {
    if (listener.address.starts_with(kUnixPrefix)) {
      return ListenUnix(listener.address.substr(kUnixPrefix.size()));
    }
    return ListenTcp(listener, options);
  } catch (const Poco::InvalidArgumentException& error) {
    return Error(Code::kInvalid, "listen on " + listener.address + ": " + error.displayText());
  } catch (const Poco::Exception& error) {
    return Error(Code::kUnavailable, "listen on " + listener.address + ": " + error.displayText());
  }
}

}  // namespace

struct Server::State {
  ServerCore core;
  std::vector<std::string> urls;
  bool with_tls = false;
  std::unique_ptr<Poco::ThreadPool> threads;
  std::vector<std::unique_ptr<Poco::Net::TCPServer>> servers;
  std::deque<ListenerRules> rules;  // In the order of the servers, which refer to them.

  std::mutex mutex;
  std::condition_variable stop;
  bool stopped = false;  // Guarded by mutex.
  std::thread housekeeper;

  ~State() {
    rules.clear();  // Contexts end before what they stand on.
    if (with_tls) Poco::Net::uninitializeSSL();
  }

  void AddListener(Listening listening) {
    const int threads_max = core.options.connections_max + kSpareThreads;
    Poco::Net::TCPServerParams::Ptr params = new Poco::Net::TCPServerParams;
    params->setMaxThreads(threads_max);
    params->setMaxQueued(kBacklog);
    params->setThreadIdleTime(Poco::Timespan(kIdleThreadSeconds, 0));
    rules.push_back(std::move(listening.rules));
    servers.push_back(std::make_unique<Poco::Net::TCPServer>(
        new ConnectionFactory(rules.back(), core), *threads, listening.socket, params));
    urls.push_back(listening.url);
  }

  // Ends requests that do not get ready, and gives idle threads back.
  void KeepHouse() {
    std::unique_lock lock(mutex);
    while (!stop.wait_for(lock, kHousekeeping, [this] { return stopped; })) {
      core.connections.EndLate(core.clock->Mono() - core.options.request_timeout);
      const int before = threads->allocated();
      threads->collect();
      // What a burst of threads leaves behind stays with the process unless it is asked for back.
      if (threads->allocated() < before && core.connections.count() == 0) malloc_trim(0);
    }
  }
};

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}

Server::~Server() {
  Stop();
}

const std::vector<std::string>& Server::urls() const {
  return state_->urls;
}

Result<std::unique_ptr<Server>> Server::Start(ServerOptions options, Handler handler,
                                              const Clock& clock, Logger* logger) {
  auto state = std::make_unique<State>();
  state->core.options = std::move(options);
  state->core.handler = std::move(handler);
  state->core.clock = &clock;
  state->core.logger = logger;
  const ServerOptions& kept = state->core.options;
  if (!kept.token_file.empty()) state->core.tokens.emplace(TRY(TokenFile::Open(kept.token_file)));
  for (const ListenAddress& listener : kept.listeners) {
    if ((!listener.tls && !listener.pem) || state->with_tls) continue;
    Poco::Net::initializeSSL();
    state->with_tls = true;
  }
  // All or nothing: nobody is served before every address is bound.
  std::vector<Listening> sockets;
  for (const ListenAddress& listener : kept.listeners) {
    Result<Listening> listening = Listen(listener, kept);
    if (!listening) {
      for (const Listening& bound : sockets) RemoveUnixPath(bound.url);
      return std::move(listening).error();
    }
    sockets.push_back(std::move(listening).value());
  }
  const int threads_max = kept.connections_max + kSpareThreads;
  state->threads =
      std::make_unique<Poco::ThreadPool>("http", 1, threads_max, kIdleThreadSeconds, kStackBytes);
  for (Listening& listening : sockets) state->AddListener(std::move(listening));
  for (auto& server : state->servers) server->start();
  state->housekeeper = std::thread([raw = state.get()] { raw->KeepHouse(); });
  return std::unique_ptr<Server>(new Server(std::move(state)));
}

Result<void> Server::Renew(size_t listener, const TlsPem& pem) {
  return state_->rules.at(listener).tls->Renew(pem);
}

void Server::Stop() {
  {
    std::lock_guard lock(state_->mutex);
    if (state_->stopped) return;
    state_->stopped = true;
  }
  state_->stop.notify_all();
  state_->core.stopping = true;
  state_->housekeeper.join();
  for (auto& server : state_->servers) server->stop();
  state_->core.connections.EndAll(SHUT_RD);
  if (!state_->core.connections.WaitUntilNone(kGrace)) {
    state_->core.connections.EndAll(SHUT_RDWR);
  }
  state_->threads->joinAll();
  state_->servers.clear();
  for (const std::string& url : state_->urls) RemoveUnixPath(url);
}

}  // namespace detent
