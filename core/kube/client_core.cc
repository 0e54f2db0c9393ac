#include "core/kube/client_core.h"

#include <strings.h>

#include <algorithm>
#include <utility>

#include "core/kube/retry.h"
#include "core/kube/status_reply.h"

namespace detent {
namespace {

using std::chrono::milliseconds;

constexpr uint64_t kReplyBytes = 512u << 20;
// Of streams and requests together; connections are far fewer, since they are shared.
constexpr size_t kTransfersMax = 10'000;
// A write takes an API server longer than the pause. Of 10,000 Pods at a time, the pause saves a
// seventh of the host's cpu.
constexpr size_t kCrowd = 12;
constexpr milliseconds kCrowdPause(5);

CurlTransportOptions TransportOptions(const ClusterAccess& access,
                                      const KubeClientOptions& options) {
  CurlTransportOptions out;
  out.max_connections = kTransfersMax;
  out.crowd = kCrowd;
  out.crowd_pause = kCrowdPause;
  out.proxy = access.proxy_url.empty() ? options.proxy : access.proxy_url;
  return out;
}

KubeReply Cancelled() {
  KubeReply reply;
  reply.outcome = KubeOutcome::kCancelled;
  reply.reason = "Cancelled";
  reply.message = "the request was cancelled";
  reply.not_sent = true;
  return reply;
}

KubeReply Refused(KubeOutcome outcome, const char* reason, std::string message) {
  KubeReply reply;
  reply.outcome = outcome;
  reply.reason = reason;
  reply.message = std::move(message);
  reply.not_sent = true;
  return reply;
}

}  // namespace

KubeClient::Core::Core(ClusterAccess access, KubeClientOptions options, const Clock& clock,
                       Logger& log)
    : access_(std::move(access)),
      options_(std::move(options)),
      clock_(clock),
      log_(log),
      random_(options_.random != nullptr ? *options_.random : system_random_),
      secure_(strncasecmp(access_.server.c_str(), "https://", 8) == 0),
      keeper_(std::make_unique<CredentialKeeper>(
          access_, CredentialTimes{options_.reread_files, options_.exec_timeout}, clock, log)),
      transport_(std::make_unique<CurlTransport>(TransportOptions(access_, options_), clock)) {
  keeper_->OnChange([this] { RunSoon(&Core::PumpOnThread); });
}

KubeClient::Core::~Core() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  keeper_.reset();
  transport_.reset();  // Its last replies are delivered meanwhile.
  while (!calls_.empty()) {
    const auto call = std::move(calls_.begin()->second);
    calls_.erase(calls_.begin());
    call->stream.on_end(call->ended ? *std::move(call->ended) : Cancelled());
  }
}

uint64_t KubeClient::Core::Send(KubeRequest request, KubeStream stream, bool is_stream) {
  auto call = std::make_unique<Call>();
  call->request = std::move(request);
  call->stream = std::move(stream);
  call->is_stream = is_stream;
  std::lock_guard lock(mutex_);
  if (!begun_) transport_->RunAt(MonoTime::min(), [] {});  // Throws now, or the thread is there.
  begun_ = true;
  const uint64_t id = call->id = next_id_++;
  Call& taken = *(calls_[id] = std::move(call));
  if (taken.request.path.empty() || taken.request.path.front() != '/') {
    EndSoon(taken,
            Refused(KubeOutcome::kInvalid, "InvalidRequest", "the path must begin with '/'"));
    return id;
  }
  (is_stream ? streams_ : requests_).push_back(id);
  Pump();
  return id;
}

void KubeClient::Core::Cancel(uint64_t id) {
  std::lock_guard lock(mutex_);
  const auto found = calls_.find(id);
  if (found == calls_.end() || stopping_) return;
  Call& call = *found->second;
  call.cancelled = true;
  if (call.http_id != 0) return transport_->Cancel(call.http_id);
  if (!call.ended) EndSoon(call, Cancelled());
}

void KubeClient::Core::After(milliseconds delay, std::function<void()> task) {
  std::lock_guard lock(mutex_);
  if (!stopping_) transport_->RunAt(clock_.Mono() + delay, std::move(task));
}

// Delivered on the client's thread, whoever calls.
void KubeClient::Core::EndSoon(Call& call, KubeReply reply) {
  call.ended = std::move(reply);
  call.ended->not_sent = !call.may_be_done;
  call.ended->last_try = call.last_try;
  ended_.push_back(call.id);
  if (ended_.size() == 1 && !stopping_) {
    transport_->RunAt(MonoTime::min(), [this] { DeliverEnded(); });
  }
}

