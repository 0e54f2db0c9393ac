#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "core/net/curl_api.h"
#include "core/net/curl_loop.h"
#include "core/net/socket_ports.h"

namespace detent {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kSweepLeast{20}, kSweepMost{1000};

bool MayShare(const HttpRequest& request) {
  return request.version == HttpVersion::k2;
}

// libcurl has no timeouts like those for reading and idling. It has the others, but forgets them
// while a request waits for the connection that another one is making.
bool IsSwept(const HttpRequest& request) {
  return request.read_timeout.count() > 0 || request.idle_timeout.count() > 0 || MayShare(request);
}

// How often a request is looked at: a timeout is at most a sixteenth late, or 20 ms.
milliseconds SweepPeriod(const HttpRequest& request) {
  milliseconds least = kSweepMost;
  const auto heed = [&](milliseconds limit) {
    if (limit.count() > 0) least = std::min(least, limit / 16);
  };
  heed(request.read_timeout);
  heed(request.idle_timeout);
  if (MayShare(request)) {
    heed(request.connect_timeout);
    heed(request.total_timeout);
  }
  return std::max(least, kSweepLeast);
}

}  // namespace

void CurlLoop::Queue(ExchangePtr exchange) {
  if (multi_ == nullptr) {
    const std::string& why = LoadCurl().error().message();
    return FinishUnsent(std::move(exchange), HttpOutcome::kConnectFailed, why);
  }
  const uint64_t id = exchange->id;
  entries_[id].exchange = std::move(exchange);
  waiting_.push_back(id);
}

