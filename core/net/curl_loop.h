// The loop behind CurlTransport: one thread, one multi handle, one epoll, and the connections that
// libcurl keeps alive.
//
// Send, Cancel and RunAt come from any thread, everything else happens on the loop's own. The
// destructor cancels what is under way, calls every callback there, and joins the thread.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "core/base/clock.h"
#include "core/net/curl_exchange.h"
#include "core/net/curl_transport.h"

namespace detent {

class CurlLoop final : public CurlSockets {
 public:
  // Both borrowed.
  CurlLoop(const CurlTransportOptions& options, const Clock& clock);
  ~CurlLoop() override;
  // Once, before anything else. Where it throws the loop can only be destroyed.
  void Start();

  uint64_t Send(HttpRequest request, HttpCallback callback);
  void Cancel(uint64_t id);
  void RunAt(MonoTime at, std::function<void()> task);

 private:
  using ExchangePtr = std::unique_ptr<CurlExchange>;
  using Task = std::pair<MonoTime, std::function<void()>>;

  // An exchange that was begun, or waits; `handle` is null while it waits.
  struct Entry {
    ExchangePtr exchange;
    std::unique_ptr<CurlHandle> handle;
  };

  // What epoll knows of a descriptor, and what libcurl wants of it. A pooled connection that waits
  // for its next request stays registered: adding and removing it each time would cost two system
  // calls for every request.
  struct Watched {
    uint32_t wanted = 0;
    uint32_t registered = 0;
    bool opened_by_us = false;
    uint64_t exchange = 0;  // The one that opened it.
    MonoTime heard_at{};    // When there was last something to read; kept while HTTP/2 is active.
  };

  // curl_loop.cc: the thread, descriptors and time.
  static int OnSocket(void* easy, int fd, int what, void* self, void* of_socket);
  static int OnTimer(void* multi, long timeout_ms, void* self);
  void OnOpen(int socket, uint64_t exchange) override;
  void OnClose(int socket) override;
  void MakeMulti();
  void Run();
  bool TakeInbox();
  void RunDue();
  bool MaySleep();
  void PauseIfCrowded();
  void Drive();
  void OnEvent(int fd, uint32_t seen, MonoTime now);
  int Patience() const;
  void Watch(int fd, uint32_t wanted);
  Watched& At(int fd);
  void WakeIfAsleep(std::unique_lock<std::mutex> lock);
  void Wake();
  void TakeWake();

  // curl_loop_exchanges.cc: the life of an exchange.
  void Queue(ExchangePtr exchange);
  void Admit();
  bool Begin(Entry& entry);
  void FinishUnsent(ExchangePtr exchange, HttpOutcome as, std::string message);
  void End(uint64_t id, HttpOutcome as);
  void CollectFinished();
  void Complete(uint64_t id, int curl_code);
  bool IsConnectionClosed(const CurlExchange& exchange, bool closed_just_now) const;
  void DropIfStalled(const CurlExchange& exchange);
  int SocketOf(const SocketPorts& ports) const;
  void Retire(Entry entry);
  void Deliver();
  void Sweep();
  bool IsOverdue(CurlHandle& handle, MonoTime now);

  const Clock& clock_;
  const CurlTransportOptions& options_;
  const CurlLimits limits_;
  void* multi_ = nullptr;
  int epoll_ = -1;
  int wake_ = -1;

  std::mutex mutex_;
  std::vector<ExchangePtr> sends_;  // Guarded by mutex_, as are the next five.
  std::vector<uint64_t> cancels_;
  std::vector<Task> tasks_;
  uint64_t next_id_ = 1;
  bool sleeping_ = false;
  bool stopping_ = false;
  std::condition_variable stops_;

  // The thread's own from here on.
  std::unordered_map<uint64_t, Entry> entries_;
  std::deque<uint64_t> waiting_;
  std::map<std::string, size_t> per_host_;
  std::vector<std::unique_ptr<CurlHandle>> idle_;
  std::vector<ExchangePtr> finished_;
  std::vector<Watched> watched_;
  std::multimap<MonoTime, std::function<void()>> due_;
  size_t active_ = 0;
  size_t timed_ = 0;        // Active exchanges that the sweep has to look at.
  size_t multiplexed_ = 0;  // Active exchanges that may share a connection.
  size_t streams_ = 0;      // Active exchanges whose answers are taken piece by piece.
  size_t closed_ = 0;
  bool timer_set_ = false;
  MonoTime timer_at_{};
  MonoTime sweep_at_{};
  std::thread thread_;
};

}  // namespace detent
