#include "core/kube/watch.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "core/base/random.h"
#include "core/kube/proto_json.h"
#include "core/kube/watch_pieces.h"

namespace detent {
namespace {

using std::chrono::milliseconds;

// So often a server may fail before it is worth telling.
constexpr int kFailuresUntold = 2;
// After so many lists that expired between two pages one is asked for in a single piece.
constexpr int kExpiredListsMost = 2;
constexpr milliseconds kWholeListTimeout{300'000};

bool IsRefusal(KubeOutcome outcome) {
  return outcome == KubeOutcome::kDenied || outcome == KubeOutcome::kNotFound ||
         outcome == KubeOutcome::kInvalid;
}

bool SameReason(const KubeReply& a, const KubeReply& b) {
  // Messages are left out: they may tell a time or a port, and so never be the same twice.
  return a.outcome == b.outcome && a.status == b.status && a.reason == b.reason;
}

// Of a scope that has been checked.
WatchShape ShapeOf(const WatchScope& scope) {
  auto shape = WatchShape::Parse(scope.only);
  return shape ? *std::move(shape) : WatchShape();
}

KubeReply FailureOf(KubeOutcome outcome, std::string reason, std::string message) {
  KubeReply reply;
  reply.outcome = outcome;
  reply.reason = std::move(reason);
  reply.message = std::move(message);
  return reply;
}

// An ERROR event in the words of a reply that came with the same Status.
KubeReply FailureOf(const WatchEvent& event) {
  KubeOutcome outcome = KubeOutcome::kUnavailable;
  if (event.status == 410) outcome = KubeOutcome::kGone;
  if (event.status == 429) outcome = KubeOutcome::kBusy;
  if (event.status == 401 || event.status == 403) outcome = KubeOutcome::kDenied;
  KubeReply reply = FailureOf(outcome, event.reason, event.message);
  reply.status = event.status;
  return reply;
}

}  // namespace

// All state is guarded by mutex_, which is also held over calls of the sink: that is what orders
// them, and what Stop and Look wait for. Whatever belongs to an earlier request than the present
// one is known by its number, and dropped.
class KubeWatch::Core : public std::enable_shared_from_this<Core> {
 public:
  Core(KubeClient& client, const WatchScope& scope, WatchOptions options, WatchSink& sink)
      : client_(client),
        path_(PathOf(scope)),
        shape_(ShapeOf(scope)),
        as_proto_(options.protobuf && IsReadAsProto(scope.resource, scope.only)),
        options_(options),
        sink_(sink),
        reader_(shape_),
        streams_(options.streaming) {}

  void Start();
  void Stop();
  void Look(const std::function<void(const View&)>& look) const;

 private:
  void Begin();
  void OpenStream();
  void FetchPage(const std::string& continue_token);
  std::string Query(std::initializer_list<std::string> parts) const;
  uint64_t Number() { return ++request_; }

  void OnPiece(uint64_t request, std::string_view piece);
  void OnStreamEnd(uint64_t request, KubeReply&& reply);
  void OnPage(uint64_t request, KubeReply&& reply);
  bool TakeEvent(std::string_view text, bool is_proto);
  void TakeObject(const WatchedObjectPtr& object);
  void EndList(const std::string& version);
  void BreakOff(KubeReply&& reply);

  bool IsListDue() const;
  void RefusedStreaming();
  void Expired();
  void Failed(const KubeReply& reply);
  void BeginAfter(milliseconds delay);
  milliseconds Backoff();

  KubeClient& client_;
  const std::string path_;
  const WatchShape shape_;
  const bool as_proto_;
  const WatchOptions options_;
  WatchSink& sink_;
  SystemRandom random_;

