#include "core/cli/kube_transport.h"

#include <poll.h>

#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "core/base/log.h"
#include "core/cli/command.h"

namespace detent {
namespace {

// A server that does not answer is told of soon; one that is away for a while is Patience's matter.
constexpr int kTries = 3;
// Longer than any watch is asked to last, and its bookmarks come each minute: nobody is there.
constexpr std::chrono::seconds kSilence{330};

std::string HeaderOf(const ClientRequest& request, std::string_view name, std::string absent) {
  for (size_t i = 0; i < request.headers.size(); ++i) {
    if (request.headers.name(i) == name) return std::string(request.headers.value(i));
  }
  return absent;
}

Result<ClientReply> ToClientReply(KubeReply&& reply) {
  if (reply.status > 0 && reply.outcome != KubeOutcome::kDeadline) {
    ClientReply answer;
    answer.status = reply.status;
    answer.body = std::move(reply.body);
    const bool is_success = reply.status >= 200 && reply.status < 300;
    if (!is_success || reply.outcome == KubeOutcome::kOk) return answer;
  }
  switch (reply.outcome) {
    case KubeOutcome::kDenied:
      return Error(Code::kUnauthorized, reply.message);
    case KubeOutcome::kDeadline:
      return Error(Code::kDeadline, reply.message);
    case KubeOutcome::kInvalid:
      return Error(Code::kInvalid, reply.message);
    default:
      return Error(Code::kUnavailable, reply.message);
  }
}

// The pieces of a stream, from the client's thread to the one that waits for them. Its lines are
// taken apart there.
class StreamPipe {
 public:
  void Push(std::string_view piece) {
    const std::lock_guard lock(mutex_);
    waiting_.append(piece);
    arrived_.notify_all();
  }

  void End(KubeReply&& reply) {
    const std::lock_guard lock(mutex_);
    end_ = std::move(reply);
    arrived_.notify_all();  // Under the lock: the reader takes this with it.
  }

  // Waits for what is new and puts it behind `text`; false: the end has come, and all is there.
  bool Pull(std::string& text) {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [&] { return !waiting_.empty() || end_; });
    text += waiting_;
    waiting_.clear();
    return !end_;
  }

  // Once Pull has said so.
  KubeReply TakeEnd() { return *std::move(end_); }

 private:
  std::mutex mutex_;  // Guards all of it.
  std::condition_variable arrived_;
  std::string waiting_;
  std::optional<KubeReply> end_;
};

// Hands whole lines on and takes them away. False once the reader has had enough.
bool HandOn(std::string& text, const HttpClient::OnLine& on_line) {
  size_t begin = 0;
  for (size_t end = text.find('\n'); end != text.npos; end = text.find('\n', begin)) {
    if (!on_line(std::string_view(text).substr(begin, end - begin))) return false;
    begin = end + 1;
  }
  text.erase(0, begin);
  return true;
}

class KubeTransport final : public ClientTransport {
 public:
  KubeTransport(ClusterAccess access, std::chrono::milliseconds timeout, const Clock& clock)
      : timeout_(timeout),
        // What goes wrong is in the answers, once.
        log_(LogLevel::kError, [](std::string_view) {}),
        client_(std::move(access), CliKubeOptions(timeout), clock, log_) {}

  Result<ClientReply> Fetch(const ClientRequest& request) override {
    return ToClientReply(client_.Fetch(ToKube(request)));
  }

  Result<ClientReply> Stream(const ClientRequest& request,
                             const HttpClient::OnLine& on_line) override {
    StreamPipe pipe;
    KubeStream stream;
    stream.on_data = [&pipe](std::string_view piece) { pipe.Push(piece); };
    stream.on_end = [&pipe](KubeReply&& reply) { pipe.End(std::move(reply)); };
    stream.silence = kSilence;
    const uint64_t id = client_.Stream(ToKube(request), std::move(stream));
    std::string text;
    bool wanted = true;
    for (bool more = true; more;) {
      more = pipe.Pull(text);
      // After a cancellation the end is waited for: it writes into the pipe.
      if (wanted && !HandOn(text, on_line)) {
        wanted = false;
        client_.Cancel(id);
      }
      if (!wanted) text.clear();
    }
    if (!wanted) return ClientReply{200, {}, ""};
    KubeReply end = pipe.TakeEnd();
    const bool whole = end.outcome == KubeOutcome::kOk;
    if (end.outcome == KubeOutcome::kDeadline && end.status != 0) {
      return Error(Code::kUnavailable, end.message);
    }
    // A last line without its end is a line too, unless a break cut it off.
    if (whole && !text.empty()) on_line(text);
    return ToClientReply(std::move(end));
  }

  void Pause(std::chrono::milliseconds time) override {
    poll(nullptr, 0, static_cast<int>(time.count()));
  }

 private:
  KubeRequest ToKube(const ClientRequest& request) const {
    KubeRequest out;
    out.method = request.method;
    out.path = request.path;
    out.body = request.body;
    out.content_type = HeaderOf(request, "Content-Type", out.content_type);
    out.accept = HeaderOf(request, "Accept", "*/*");
    out.timeout = timeout_;
    return out;
  }

  const std::chrono::milliseconds timeout_;
  Logger log_;
  KubeClient client_;
};

}  // namespace

Result<ClusterAccess> FindCluster(const ParsedFlags& flags, const CliIo& io) {
  KubeEnvironment environment = ReadKubeEnvironment(io.environment);
  environment.kubeconfig_flag = flags.Text("kubeconfig");
  AccessOverrides overrides;
  overrides.context = flags.Text("context");
  return FindClusterAccess(environment, overrides);
}

KubeClientOptions CliKubeOptions(std::chrono::milliseconds request_timeout) {
  KubeClientOptions options;
  options.user_agent = std::string("detent/") + CliVersion();
  options.patience = request_timeout;
  options.tries_max = kTries;
  return options;
}

std::unique_ptr<ClientTransport> MakeKubeTransport(ClusterAccess access,
                                                   std::chrono::milliseconds request_timeout,
                                                   const Clock& clock) {
  return std::make_unique<KubeTransport>(std::move(access), request_timeout, clock);
}

}  // namespace detent
