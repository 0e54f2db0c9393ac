#include "tests/support/http_client.h"

#include <curl/curl.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace detent::testing {
namespace {

using Easy = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;
using Headers = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

size_t AppendBody(char* data, size_t size, size_t count, void* target) {
  static_cast<std::string*>(target)->append(data, size * count);
  return size * count;
}

size_t AppendHeader(char* data, size_t size, size_t count, void* target) {
  const std::string line(data, size * count);
  const size_t colon = line.find(':');
  if (colon != std::string::npos) {
    std::string name = line.substr(0, colon);
    for (char& c : name) c = static_cast<char>(tolower(c));
    const size_t begin = line.find_first_not_of(" \t", colon + 1);
    const size_t end = line.find_last_not_of("\r\n \t");
    const bool empty = begin == std::string::npos || end < begin;
    static_cast<std::multimap<std::string, std::string>*>(target)->emplace(
        name, empty ? "" : line.substr(begin, end - begin + 1));
  }
  return size * count;
}

Headers Prepare(CURL* easy, const HttpServerAddress& server, const HttpCall& call) {
  static const CURLcode global = curl_global_init(CURL_GLOBAL_DEFAULT);
  (void)global;
  std::string url = server.url;
  if (url.starts_with("unix:")) {
    curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, url.substr(5).c_str());
    url = "http://localhost";
  }
  curl_easy_setopt(easy, CURLOPT_URL, (url + call.path).c_str());
  curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, call.method.c_str());
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_PROXY, "");
  const auto set_file = [&](CURLoption option, const std::string& file) {
    if (!file.empty()) curl_easy_setopt(easy, option, file.c_str());
  };
  set_file(CURLOPT_CAINFO, server.ca_file);
  set_file(CURLOPT_SSLCERT, server.certificate_file);
  set_file(CURLOPT_SSLKEY, server.key_file);
  Headers headers(nullptr, curl_slist_free_all);
  const auto add = [&](const std::string& line) {
    curl_slist* list = curl_slist_append(headers.release(), line.c_str());
    headers.reset(list);
  };
  add("Accept: " + call.accept);
  if (!server.token.empty()) add("Authorization: Bearer " + server.token);
  for (const auto& [name, value] : call.headers) add(name + ": " + value);
  if (!call.body.empty()) {
    add("Content-Type: " + call.content_type);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(call.body.size()));
    curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, call.body.c_str());
  }
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers.get());
  return headers;
}

}  // namespace

Json HttpAnswer::json() const {
  Result<Json> parsed = ParseJson(body);
  return parsed ? std::move(parsed).value() : Json();
}

std::string HttpAnswer::Header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

std::string HttpAnswer::Text(const std::string& pointer) const {
  const Json document = json();
  const Json* value = document.At(pointer);
  if (value == nullptr) return "";
  return value->is_string() ? value->as_string() : DumpJson(*value);
}

HttpAnswer Send(const HttpServerAddress& server, const HttpCall& call) {
  HttpAnswer answer;
  const Easy easy(curl_easy_init(), curl_easy_cleanup);
  const Headers headers = Prepare(easy.get(), server, call);
  curl_easy_setopt(easy.get(), CURLOPT_TIMEOUT, 60L);
  curl_easy_setopt(easy.get(), CURLOPT_WRITEFUNCTION, AppendBody);
  curl_easy_setopt(easy.get(), CURLOPT_WRITEDATA, &answer.body);
  curl_easy_setopt(easy.get(), CURLOPT_HEADERFUNCTION, AppendHeader);
  curl_easy_setopt(easy.get(), CURLOPT_HEADERDATA, &answer.headers);
  const CURLcode code = curl_easy_perform(easy.get());
  long status = 0;
  curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &status);
  if (code == CURLE_OK) {
    answer.status = static_cast<int>(status);
  } else {
    answer.error = curl_easy_strerror(code);
  }
  return answer;
}

struct HttpLines::State {
  HttpServerAddress server;
  HttpCall call;
  CURLM* multi = curl_multi_init();
  std::mutex mutex;
  std::condition_variable arrived;
  std::deque<std::string> lines;  // Guarded by mutex, as below.
  std::string partial;
  bool over = false;
  bool stop = false;
  std::thread thread;

  static size_t Take(char* data, size_t size, size_t count, void* target) {
    State& state = *static_cast<State*>(target);
    std::lock_guard lock(state.mutex);
    state.partial.append(data, size * count);
    for (size_t end; (end = state.partial.find('\n')) != std::string::npos;) {
      state.lines.push_back(state.partial.substr(0, end));
      state.partial.erase(0, end + 1);
    }
    state.arrived.notify_all();
    return size * count;
  }

  bool Stopped() {
    std::lock_guard lock(mutex);
    return stop;
  }

  void Run() {
    const Easy easy(curl_easy_init(), curl_easy_cleanup);
    const Headers headers = Prepare(easy.get(), server, call);
    curl_easy_setopt(easy.get(), CURLOPT_WRITEFUNCTION, Take);
    curl_easy_setopt(easy.get(), CURLOPT_WRITEDATA, this);
    curl_multi_add_handle(multi, easy.get());
    for (int running = 1; running > 0 && !Stopped();) {
      curl_multi_perform(multi, &running);
      if (running > 0) curl_multi_poll(multi, nullptr, 0, 1000, nullptr);
    }
    curl_multi_remove_handle(multi, easy.get());
    std::lock_guard lock(mutex);
    over = true;
    arrived.notify_all();
  }
};

HttpLines::HttpLines(const HttpServerAddress& server, HttpCall call)
    : state_(std::make_unique<State>()) {
  state_->server = server;
  state_->call = std::move(call);
  state_->thread = std::thread([state = state_.get()] { state->Run(); });
}

HttpLines::~HttpLines() {
  {
    std::lock_guard lock(state_->mutex);
    state_->stop = true;
  }
  curl_multi_wakeup(state_->multi);
  state_->thread.join();
  curl_multi_cleanup(state_->multi);
}

std::optional<std::string> HttpLines::Next(std::chrono::milliseconds timeout) {
  std::unique_lock lock(state_->mutex);
  state_->arrived.wait_for(lock, timeout, [&] { return state_->over || !state_->lines.empty(); });
  if (state_->lines.empty()) return std::nullopt;
  std::string line = std::move(state_->lines.front());
  state_->lines.pop_front();
  return line;
}

Json HttpLines::NextJson(std::chrono::milliseconds timeout) {
  const std::optional<std::string> line = Next(timeout);
  if (!line) return {};
  Result<Json> parsed = ParseJson(*line);
  return parsed ? std::move(parsed).value() : Json();
}

bool HttpLines::WaitForEnd(std::chrono::milliseconds timeout) {
  std::unique_lock lock(state_->mutex);
  return state_->arrived.wait_for(lock, timeout, [&] { return state_->over; });
}

}  // namespace detent::testing
