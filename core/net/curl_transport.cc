#include "core/net/curl_transport.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <deque>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <vector>

#include "core/net/curl_api.h"
#include "core/net/curl_exchange.h"
#include "core/net/url.h"

namespace detent {
namespace {

using std::chrono::milliseconds;
using ExchangePtr = std::unique_ptr<CurlExchange>;

constexpr milliseconds kSweepEvery{20};

// What epoll knows of a descriptor, and what libcurl wants of it. A pooled connection that waits
// for its next request stays registered: adding and removing it each time would cost two system
// calls for every request.
struct Watched {
  uint32_t wanted = 0;
  uint32_t registered = 0;
  bool opened_by_us = false;
  uint64_t exchange = 0;  // The one that opened it.
};

}  // namespace

class CurlTransport::Loop final : public CurlSockets {
 public:
  Loop(const CurlTransportOptions& options, const Clock& clock)
      : clock_(clock),
        options_(options),
        limits_{options_.max_header_bytes, &options_.egress, options_.proxy} {}
  ~Loop() override;
  // Once, before anything else. Where it throws the loop can only be destroyed.
  void Start();

  uint64_t Send(HttpRequest request, HttpCallback callback);
  void Cancel(uint64_t id);

 private:
  // An exchange that was begun, or waits; `handle` is null while it waits.
  struct Entry {
    ExchangePtr exchange;
    std::unique_ptr<CurlHandle> handle;
  };

  static int OnSocket(CURL*, curl_socket_t fd, int what, void* self, void*);
  static int OnTimer(CURLM*, long timeout_ms, void* self);
  void OnOpen(int socket, uint64_t exchange) override;
  void OnClose(int socket) override;

  void MakeMulti();
  void Run();
  bool TakeInbox();
  void Queue(ExchangePtr exchange);
  void Admit();
  bool Begin(Entry& entry);
  void FinishUnsent(ExchangePtr exchange, HttpOutcome as, std::string message);
  void End(uint64_t id, HttpOutcome as);
  void Drive();
  void CollectFinished();
  void Complete(uint64_t id, int curl_code);
  void Retire(Entry entry);
  void Deliver();
  void Sweep();
  void SweepOne(uint64_t id, CurlHandle& handle, MonoTime now, std::vector<uint64_t>& overdue);
  int Patience() const;
  void Watch(int fd, uint32_t wanted);
  Watched& At(int fd);
  void Wake();

  const Clock& clock_;
  const CurlTransportOptions options_;
  const CurlLimits limits_;
  CURLM* multi_ = nullptr;
  int epoll_ = -1;
  int wake_ = -1;

  std::mutex mutex_;
  std::vector<ExchangePtr> sends_;  // Guarded by mutex_, as are the next four.
  std::vector<uint64_t> cancels_;
  uint64_t next_id_ = 1;
  bool sleeping_ = false;
  bool stopping_ = false;

  // The thread's own from here on.
  std::unordered_map<uint64_t, Entry> entries_;
  std::deque<uint64_t> waiting_;
  std::map<std::string, size_t> per_host_;
  std::vector<std::unique_ptr<CurlHandle>> idle_;
  std::vector<ExchangePtr> finished_;
  std::vector<Watched> watched_;
  size_t active_ = 0;
  size_t timed_ = 0;  // Active exchanges that the sweep has to look at.
  size_t closed_ = 0;
  bool timer_set_ = false;
  MonoTime timer_at_{};
  MonoTime sweep_at_{};
  std::thread thread_;
};

void CurlTransport::Loop::Start() {
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = wake_;
  if (epoll_ < 0 || wake_ < 0 || epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event) != 0) {
    throw std::system_error(errno, std::generic_category(), "HTTP cannot begin");
  }
  if (LoadCurl()) MakeMulti();  // Else the loop's work is to say why.
  thread_ = std::thread([this] { Run(); });
}

void CurlTransport::Loop::MakeMulti() {
  multi_ = Curl().multi_init();
  if (multi_ == nullptr) throw std::bad_alloc();
  Curl().multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &Loop::OnSocket);
  Curl().multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  Curl().multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &Loop::OnTimer);
  Curl().multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
  Curl().multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(options_.max_connections));
}

CurlTransport::Loop::~Loop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  Wake();
  if (thread_.joinable()) thread_.join();
  idle_.clear();
  if (multi_ != nullptr) Curl().multi_cleanup(multi_);
  if (wake_ >= 0) close(wake_);
  if (epoll_ >= 0) close(epoll_);
}