  mutable std::mutex mutex_;
  bool started_ = false;
  bool stopped_ = false;
  uint64_t request_ = 0;  // The present one; those before it are over, whatever still comes.
  uint64_t sent_ = 0;     // Its name at the client.
  WatchEventReader reader_;
  WatchedSet known_;
  WatchPieces pieces_;
  std::string version_;      // A watch can be resumed behind it. Empty: a list is needed.
  MonoTime listed_at_{};     // The end of the last list.
  bool listing_ = false;     // Initial events are coming.
  bool heard_ = false;       // The present request brought something.
  bool streams_;             // The server has not refused a streaming list yet.
  bool pages_once_ = false;  // The last streaming list had no end.
  int expired_lists_ = 0;
  int failures_ = 0;  // In a row.
  bool synced_ = false;
  std::unique_ptr<KubeReply> told_;  // The failure that the sink knows of.
};

void KubeWatch::Core::Start() {
  std::lock_guard lock(mutex_);
  if (started_ || stopped_) return;
  started_ = true;
  Begin();
}

void KubeWatch::Core::Stop() {
  std::lock_guard lock(mutex_);
  stopped_ = true;
  Number();
  if (sent_ != 0) client_.Cancel(std::exchange(sent_, 0));
}

void KubeWatch::Core::Look(const std::function<void(const View&)>& look) const {
  std::lock_guard lock(mutex_);
  look({known_, synced_, told_.get()});
}

void KubeWatch::Core::Begin() {
  const bool pages = version_.empty() && (!streams_ || pages_once_);
  listing_ = version_.empty();
  heard_ = false;
  pieces_.Begin();
  if (listing_) known_.BeginList();
  if (pages) return FetchPage("");
  OpenStream();
}

std::string KubeWatch::Core::Query(std::initializer_list<std::string> parts) const {
  std::string path = path_;
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    path += path.find('?') == path.npos ? '?' : '&';
    path += part;
  }
  return path;
}

void KubeWatch::Core::OpenStream() {
  const auto least = static_cast<uint64_t>(std::max<int64_t>(options_.lifetime.count(), 1));
  KubeRequest request;
  if (as_proto_) request.accept = kProtoOrJson;
  request.path = Query({"watch=true", "allowWatchBookmarks=true",
                        listing_ ? "sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
                                 : QueryPart("resourceVersion", version_),
                        "timeoutSeconds=" + std::to_string(least + random_.Below(least))});
  KubeStream stream;
  stream.silence = options_.silence;
  const auto self = shared_from_this();
  const uint64_t number = Number();
  stream.on_data = [self, number](std::string_view piece) { self->OnPiece(number, piece); };
  stream.on_end = [self, number](KubeReply&& reply) {
    self->OnStreamEnd(number, std::move(reply));
  };
  sent_ = client_.Stream(std::move(request), std::move(stream));
}

void KubeWatch::Core::FetchPage(const std::string& continue_token) {
  const bool whole = expired_lists_ >= kExpiredListsMost;
  KubeRequest request;
  if (whole) request.timeout = kWholeListTimeout;
  request.path = Query({whole ? "" : "limit=" + std::to_string(options_.page_size),
                        continue_token.empty() ? "" : QueryPart("continue", continue_token)});
  const auto self = shared_from_this();
  const uint64_t number = Number();
  sent_ = client_.Send(std::move(request), [self, number](KubeReply&& reply) {
    self->OnPage(number, std::move(reply));
  });
}

void KubeWatch::Core::OnPiece(uint64_t request, std::string_view piece) {
  std::lock_guard lock(mutex_);
  if (request != request_) return;
  const auto fed = pieces_.Feed(
      piece, [this](std::string_view text, bool is_proto) { return TakeEvent(text, is_proto); });
  if (fed != WatchPieces::Fed::kTooLong) return;
  BreakOff(FailureOf(KubeOutcome::kUnavailable, "BadEvent",
                     "an event of the watch has more than " +
                         std::to_string(WatchPieces::kEventBytes) + " bytes"));
}

// False: the request has been given up.
bool KubeWatch::Core::TakeEvent(std::string_view text, bool is_proto) {
  if (!is_proto && text.find_first_not_of(" \r\t") == text.npos) return true;
  auto read = is_proto ? reader_.ReadProtoEvent(text) : reader_.ReadEvent(text);
  if (!read) {
    BreakOff(FailureOf(KubeOutcome::kUnavailable, "BadEvent", read.error().message()));
    return false;
  }
  const WatchEvent& event = *read;
  if (event.type == WatchEvent::Type::kError) {
    BreakOff(FailureOf(event));
    return false;
  }
  heard_ = true;
  if (event.type == WatchEvent::Type::kDelete) {
    known_.Take(event.object->ns(), event.object->name());
    sink_.OnDelete(event.object);
  } else if (event.type == WatchEvent::Type::kUpsert) {
    TakeObject(event.object);
  }
  // Until its end a streaming list cannot be resumed, and is no success.
  if (listing_ && !event.initial_events_end) return true;
  if (listing_) EndList(event.resource_version);
  version_ = event.resource_version;
  failures_ = 0;
  if (told_ != nullptr) {
    told_.reset();
    synced_ = true;
    sink_.OnSynced();
  }
  return true;
}

void KubeWatch::Core::TakeObject(const WatchedObjectPtr& object) {
  const WatchedObjectPtr before = known_.Put(object);
  if (before != nullptr) {
    const bool same_object = before->uid() == object->uid();
    if (same_object && before->resource_version() == object->resource_version()) return;
    if (!same_object) sink_.OnDelete(before);
  }
  sink_.OnUpsert(object);
}

void KubeWatch::Core::EndList(const std::string& version) {
  for (const WatchedObjectPtr& gone : known_.TakeUnlisted()) sink_.OnDelete(gone);
  version_ = version;
  listed_at_ = client_.clock().Mono();
  listing_ = false;
  pages_once_ = false;
  expired_lists_ = 0;
  told_.reset();
  synced_ = true;
  sink_.OnSynced();
}

// Gives the present request up for a reason that its own end would not tell.
void KubeWatch::Core::BreakOff(KubeReply&& reply) {
  if (sent_ != 0) client_.Cancel(std::exchange(sent_, 0));
  Number();
  if (reply.outcome == KubeOutcome::kGone) return Expired();
  Failed(reply);
}

void KubeWatch::Core::OnStreamEnd(uint64_t request, KubeReply&& reply) {
  std::lock_guard lock(mutex_);
  if (request != request_) return;
  sent_ = 0;
  Number();
  if (reply.outcome == KubeOutcome::kGone) return Expired();
  // What is refused may be the streaming list, which older servers do not know, or all of it:
  // pages will tell.
  if (listing_ && (reply.status == 400 || reply.status == 422)) return RefusedStreaming();
  // A watch that ends as it was asked to is resumed at once, and so is one that was cut while it
  // worked.
  if (heard_ && !listing_) {
    if (IsListDue()) version_.clear();
    return BeginAfter(milliseconds(0));
  }
  const bool in_order = reply.outcome == KubeOutcome::kOk;
  // A server that does not know of streaming lists, and does not say so, sends no end of one.
  if (listing_ && heard_) pages_once_ = in_order || reply.outcome == KubeOutcome::kDeadline;
  if (in_order) {
    reply = FailureOf(KubeOutcome::kUnavailable, "WatchEnded",
                      listing_ ? "the server ended the list before its last object"
                               : "the server ended the watch before it had sent anything");
  }
  Failed(reply);
}

bool KubeWatch::Core::IsListDue() const {
  return options_.relist.count() > 0 && client_.clock().Mono() - listed_at_ >= options_.relist;
}

void KubeWatch::Core::RefusedStreaming() {
  streams_ = false;
  BeginAfter(milliseconds(0));
}

// The version is not kept any more: a new list is due.
void KubeWatch::Core::Expired() {
  version_.clear();
  ++failures_;
  BeginAfter(failures_ == 1 ? milliseconds(0) : Backoff());
}

void KubeWatch::Core::OnPage(uint64_t request, KubeReply&& reply) {
  Result<ListPage> page(Error(Code::kInvalid, ""));
  if (reply.outcome == KubeOutcome::kOk) page = ReadListPage(reply.body, shape_);
  std::lock_guard lock(mutex_);
  if (request != request_) return;
  sent_ = 0;
  if (reply.outcome == KubeOutcome::kGone) {
    ++expired_lists_;
    return Expired();
  }
  if (reply.outcome != KubeOutcome::kOk) return Failed(reply);
  if (!page) {
    return Failed(FailureOf(KubeOutcome::kUnavailable, "BadList", page.error().message()));
  }
  for (const WatchedObjectPtr& object : page->objects) TakeObject(object);
  if (!page->continue_token.empty()) return FetchPage(page->continue_token);
  EndList(page->resource_version);
  Begin();
}

void KubeWatch::Core::Failed(const KubeReply& reply) {
  ++failures_;
  const bool worth = IsRefusal(reply.outcome) || failures_ > kFailuresUntold;
  if (worth && (told_ == nullptr || !SameReason(*told_, reply))) {
    told_ = std::make_unique<KubeReply>(reply);
    synced_ = false;
    sink_.OnFailed(reply);
  }
  BeginAfter(std::max(Backoff(), reply.retry_after.value_or(milliseconds(0))));
}

milliseconds KubeWatch::Core::Backoff() {
  const int doublings = std::clamp(failures_ - 1, 0, 16);
  const int64_t full =
      std::min(options_.backoff_first.count() << doublings, options_.backoff_most.count());
  // Between half and all of it, so that watches that failed together do not come back together.
  const auto half = static_cast<uint64_t>(std::max<int64_t>(full / 2, 1));
  return milliseconds(full - static_cast<int64_t>(random_.Below(half)));
}

void KubeWatch::Core::BeginAfter(milliseconds delay) {
  const uint64_t number = Number();
  client_.After(delay, [self = shared_from_this(), number] {
    std::lock_guard lock(self->mutex_);
    if (number == self->request_) self->Begin();
  });
}

KubeWatch::KubeWatch(KubeClient& client, WatchScope scope, WatchOptions options, WatchSink& sink)
    : core_(std::make_shared<Core>(client, std::move(scope), options, sink)) {}

KubeWatch::~KubeWatch() {
  Stop();
}

void KubeWatch::Start() {
  core_->Start();
}

void KubeWatch::Stop() {
  core_->Stop();
}

void KubeWatch::Look(const std::function<void(const View&)>& look) const {
  core_->Look(look);
}

}  // namespace detent