void KubeClient::Core::DeliverEnded() {
  std::vector<std::unique_ptr<Call>> calls;
  {
    std::lock_guard lock(mutex_);
    for (const uint64_t id : ended_) {
      calls.push_back(std::move(calls_.at(id)));
      calls_.erase(id);
    }
    ended_.clear();
  }
  for (const auto& call : calls) call->stream.on_end(*std::move(call->ended));
}

void KubeClient::Core::RunSoon(void (Core::*what)()) {
  std::lock_guard lock(mutex_);
  if (!stopping_) transport_->RunAt(MonoTime::min(), [this, what] { (this->*what)(); });
}

void KubeClient::Core::PumpOnThread() {
  std::lock_guard lock(mutex_);
  Pump();
}

void KubeClient::Core::Pump() {
  if (stopping_) return;
  PumpQueue(streams_, false);
  PumpQueue(requests_, true);
}

void KubeClient::Core::PumpQueue(Queue& queue, bool limited) {
  while (!queue.empty() && (!limited || in_flight_ < options_.in_flight_max)) {
    const auto found = calls_.find(queue.front());
    if (found == calls_.end() || found->second->ended) {  // Cancelled while it waited.
      queue.pop_front();
      continue;
    }
    Call& call = *found->second;
    auto identity = keeper_->Get();
    if (!identity) {
      queue.pop_front();
      EndSoon(call, Refused(KubeOutcome::kDenied, "NoCredentials",
                            std::move(identity).error().message()));
      continue;
    }
    if (*identity == nullptr) return;
    const MonoTime now = clock_.Mono();
    if (!MayBegin(now)) return;
    queue.pop_front();
    Begin(call, *identity, now);
  }
}

// Under requests_per_second: evenly, but what was not used of the last second can be.
bool KubeClient::Core::MayBegin(MonoTime now) {
  if (options_.requests_per_second <= 0) return true;
  if (now >= next_slot_) {
    const std::chrono::duration<double> each(1 / options_.requests_per_second);
    next_slot_ = std::max(next_slot_, now - std::chrono::seconds(1)) +
                 std::chrono::ceil<MonoTime::duration>(each);
    return true;
  }
  if (!slot_awaited_) {
    slot_awaited_ = true;
    transport_->RunAt(next_slot_, [this] {
      std::lock_guard lock(mutex_);
      slot_awaited_ = false;
      Pump();
    });
  }
  return false;
}

void KubeClient::Core::Begin(Call& call, const KubeIdentityPtr& identity, MonoTime now) {
  if (call.tries++ == 0) call.give_up_at = now + options_.patience;
  call.begun_at = now;
  call.shown = identity;
  if (!call.is_stream) ++in_flight_;
  call.http_id = transport_->Send(
      MakeRequest(call), [this, &call](HttpReply&& reply) { OnReply(call, std::move(reply)); });
}

HttpRequest KubeClient::Core::MakeRequest(Call& call) {
  if (headers_of_ != call.shown) {
    headers_ = call.shown->headers;
    if (!options_.user_agent.empty()) headers_.Add("User-Agent", options_.user_agent);
    headers_of_ = call.shown;
  }
  KubeRequest& from = call.request;
  HttpRequest request;
  request.method = from.method;
  request.url.reserve(access_.server.size() + from.path.size());
  request.url.append(access_.server).append(from.path);
  request.headers = headers_;
  request.headers.Add("Accept", from.accept);
  if (!from.body.empty()) request.headers.Add("Content-Type", from.content_type);
  request.body = std::move(from.body);
  if (secure_) request.version = HttpVersion::k2;
  request.tls = call.shown->tls;
  const bool changes = from.method != "GET" && from.method != "HEAD" && !from.dry_run;
  if (changes) request.may_send = options_.may_write;
  // Not of a stream: the server makes a gzip member of each batch of events, and libcurl reads the
  // first one only.
  request.decode = !access_.disable_compression && !call.is_stream;
  request.response_body_max = kReplyBytes;
  if (!call.is_stream) {
    request.total_timeout = from.timeout;
    return request;
  }
  request.read_timeout = from.timeout;
  request.idle_timeout = call.stream.silence;
  request.on_body = [&call](std::string_view piece) {
    call.stream.on_data(piece);
    return true;
  };
  return request;
}