void CurlTransport::Loop::Wake() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_, &one, sizeof one);
}

uint64_t CurlTransport::Loop::Send(HttpRequest request, HttpCallback callback) {
  auto exchange = std::make_unique<CurlExchange>();
  exchange->request = std::move(request);
  exchange->callback = std::move(callback);
  if (options_.max_per_host > 0) exchange->host_key = std::string(HostOf(exchange->request.url));
  std::unique_lock lock(mutex_);
  const uint64_t id = exchange->id = next_id_++;
  sends_.push_back(std::move(exchange));
  const bool wake = std::exchange(sleeping_, false);
  lock.unlock();
  if (wake) Wake();
  return id;
}

void CurlTransport::Loop::Cancel(uint64_t id) {
  std::unique_lock lock(mutex_);
  cancels_.push_back(id);
  const bool wake = std::exchange(sleeping_, false);
  lock.unlock();
  if (wake) Wake();
}

Watched& CurlTransport::Loop::At(int fd) {
  const auto index = static_cast<size_t>(fd);
  if (index >= watched_.size()) watched_.resize(index + 64);
  return watched_[index];
}

void CurlTransport::Loop::OnOpen(int socket, uint64_t exchange) {
  At(socket) = {0, 0, true, exchange};
}

void CurlTransport::Loop::OnClose(int socket) {
  At(socket) = {};  // Closing takes it out of epoll by itself.
  ++closed_;
}

void CurlTransport::Loop::Watch(int fd, uint32_t wanted) {
  Watched& watched = At(fd);
  watched.wanted = wanted;
  if (wanted == watched.registered) return;
  if (wanted == 0 && watched.opened_by_us) return;
  epoll_event event{};
  event.events = wanted;
  event.data.fd = fd;
  if (wanted == 0) {
    epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, &event);
  } else if (watched.registered == 0 || epoll_ctl(epoll_, EPOLL_CTL_MOD, fd, &event) != 0) {
    epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
  }
  watched.registered = wanted;
}

int CurlTransport::Loop::OnSocket(CURL*, curl_socket_t fd, int what, void* self, void*) {
  uint32_t wanted = 0;
  if (what == CURL_POLL_IN || what == CURL_POLL_INOUT) wanted |= EPOLLIN;
  if (what == CURL_POLL_OUT || what == CURL_POLL_INOUT) wanted |= EPOLLOUT;
  static_cast<Loop*>(self)->Watch(fd, wanted);
  return 0;
}

int CurlTransport::Loop::OnTimer(CURLM*, long timeout_ms, void* self) {
  Loop& loop = *static_cast<Loop*>(self);
  loop.timer_set_ = timeout_ms >= 0;
  if (timeout_ms == 0) {
    loop.timer_at_ = MonoTime::min();
  } else if (timeout_ms > 0) {
    loop.timer_at_ = loop.clock_.Mono() + milliseconds(timeout_ms);
  }
  return 0;
}

void CurlTransport::Loop::Queue(ExchangePtr exchange) {
  if (multi_ == nullptr) {
    const std::string& why = LoadCurl().error().message();
    return FinishUnsent(std::move(exchange), HttpOutcome::kConnectFailed, why);
  }
  const uint64_t id = exchange->id;
  entries_[id].exchange = std::move(exchange);
  waiting_.push_back(id);
}

// False once the transport stops.
bool CurlTransport::Loop::TakeInbox() {
  std::vector<ExchangePtr> sends;
  std::vector<uint64_t> cancels;
  bool stopping = false;
  {
    std::lock_guard lock(mutex_);
    sleeping_ = false;
    sends.swap(sends_);
    cancels.swap(cancels_);
    stopping = stopping_;
  }
  for (ExchangePtr& exchange : sends) Queue(std::move(exchange));
  for (const uint64_t id : cancels) End(id, HttpOutcome::kCancelled);
  return !stopping;
}

void CurlTransport::Loop::Admit() {
  size_t looked_at = 0;
  while (active_ < options_.max_connections && looked_at < waiting_.size()) {
    const uint64_t id = waiting_[looked_at];
    const auto found = entries_.find(id);
    if (found == entries_.end()) {  // Cancelled while it waited.
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(looked_at));
      continue;
    }
    const std::string& host = found->second.exchange->host_key;
    if (options_.max_per_host > 0 && per_host_[host] >= options_.max_per_host) {
      ++looked_at;
      continue;
    }
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(looked_at));
    if (!Begin(found->second)) Complete(id, CURLE_BAD_FUNCTION_ARGUMENT);
  }
}

