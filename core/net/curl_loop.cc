#include "core/net/curl_loop.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <system_error>
#include <utility>

#include "core/net/curl_api.h"
#include "core/net/url.h"

namespace detent {

using std::chrono::milliseconds;

CurlLoop::CurlLoop(const CurlTransportOptions& options, const Clock& clock)
    : clock_(clock),
      options_(options),
      limits_{options_.max_header_bytes, &options_.egress, options_.proxy} {}

void CurlLoop::Start() {
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

void CurlLoop::MakeMulti() {
  multi_ = Curl().multi_init();
  if (multi_ == nullptr) throw std::bad_alloc();
  Curl().multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &CurlLoop::OnSocket);
  Curl().multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  Curl().multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &CurlLoop::OnTimer);
  Curl().multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
  Curl().multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(options_.max_connections));
  Curl().multi_setopt(multi_, CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_MULTIPLEX));
  // How many streams a connection carries is for the server to say.
  Curl().multi_setopt(multi_, CURLMOPT_MAX_CONCURRENT_STREAMS,
                      static_cast<long>(options_.max_connections));
}

CurlLoop::~CurlLoop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stops_.notify_all();
  Wake();
  if (thread_.joinable()) thread_.join();
  idle_.clear();
  if (multi_ != nullptr) Curl().multi_cleanup(multi_);
  if (wake_ >= 0) close(wake_);
  if (epoll_ >= 0) close(epoll_);
}

void CurlLoop::Wake() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_, &one, sizeof one);
}

void CurlLoop::TakeWake() {
  uint64_t ignored = 0;
  [[maybe_unused]] const ssize_t got = read(wake_, &ignored, sizeof ignored);
}

void CurlLoop::WakeIfAsleep(std::unique_lock<std::mutex> lock) {
  const bool wake = std::exchange(sleeping_, false);
  lock.unlock();
  if (wake) Wake();
}

uint64_t CurlLoop::Send(HttpRequest request, HttpCallback callback) {
  auto exchange = std::make_unique<CurlExchange>();
  exchange->request = std::move(request);
  exchange->callback = std::move(callback);
  if (options_.max_per_host > 0) exchange->host_key = std::string(HostOf(exchange->request.url));
  std::unique_lock lock(mutex_);
  const uint64_t id = exchange->id = next_id_++;
  sends_.push_back(std::move(exchange));
  WakeIfAsleep(std::move(lock));
  return id;
}

void CurlLoop::Cancel(uint64_t id) {
  std::unique_lock lock(mutex_);
  cancels_.push_back(id);
  WakeIfAsleep(std::move(lock));
}

void CurlLoop::RunAt(MonoTime at, std::function<void()> task) {
  std::unique_lock lock(mutex_);
  tasks_.emplace_back(at, std::move(task));
  WakeIfAsleep(std::move(lock));
}

CurlLoop::Watched& CurlLoop::At(int fd) {
  const auto index = static_cast<size_t>(fd);
  if (index >= watched_.size()) watched_.resize(index + 64);
  return watched_[index];
}

void CurlLoop::OnOpen(int socket, uint64_t exchange) {
  At(socket) = {0, 0, true, exchange, {}};
}

void CurlLoop::OnClose(int socket) {
  At(socket) = {};  // Closing takes it out of epoll by itself.
  ++closed_;
}

