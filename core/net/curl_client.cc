#include "core/net/curl_api.h"
#include "core/net/http_client.h"

namespace detent {
namespace {

// What libcurl's callbacks write to during one call.
struct Receiver {
  CURL* easy = nullptr;
  ClientReply reply;
  const HttpClient::OnLine* on_line = nullptr;
  std::string partial_line;
  bool ended_by_reader = false;
};

// Hands whole lines on. False once the reader has had enough.
bool HandOnLines(Receiver& receiver, std::string_view data) {
  receiver.partial_line.append(data);
  std::string_view rest = receiver.partial_line;
  for (size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
    if (!(*receiver.on_line)(rest.substr(0, end))) {
      receiver.ended_by_reader = true;
      return false;
    }
    rest.remove_prefix(end + 1);
  }
  receiver.partial_line.erase(0, receiver.partial_line.size() - rest.size());
  return true;
}

size_t OnBody(char* data, size_t, size_t size, void* pointer) {
  Receiver& receiver = *static_cast<Receiver*>(pointer);
  long status = 0;
  Curl().easy_getinfo(receiver.easy, CURLINFO_RESPONSE_CODE, &status);
  if (receiver.on_line != nullptr && status == 200) {
    return HandOnLines(receiver, {data, size}) ? size : 0;
  }
  receiver.reply.body.append(data, size);
  return size;
}

size_t OnHeader(char* data, size_t, size_t size, void* pointer) {
  Receiver& receiver = *static_cast<Receiver*>(pointer);
  std::string_view line(data, size);
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  if (line.starts_with("HTTP/")) receiver.reply.headers.Clear();
  const size_t colon = line.find(':');
  if (line.starts_with("HTTP/") || colon == std::string_view::npos) return size;
  std::string_view value = line.substr(colon + 1);
  while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
  receiver.reply.headers.Add(line.substr(0, colon), value);
  return size;
}

Code CodeOf(CURLcode code) {
  switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
      return Code::kDeadline;
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
      return Code::kInvalid;
    default:
      return Code::kUnavailable;
  }
}

}  // namespace

struct HttpClient::State {
  HttpClientOptions options;
  CURL* easy = nullptr;
  char error[CURL_ERROR_SIZE] = {};

  curl_slist* HeaderList(const ClientRequest& request) const;
  void Set(const ClientRequest& request, Receiver& receiver, const std::string& url);
  Result<ClientReply> Perform(const ClientRequest& request, const OnLine* on_line);
};

curl_slist* HttpClient::State::HeaderList(const ClientRequest& request) const {
  curl_slist* list = Curl().slist_append(nullptr, "Expect:");
  if (!options.bearer_token.empty()) {
    list = Curl().slist_append(list, ("Authorization: Bearer " + options.bearer_token).c_str());
  }
  for (size_t i = 0; i < request.headers.size(); ++i) {
    std::string line(request.headers.name(i));
    line.append(": ").append(request.headers.value(i));
    list = Curl().slist_append(list, line.c_str());
  }
  return list;
}

void HttpClient::State::Set(const ClientRequest& request, Receiver& receiver,
                            const std::string& url) {
  Curl().easy_reset(easy);
  Curl().easy_setopt(easy, CURLOPT_ERRORBUFFER, error);
  Curl().easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  Curl().easy_setopt(easy, CURLOPT_URL, url.c_str());
  Curl().easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  Curl().easy_setopt(easy, CURLOPT_PROXY, "");
  Curl().easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  if (request.method == "HEAD") Curl().easy_setopt(easy, CURLOPT_NOBODY, 1L);
  if (!request.body.empty()) {
    Curl().easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                       static_cast<curl_off_t>(request.body.size()));
    Curl().easy_setopt(easy, CURLOPT_POSTFIELDS, request.body.data());
  }
  if (!options.unix_socket.empty()) {
    Curl().easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, options.unix_socket.c_str());
  }
  if (!options.ca_file.empty()) Curl().easy_setopt(easy, CURLOPT_CAINFO, options.ca_file.c_str());
  const auto timeout = static_cast<long>(options.timeout.count());
  Curl().easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, timeout);
  if (receiver.on_line == nullptr) Curl().easy_setopt(easy, CURLOPT_TIMEOUT_MS, timeout);
  Curl().easy_setopt(easy, CURLOPT_WRITEFUNCTION, &OnBody);
  Curl().easy_setopt(easy, CURLOPT_WRITEDATA, &receiver);
  Curl().easy_setopt(easy, CURLOPT_HEADERFUNCTION, &OnHeader);
  Curl().easy_setopt(easy, CURLOPT_HEADERDATA, &receiver);
}

Result<ClientReply> HttpClient::State::Perform(const ClientRequest& request,
                                               const OnLine* on_line) {
  if (!LoadCurl()) return LoadCurl().error();
  Receiver receiver;
  receiver.easy = easy;
  receiver.on_line = on_line;
  const std::string url = options.base_url + request.path;
  Set(request, receiver, url);
  curl_slist* headers = HeaderList(request);
  Curl().easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
  error[0] = '\0';
  const CURLcode code = Curl().easy_perform(easy);
  Curl().slist_free_all(headers);
  if (code != CURLE_OK && !receiver.ended_by_reader) {
    return Error(CodeOf(code), request.method + " " + url + ": " +
                                   (error[0] ? error : Curl().easy_strerror(code)));
  }
  long status = 0;
  Curl().easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  receiver.reply.status = static_cast<int>(status);
  // A last line without its end is a line too.
  if (!receiver.partial_line.empty() && !receiver.ended_by_reader)
    (*on_line)(receiver.partial_line);
  return std::move(receiver.reply);
}

HttpClient::HttpClient(HttpClientOptions options) : state_(std::make_unique<State>()) {
  state_->options = std::move(options);
  if (LoadCurl()) state_->easy = Curl().easy_init();
}

HttpClient::~HttpClient() {
  if (state_->easy != nullptr) Curl().easy_cleanup(state_->easy);
}

Result<ClientReply> HttpClient::Fetch(const ClientRequest& request) {
  return state_->Perform(request, nullptr);
}

Result<ClientReply> HttpClient::Stream(const ClientRequest& request, const OnLine& on_line) {
  return state_->Perform(request, &on_line);
}

}  // namespace detent