bool CurlTransport::Loop::Begin(Entry& entry) {
  CurlExchange& exchange = *entry.exchange;
  if (idle_.empty()) {
    entry.handle = std::make_unique<CurlHandle>(limits_, *this);
  } else {
    entry.handle = std::move(idle_.back());
    idle_.pop_back();
  }
  ++active_;
  if (options_.max_per_host > 0) ++per_host_[exchange.host_key];
  if (exchange.request.read_timeout.count() > 0 || exchange.request.idle_timeout.count() > 0) {
    if (timed_++ == 0) sweep_at_ = clock_.Mono() + kSweepEvery;
    exchange.progress_at = clock_.Mono();
  }
  if (!entry.handle->Begin(exchange)) return false;
  return Curl().multi_add_handle(multi_, entry.handle->easy()) == CURLM_OK;
}

void CurlTransport::Loop::FinishUnsent(ExchangePtr exchange, HttpOutcome as, std::string message) {
  exchange->reply.outcome = as;
  exchange->reply.message = std::move(message);
  exchange->reply.not_sent = true;
  exchange->reply.connection_closed = true;  // There never was one.
  finished_.push_back(std::move(exchange));
}

// Ends an exchange before its time. One that has finished already keeps its outcome.
void CurlTransport::Loop::End(uint64_t id, HttpOutcome as) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  CurlExchange& exchange = *found->second.exchange;
  exchange.stopped_as = as;
  if (found->second.handle != nullptr) {
    if (exchange.request.reset_on_cancel && exchange.request.fresh_connection) {
      for (size_t fd = 0; fd < watched_.size(); ++fd) {
        if (!watched_[fd].opened_by_us || watched_[fd].exchange != id) continue;
        const linger at_once{1, 0};
        setsockopt(static_cast<int>(fd), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
      }
    }
    return Complete(id, CURLE_ABORTED_BY_CALLBACK);
  }
  FinishUnsent(std::move(found->second.exchange), as,
               "the request was cancelled before it was begun");
  entries_.erase(found);
}

void CurlTransport::Loop::Complete(uint64_t id, int curl_code) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  Entry entry = std::move(found->second);
  entries_.erase(found);
  CurlExchange& exchange = *entry.exchange;
  entry.handle->Finish(curl_code);
  const size_t closed_before = closed_;
  // Of an unfinished HTTP/1 exchange this closes the connection before it returns.
  Curl().multi_remove_handle(multi_, entry.handle->easy());
  const bool finished =
      exchange.reply.outcome == HttpOutcome::kOk && !exchange.reply.body_truncated;
  exchange.reply.connection_closed =
      exchange.request.fresh_connection || !finished || closed_ != closed_before;
  // An HTTP/2 stream is reset alone; its connection lives on for others.
  if (exchange.reply.version == HttpVersion::k2 && !exchange.request.fresh_connection) {
    exchange.reply.connection_closed = closed_ != closed_before;
  }
  Retire(std::move(entry));
}

void CurlTransport::Loop::Retire(Entry entry) {
  CurlExchange& exchange = *entry.exchange;
  --active_;
  if (exchange.request.read_timeout.count() > 0 || exchange.request.idle_timeout.count() > 0) {
    --timed_;
  }
  if (options_.max_per_host > 0) {
    const auto host = per_host_.find(exchange.host_key);
    if (--host->second == 0) per_host_.erase(host);
  }
  idle_.push_back(std::move(entry.handle));
  finished_.push_back(std::move(entry.exchange));
}

void CurlTransport::Loop::CollectFinished() {
  if (multi_ == nullptr) return;
  int left = 0;
  while (CURLMsg* message = Curl().multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    CURL* easy = message->easy_handle;
    const CURLcode code = message->data.result;
    void* handle = nullptr;
    Curl().easy_getinfo(easy, CURLINFO_PRIVATE, &handle);
    Complete(static_cast<CurlHandle*>(handle)->exchange()->id, code);
  }
}

void CurlTransport::Loop::Deliver() {
  std::vector<ExchangePtr> finished;
  finished.swap(finished_);
  for (ExchangePtr& exchange : finished) exchange->callback(std::move(exchange->reply));
}