void CurlLoop::Watch(int fd, uint32_t wanted) {
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

int CurlLoop::OnSocket(void*, int fd, int what, void* self, void*) {
  uint32_t wanted = 0;
  if (what == CURL_POLL_IN || what == CURL_POLL_INOUT) wanted |= EPOLLIN;
  if (what == CURL_POLL_OUT || what == CURL_POLL_INOUT) wanted |= EPOLLOUT;
  static_cast<CurlLoop*>(self)->Watch(fd, wanted);
  return 0;
}

int CurlLoop::OnTimer(void*, long timeout_ms, void* self) {
  CurlLoop& loop = *static_cast<CurlLoop*>(self);
  loop.timer_set_ = timeout_ms >= 0;
  if (timeout_ms == 0) {
    loop.timer_at_ = MonoTime::min();
  } else if (timeout_ms > 0) {
    loop.timer_at_ = loop.clock_.Mono() + milliseconds(timeout_ms);
  }
  return 0;
}

// False once the transport stops.
bool CurlLoop::TakeInbox() {
  std::vector<ExchangePtr> sends;
  std::vector<uint64_t> cancels;
  std::vector<Task> tasks;
  bool stopping = false;
  {
    std::lock_guard lock(mutex_);
    sleeping_ = false;
    sends.swap(sends_);
    cancels.swap(cancels_);
    tasks.swap(tasks_);
    stopping = stopping_;
  }
  for (ExchangePtr& exchange : sends) Queue(std::move(exchange));
  for (const uint64_t id : cancels) End(id, HttpOutcome::kCancelled);
  for (Task& task : tasks) due_.insert(std::move(task));
  return !stopping;
}

void CurlLoop::RunDue() {
  if (due_.empty()) return;
  const MonoTime now = clock_.Mono();
  while (!due_.empty() && due_.begin()->first <= now) {
    const auto task = std::move(due_.begin()->second);
    due_.erase(due_.begin());
    task();
  }
}

// Milliseconds that epoll may wait; -1: without end.
int CurlLoop::Patience() const {
  if (!timer_set_ && timed_ == 0 && due_.empty()) return -1;
  MonoTime until = MonoTime::max();
  if (timer_set_) until = timer_at_;
  if (timed_ > 0) until = std::min(until, sweep_at_);
  if (!due_.empty()) until = std::min(until, due_.begin()->first);
  const MonoTime now = clock_.Mono();
  if (until <= now) return 0;
  // A whole day is no limit to what epoll takes, and nothing is late by it.
  const auto wait = std::min<MonoTime::duration>(until - now, std::chrono::hours(24));
  return static_cast<int>(std::chrono::ceil<milliseconds>(wait).count());
}

void CurlLoop::OnEvent(int fd, uint32_t seen, MonoTime now) {
  if (fd == wake_) return TakeWake();
  Watched& watched = At(fd);
  if ((seen & EPOLLIN) != 0) watched.heard_at = now;
  if (watched.wanted == 0) {  // An idle connection was closed by its server.
    epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr);
    watched.registered = 0;
    return;
  }
  int flags = 0;
  if (seen & EPOLLIN) flags |= CURL_CSELECT_IN;
  if (seen & EPOLLOUT) flags |= CURL_CSELECT_OUT;
  if (seen & (EPOLLERR | EPOLLHUP)) flags |= CURL_CSELECT_ERR;
  int running = 0;
  Curl().multi_socket_action(multi_, fd, flags, &running);
}

// False: there is something to do already. Else whoever brings more wakes the thread.
bool CurlLoop::MaySleep() {
  std::lock_guard lock(mutex_);
  sleeping_ = sends_.empty() && cancels_.empty() && tasks_.empty() && !stopping_;
  return sleeping_;
}

void CurlLoop::PauseIfCrowded() {
  if (options_.crowd == 0 || active_ - streams_ < options_.crowd) return;
  std::unique_lock lock(mutex_);
  stops_.wait_for(lock, options_.crowd_pause, [this] { return stopping_; });
}

void CurlLoop::Drive() {
  std::array<epoll_event, 256> events;
  int patience = Patience();
  if (patience != 0 && !MaySleep()) patience = 0;
  const int count = epoll_wait(epoll_, events.data(), events.size(), patience);
  const MonoTime now = multiplexed_ > 0 && count > 0 ? clock_.Mono() : MonoTime();
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<size_t>(i)];
    OnEvent(event.data.fd, event.events, now);
  }
}

void CurlLoop::Run() {
  pthread_setname_np(pthread_self(), "dt:http");  // Else it would have its first sender's.
  while (TakeInbox()) {
    RunDue();
    Admit();
    if (timer_set_ && timer_at_ <= clock_.Mono()) {
      timer_set_ = false;
      int running = 0;
      Curl().multi_socket_action(multi_, CURL_SOCKET_TIMEOUT, 0, &running);
    }
    CollectFinished();
    Sweep();
    Deliver();
    PauseIfCrowded();
    Drive();
    CollectFinished();
    Deliver();
  }
  while (!entries_.empty()) End(entries_.begin()->first, HttpOutcome::kCancelled);
  Deliver();
}

}  // namespace detent
