// What HTTP costs without a host around it: libcurl's multi interface on epoll, one thread, a fixed
// number of connections that are kept alive. Also the quick way to send many objects to a host.
//
//   bare_loop URL REQUESTS CONNECTIONS [BODY_FILE CONTENT_TYPE]
//
// With a BODY_FILE requests are POSTs of its text, where @N@ stands for the request's number.
// Prints {"requests", "failed", "seconds"}; a status other than 2xx is a failure.

#include <curl/curl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace detent::bench {
namespace {

struct LoopOptions {
  std::string url;
  int64_t requests = 0;
  int connections = 1;
  std::string body;  // Empty: GET.
  std::string content_type;
};

size_t Discard(char*, size_t size, size_t count, void*) {
  return size * count;
}

class BareLoop {
 public:
  explicit BareLoop(const LoopOptions& options);
  ~BareLoop();
  BareLoop(const BareLoop&) = delete;
  BareLoop& operator=(const BareLoop&) = delete;
  void Run();
  int64_t failed() const { return failed_; }

 private:
  struct Lane {
    CURL* easy = nullptr;
    std::string body;
  };

  static int OnSocket(CURL*, curl_socket_t fd, int what, void* me, void* known);
  static int OnTimer(CURLM*, long timeout_ms, void* me);  // NOLINT(google-runtime-int): libcurl's.
  void Begin(Lane& lane);
  void TakeFinished();

  const LoopOptions& options_;
  int epoll_ = -1;
  CURLM* multi_ = nullptr;
  curl_slist* headers_ = nullptr;
  std::vector<Lane> lanes_;
  int timeout_ms_ = -1;
  int64_t begun_ = 0, finished_ = 0, failed_ = 0;
};

BareLoop::BareLoop(const LoopOptions& options)
    : options_(options),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      multi_(curl_multi_init()),
      lanes_(static_cast<size_t>(options.connections)) {
  curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &BareLoop::OnSocket);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &BareLoop::OnTimer);
  curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(options.connections));
  if (!options.body.empty()) {
    headers_ = curl_slist_append(headers_, ("Content-Type: " + options.content_type).c_str());
    headers_ = curl_slist_append(headers_, "Expect:");
  }
  for (Lane& lane : lanes_) {
    lane.easy = curl_easy_init();
    curl_easy_setopt(lane.easy, CURLOPT_URL, options.url.c_str());
    curl_easy_setopt(lane.easy, CURLOPT_WRITEFUNCTION, &Discard);
    curl_easy_setopt(lane.easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(lane.easy, CURLOPT_PROXY, "");
    curl_easy_setopt(lane.easy, CURLOPT_PRIVATE, &lane);
    if (headers_ != nullptr) curl_easy_setopt(lane.easy, CURLOPT_HTTPHEADER, headers_);
  }
}

BareLoop::~BareLoop() {
  for (Lane& lane : lanes_) curl_easy_cleanup(lane.easy);
  curl_multi_cleanup(multi_);
  curl_slist_free_all(headers_);
  close(epoll_);
}

// `known` is not null for a socket that is in the epoll set already.
int BareLoop::OnSocket(CURL*, curl_socket_t fd, int what, void* me, void* known) {
  auto& loop = *static_cast<BareLoop*>(me);
  if (what == CURL_POLL_REMOVE) {
    epoll_ctl(loop.epoll_, EPOLL_CTL_DEL, fd, nullptr);
    return 0;
  }
  epoll_event event{};
  event.events = ((what & CURL_POLL_IN) != 0 ? uint32_t{EPOLLIN} : 0) |
                 ((what & CURL_POLL_OUT) != 0 ? uint32_t{EPOLLOUT} : 0);
  event.data.fd = fd;
  epoll_ctl(loop.epoll_, known != nullptr ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event);
  if (known == nullptr) curl_multi_assign(loop.multi_, fd, me);
  return 0;
}

int BareLoop::OnTimer(CURLM*, long timeout_ms, void* me) {
  static_cast<BareLoop*>(me)->timeout_ms_ = static_cast<int>(timeout_ms);
  return 0;
}

void BareLoop::Begin(Lane& lane) {
  const std::string number = std::to_string(begun_++);
  if (!options_.body.empty()) {
    lane.body = options_.body;
    for (size_t at; (at = lane.body.find("@N@")) != std::string::npos;) {
      lane.body.replace(at, 3, number);
    }
    curl_easy_setopt(lane.easy, CURLOPT_POSTFIELDS, lane.body.c_str());
    curl_easy_setopt(lane.easy, CURLOPT_POSTFIELDSIZE, static_cast<long>(lane.body.size()));
  }
  curl_multi_add_handle(multi_, lane.easy);
}

void BareLoop::TakeFinished() {
  int left = 0;
  while (CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    CURL* easy = message->easy_handle;
    long status = 0;  // NOLINT(google-runtime-int): libcurl's.
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    if (message->data.result != CURLE_OK || status / 100 != 2) ++failed_;
    Lane* lane = nullptr;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &lane);
    curl_multi_remove_handle(multi_, easy);
    ++finished_;
    if (begun_ < options_.requests) Begin(*lane);
  }
}

void BareLoop::Run() {
  for (Lane& lane : lanes_) {
    if (begun_ < options_.requests) Begin(lane);
  }
  epoll_event events[256];
  int running = 0;
  while (finished_ < options_.requests) {
    const int count = epoll_wait(epoll_, events, 256, timeout_ms_);
    if (count == 0) {
      timeout_ms_ = -1;
      curl_multi_socket_action(multi_, CURL_SOCKET_TIMEOUT, 0, &running);
    }
    for (int i = 0; i < count; ++i) {
      const uint32_t seen = events[i].events;
      const int what = ((seen & EPOLLIN) != 0 ? CURL_CSELECT_IN : 0) |
                       ((seen & EPOLLOUT) != 0 ? CURL_CSELECT_OUT : 0) |
                       ((seen & (EPOLLERR | EPOLLHUP)) != 0 ? CURL_CSELECT_ERR : 0);
      curl_multi_socket_action(multi_, events[i].data.fd, what, &running);
    }
    TakeFinished();
  }
}

int Run(const LoopOptions& options) {
  curl_global_init(CURL_GLOBAL_DEFAULT);
  BareLoop loop(options);
  const auto begin = std::chrono::steady_clock::now();
  loop.Run();
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  std::printf("{\"requests\":%lld,\"failed\":%lld,\"seconds\":%.6f}\n",
              static_cast<long long>(options.requests), static_cast<long long>(loop.failed()),
              taken.count());
  return 0;
}

}  // namespace
}  // namespace detent::bench

int main(int argc, char** argv) {
  if (argc != 4 && argc != 6) {
    std::fprintf(stderr, "Usage: bare_loop URL REQUESTS CONNECTIONS [BODY_FILE CONTENT_TYPE]\n");
    return 2;
  }
  detent::bench::LoopOptions options;
  options.url = argv[1];
  options.requests = std::atoll(argv[2]);
  options.connections = std::max(1, std::atoi(argv[3]));
  if (argc == 6) {
    std::ifstream file(argv[4]);
    options.body.assign(std::istreambuf_iterator<char>(file), {});
    options.content_type = argv[5];
    if (options.body.empty()) {
      std::fprintf(stderr, "bare_loop: %s is empty or cannot be read\n", argv[4]);
      return 1;
    }
  }
  return detent::bench::Run(options);
}