void KubeClient::Core::OnReply(Call& call, HttpReply&& reply) {
  std::unique_ptr<Call> done;
  {
    std::lock_guard lock(mutex_);
    const MonoTime now = clock_.Mono();
    call.http_id = 0;
    if (!call.is_stream) --in_flight_;
    NoteReach(call, reply, now);
    if (const auto pause = PauseBeforeNext(call, reply)) {
      KeepForNext(call, std::move(reply));
      Queue& queue = call.is_stream ? streams_ : requests_;
      if (pause->count() == 0) {
        queue.push_front(call.id);
      } else {
        transport_->RunAt(now + *pause, [this, id = call.id, &queue] {
          std::lock_guard again(mutex_);
          queue.push_front(id);
          Pump();
        });
      }
    } else {
      const auto found = calls_.find(call.id);
      done = std::move(found->second);
      calls_.erase(found);
    }
    Pump();
  }
  if (done == nullptr) return;
  KubeReply answer = ToKubeReply(std::move(reply));
  answer.not_sent = answer.not_sent && !done->may_be_done;
  if (answer.outcome == KubeOutcome::kCancelled) answer.last_try = std::move(done->last_try);
  done->stream.on_end(std::move(answer));
}

void KubeClient::Core::KeepForNext(Call& call, HttpReply&& reply) {
  call.request.body = std::move(reply.request_body);
  const bool no_effect = reply.not_sent || reply.status == 401 || reply.status == 429;
  call.may_be_done = call.may_be_done || !no_effect;
  call.last_try = ToKubeReply(std::move(reply)).message;
}

// One line in the log when the server is lost, and one when it is back. A try that was begun before
// the server was last heard says nothing of the present.
void KubeClient::Core::NoteReach(const Call& call, const HttpReply& reply, MonoTime now) {
  if (reply.outcome == HttpOutcome::kOk) {
    heard_at_ = now;
    if (reachable_) return;
    reachable_ = true;
    trouble_.clear();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - lost_at_);
    log_.Info("kubernetes api server is reachable again",
              {{"server", access_.server}, {"after_seconds", int64_t{seconds.count()}}});
    return;
  }
  if (reply.status != 0 || call.begun_at <= heard_at_ || !SaysUnreachable(reply.outcome)) return;
  trouble_ = reply.message;
  if (!reachable_) return;
  reachable_ = false;
  lost_at_ = now;
  log_.Warning(
      "kubernetes api server cannot be reached",
      {{"server", access_.server}, {"reason", ReasonOf(reply.outcome)}, {"error", reply.message}});
}

std::string KubeClient::Core::Trouble() const {
  std::lock_guard lock(mutex_);
  return trouble_;
}

// nullopt: the reply is the answer.
std::optional<milliseconds> KubeClient::Core::PauseBeforeNext(Call& call, const HttpReply& reply) {
  if (reply.outcome == HttpOutcome::kOk && reply.status < 300) return std::nullopt;
  if (call.cancelled || stopping_) return std::nullopt;
  if (SaysRefused(reply) && !call.refused && keeper_->Refuse(call.shown)) {
    call.refused = true;
    return milliseconds(0);
  }
  const bool idempotent =
      call.request.idempotent || call.request.method == "GET" || call.request.method == "HEAD";
  const Repeat repeat = call.is_stream ? Repeat::kIfBusy
                        : idempotent   ? Repeat::kIfItMayHelp
                                       : Repeat::kIfNotSent;
  if (call.tries >= options_.tries_max || !MayRepeat(reply, repeat)) return std::nullopt;
  const milliseconds pause =
      reply.retry_after ? *reply.retry_after + Backoff(1) : Backoff(call.tries);
  if (clock_.Mono() + pause > call.give_up_at) return std::nullopt;
  return pause;
}

// Between half of what it would be and all of it, so that many who failed at once do not return so.
milliseconds KubeClient::Core::Backoff(int tries) {
  constexpr milliseconds kLongest{8'000};
  const milliseconds whole =
      std::min(options_.backoff_first * (int64_t{1} << std::min(tries - 1, 16)), kLongest);
  const auto half = static_cast<uint64_t>(whole.count() / 2);
  return whole - milliseconds(static_cast<int64_t>(random_.Below(half + 1)));
}

}  // namespace detent