void CurlLoop::Admit() {
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

bool CurlLoop::Begin(Entry& entry) {
  CurlExchange& exchange = *entry.exchange;
  if (idle_.empty()) {
    entry.handle = std::make_unique<CurlHandle>(limits_, *this);
  } else {
    entry.handle = std::move(idle_.back());
    idle_.pop_back();
  }
  ++active_;
  if (exchange.request.on_body) ++streams_;
  if (options_.max_per_host > 0) ++per_host_[exchange.host_key];
  if (IsSwept(exchange.request)) {
    exchange.progress_at = clock_.Mono();
    const MonoTime soon = exchange.progress_at + SweepPeriod(exchange.request);
    sweep_at_ = timed_++ == 0 ? soon : std::min(sweep_at_, soon);
  }
  if (MayShare(exchange.request)) {
    ++multiplexed_;
    exchange.begun_at = exchange.progress_at;
  }
  if (!entry.handle->Begin(exchange)) return false;
  return Curl().multi_add_handle(multi_, entry.handle->easy()) == CURLM_OK;
}

void CurlLoop::FinishUnsent(ExchangePtr exchange, HttpOutcome as, std::string message) {
  exchange->reply.outcome = as;
  exchange->reply.message = std::move(message);
  exchange->reply.not_sent = true;
  exchange->reply.connection_closed = true;  // There never was one.
  exchange->reply.request_body = std::move(exchange->request.body);
  finished_.push_back(std::move(exchange));
}

// Ends an exchange before its time. One that has finished already keeps its outcome.
void CurlLoop::End(uint64_t id, HttpOutcome as) {
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

void CurlLoop::CollectFinished() {
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

void CurlLoop::Complete(uint64_t id, int curl_code) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  Entry entry = std::move(found->second);
  entries_.erase(found);
  CurlExchange& exchange = *entry.exchange;
  entry.handle->Finish(curl_code);
  const size_t closed_before = closed_;
  // Of an unfinished HTTP/1 exchange this closes the connection before it returns.
  Curl().multi_remove_handle(multi_, entry.handle->easy());
  exchange.reply.connection_closed = IsConnectionClosed(exchange, closed_ != closed_before);
  if (MayShare(exchange.request)) DropIfStalled(exchange);
  exchange.reply.request_body = std::move(exchange.request.body);
  Retire(std::move(entry));
}

// An HTTP/2 stream is reset alone; its connection lives on for others.
bool CurlLoop::IsConnectionClosed(const CurlExchange& exchange, bool closed_just_now) const {
  if (exchange.request.fresh_connection || closed_just_now) return true;
  const bool finished =
      exchange.reply.outcome == HttpOutcome::kOk && !exchange.reply.body_truncated;
  if (finished || !MayShare(exchange.request)) return !finished;
  return SocketOf(exchange.ports) < 0;
}

// The connection between these ports; -1: there is none any more.
int CurlLoop::SocketOf(const SocketPorts& ports) const {
  for (size_t at = 0; at < watched_.size(); ++at) {
    const int fd = static_cast<int>(at);
    if (watched_[at].opened_by_us && PortsOf(fd) == ports) return fd;
  }
  return -1;
}

// A connection that said nothing to any of its streams, while one of them waited in vain for as
// long as it would, is not to be used again. libcurl only learns so from the socket.
void CurlLoop::DropIfStalled(const CurlExchange& exchange) {
  MonoTime since = exchange.begun_at;
  switch (exchange.reply.outcome) {
    case HttpOutcome::kReadTimeout:
    case HttpOutcome::kIdleTimeout:
      since = exchange.progress_at;
      break;
    case HttpOutcome::kTotalTimeout:
      break;
    default:
      return;
  }
  const int fd = SocketOf(exchange.ports);
  if (fd >= 0 && At(fd).heard_at <= since) shutdown(fd, SHUT_RDWR);
}

void CurlLoop::Retire(Entry entry) {
  CurlExchange& exchange = *entry.exchange;
  --active_;
  if (IsSwept(exchange.request)) --timed_;
  if (exchange.request.on_body) --streams_;
  if (MayShare(exchange.request)) --multiplexed_;
  if (options_.max_per_host > 0) {
    const auto host = per_host_.find(exchange.host_key);
    if (--host->second == 0) per_host_.erase(host);
  }
  idle_.push_back(std::move(entry.handle));
  finished_.push_back(std::move(entry.exchange));
}

void CurlLoop::Deliver() {
  std::vector<ExchangePtr> finished;
  finished.swap(finished_);
  for (ExchangePtr& exchange : finished) exchange->callback(std::move(exchange->reply));
}

// True where the exchange has used up one of its timeouts, which is noted in it.
bool CurlLoop::IsOverdue(CurlHandle& handle, MonoTime now) {
  CurlExchange& exchange = *handle.exchange();
  const HttpRequest& request = exchange.request;
  if (MayShare(request)) {
    const auto used = now - exchange.begun_at;
    const bool begun = exchange.requests_begun > 0;
    const bool over = request.total_timeout.count() > 0 && used >= request.total_timeout;
    if (over || (!begun && used >= ConnectTimeoutOf(request))) {
      exchange.stopped_as = begun ? HttpOutcome::kTotalTimeout : HttpOutcome::kConnectTimeout;
      return true;
    }
    if (request.read_timeout.count() == 0 && request.idle_timeout.count() == 0) return false;
  }
  const uint64_t progress = handle.Progress();
  if (progress != exchange.progress || exchange.requests_begun == 0) {
    exchange.progress = progress;
    exchange.progress_at = now;
    return false;
  }
  const auto quiet = now - exchange.progress_at;
  if (exchange.received == 0 && request.read_timeout.count() > 0 && quiet >= request.read_timeout) {
    exchange.stopped_as = HttpOutcome::kReadTimeout;
    return true;
  }
  if (request.idle_timeout.count() > 0 && quiet >= request.idle_timeout) {
    exchange.stopped_as = HttpOutcome::kIdleTimeout;
    return true;
  }
  return false;
}

void CurlLoop::Sweep() {
  if (timed_ == 0) return;
  const MonoTime now = clock_.Mono();
  if (now < sweep_at_) return;
  std::vector<uint64_t> overdue;
  milliseconds period = kSweepMost;
  for (auto& [id, entry] : entries_) {
    if (entry.handle == nullptr || !IsSwept(entry.exchange->request)) continue;
    period = std::min(period, SweepPeriod(entry.exchange->request));
    if (IsOverdue(*entry.handle, now)) overdue.push_back(id);
  }
  sweep_at_ = now + period;
  for (const uint64_t id : overdue) End(id, entries_[id].exchange->stopped_as);
}

}  // namespace detent