void CurlTransport::Loop::SweepOne(uint64_t id, CurlHandle& handle, MonoTime now,
                                   std::vector<uint64_t>& overdue) {
  CurlExchange& exchange = *handle.exchange();
  const HttpRequest& request = exchange.request;
  if (request.read_timeout.count() == 0 && request.idle_timeout.count() == 0) return;
  const uint64_t progress = handle.Progress();
  if (progress != exchange.progress || exchange.requests_begun == 0) {
    exchange.progress = progress;
    exchange.progress_at = now;
    return;
  }
  const auto quiet = now - exchange.progress_at;
  if (exchange.received == 0 && request.read_timeout.count() > 0 && quiet >= request.read_timeout) {
    exchange.stopped_as = HttpOutcome::kReadTimeout;
    overdue.push_back(id);
  } else if (request.idle_timeout.count() > 0 && quiet >= request.idle_timeout) {
    exchange.stopped_as = HttpOutcome::kIdleTimeout;
    overdue.push_back(id);
  }
}

void CurlTransport::Loop::Sweep() {
  const MonoTime now = clock_.Mono();
  if (timed_ == 0 || now < sweep_at_) return;
  sweep_at_ = now + kSweepEvery;
  std::vector<uint64_t> overdue;
  for (auto& [id, entry] : entries_) {
    if (entry.handle != nullptr) SweepOne(id, *entry.handle, now, overdue);
  }
  for (const uint64_t id : overdue) End(id, entries_[id].exchange->stopped_as);
}

// Milliseconds that epoll may wait; -1: without end.
int CurlTransport::Loop::Patience() const {
  if (!timer_set_ && timed_ == 0) return -1;
  const MonoTime now = clock_.Mono();
  MonoTime until = MonoTime::max();
  if (timer_set_) until = timer_at_;
  if (timed_ > 0) until = std::min(until, sweep_at_);
  if (until <= now) return 0;
  return static_cast<int>(std::chrono::ceil<milliseconds>(until - now).count());
}

void CurlTransport::Loop::Drive() {
  std::array<epoll_event, 256> events;
  int patience = Patience();
  if (patience != 0) {
    std::lock_guard lock(mutex_);
    sleeping_ = sends_.empty() && cancels_.empty() && !stopping_;
    if (!sleeping_) patience = 0;
  }
  const int count = epoll_wait(epoll_, events.data(), events.size(), patience);
  int running = 0;
  for (int i = 0; i < count; ++i) {
    const int fd = events[static_cast<size_t>(i)].data.fd;
    const uint32_t seen = events[static_cast<size_t>(i)].events;
    if (fd == wake_) {
      uint64_t ignored = 0;
      [[maybe_unused]] const ssize_t got = read(wake_, &ignored, sizeof ignored);
      continue;
    }
    Watched& watched = At(fd);
    if (watched.wanted == 0) {  // An idle connection was closed by its server.
      epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr);
      watched.registered = 0;
      continue;
    }
    int flags = 0;
    if (seen & EPOLLIN) flags |= CURL_CSELECT_IN;
    if (seen & EPOLLOUT) flags |= CURL_CSELECT_OUT;
    if (seen & (EPOLLERR | EPOLLHUP)) flags |= CURL_CSELECT_ERR;
    Curl().multi_socket_action(multi_, fd, flags, &running);
  }
}

void CurlTransport::Loop::Run() {
  while (TakeInbox()) {
    Admit();
    if (timer_set_ && timer_at_ <= clock_.Mono()) {
      timer_set_ = false;
      int running = 0;
      Curl().multi_socket_action(multi_, CURL_SOCKET_TIMEOUT, 0, &running);
    }
    CollectFinished();
    Sweep();
    Deliver();
    Drive();
    CollectFinished();
    Deliver();
  }
  while (!entries_.empty()) End(entries_.begin()->first, HttpOutcome::kCancelled);
  Deliver();
}

CurlTransport::CurlTransport(CurlTransportOptions options, const Clock& clock)
    : options_(std::move(options)), clock_(clock) {}

CurlTransport::~CurlTransport() = default;

// Tried again by the next request if the loop could not be made.
CurlTransport::Loop& CurlTransport::Begun() {
  if (Loop* loop = begun_.load(std::memory_order_acquire)) return *loop;
  std::lock_guard lock(begin_mutex_);
  if (loop_ == nullptr) {
    auto loop = std::make_unique<Loop>(options_, clock_);
    loop->Start();
    loop_ = std::move(loop);
    begun_.store(loop_.get(), std::memory_order_release);
  }
  return *loop_;
}

uint64_t CurlTransport::Send(HttpRequest request, HttpCallback callback) {
  return Begun().Send(std::move(request), std::move(callback));
}

void CurlTransport::Cancel(uint64_t id) {
  if (Loop* loop = begun_.load(std::memory_order_acquire)) loop->Cancel(id);
}

}  // namespace detent
