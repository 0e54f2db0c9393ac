#include "core/plugin/kube_door_let_go.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/api/labels.h"
#include "core/base/json_writer.h"

namespace detent {
namespace {

using std::chrono::milliseconds;

// A state that was read a moment ago is seldom out of date; twice in a row says that somebody
// changes the object all the time.
constexpr int kConflictsMost = 5;
constexpr milliseconds kLetGoBackoffMost{60'000};

std::string ObjectPath(const KubeDoor::LetGoOrder& order) {
  return PathOf(order.resource, order.ns, order.name);
}

bool IsTracked(const TrackedObject& object) {
  return !object.tracked_by.empty() || std::find(object.finalizers.begin(), object.finalizers.end(),
                                                 labels::kTaskTracking) != object.finalizers.end();
}

std::string DeleteOptions(const std::string& uid) {
  std::string options;
  JsonWriter writer(options);
  writer.BeginObject()
      .Member("apiVersion", "v1")
      .Member("kind", "DeleteOptions")
      .Member("gracePeriodSeconds", 0)
      .Member("propagationPolicy", "Background");
  writer.Key("preconditions").BeginObject().Member("uid", uid).EndObject().EndObject();
  return options;
}

}  // namespace

// What becomes of a reply: a step, unless the queue was closed meanwhile.
template <typename Step>
KubeCallback LetGoQueue::OnReply(const LettingPtr& letting, Step step) {
  return [self = shared_from_this(), letting, step](KubeReply&& reply) {
    std::lock_guard lock(self->step_mutex_);
    {
      std::lock_guard tables(self->mutex_);
      if (self->closed_) return;
    }
    step(*self, letting, std::move(reply));
  };
}

void LetGoQueue::Add(KubeDoor::LetGoOrder order, Done done) {
  auto letting = std::make_shared<Letting>();
  letting->order = std::move(order);
  letting->done = std::move(done);
  std::lock_guard lock(mutex_);
  all_.insert(letting);
  waiting_.push_back(std::move(letting));
  PumpAfter(
      milliseconds(0));  // Elsewhere: a look into a watch may take longer than the caller has.
}

// Under mutex_.
void LetGoQueue::PumpAfter(milliseconds delay) {
  if (closed_ || std::exchange(pumping_, true)) return;
  door_.client().After(delay, [self = shared_from_this()] {
    std::lock_guard lock(self->step_mutex_);
    self->Pump();
  });
}

void LetGoQueue::Close() {
  std::lock_guard step(step_mutex_);
  std::set<LettingPtr> left;
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
    left.swap(all_);
    waiting_.clear();
  }
  for (const LettingPtr& letting : left) letting->done(KubeOutcome::kCancelled);
}

size_t LetGoQueue::size() const {
  std::lock_guard lock(mutex_);
  return all_.size();
}

void LetGoQueue::Pump() {
  std::vector<LettingPtr> begun;
  {
    std::lock_guard lock(mutex_);
    pumping_ = false;
    while (!waiting_.empty() && in_flight_ < door_.options().let_go_at_a_time) {
      begun.push_back(std::move(waiting_.front()));
      waiting_.pop_front();
      ++in_flight_;
    }
  }
  for (const LettingPtr& letting : begun) Begin(letting);
}

void LetGoQueue::Begin(const LettingPtr& letting) {
  letting->conflicts = 0;
  const KubeDoor::LetGoOrder& order = letting->order;
  const WatchedObjectPtr known = door_.hub().Known(order.resource, order.ns, order.name);
  // A watch that knows another object of that name may be behind or ahead: the server decides.
  const bool usable = known != nullptr && (order.uid.empty() || known->uid() == order.uid);
  if (!usable) return Read(letting);
  Act(letting, known->json());
}

void LetGoQueue::Read(const LettingPtr& letting) {
  KubeRequest request;
  request.path = ObjectPath(letting->order);
  const auto step = [](LetGoQueue& self, const LettingPtr& which, KubeReply&& reply) {
    if (reply.outcome == KubeOutcome::kOk) return self.Act(which, reply.body);
    if (reply.outcome == KubeOutcome::kNotFound) return self.End(which);
    self.Again(which, reply);
  };
  door_.client().Send(std::move(request), OnReply(letting, step));
}

void LetGoQueue::Act(const LettingPtr& letting, std::string_view object_json) {
  const auto object = ReadTracked(object_json);
  if (!object || object->uid.empty()) {
    KubeReply reply;
    reply.outcome = KubeOutcome::kUnavailable;
    reply.reason = "BadObject";
    reply.message = object ? "it has no metadata.uid" : object.error().message();
    return Again(letting, reply);
  }
  KubeDoor::LetGoOrder& order = letting->order;
  if (!order.uid.empty() && object->uid != order.uid) return End(letting);
  const std::string& host = door_.options().host_id;
  if (!object->tracked_by.empty() && object->tracked_by != host) return End(letting);
  // From here on it is this very object, also after a conflict.
  order.uid = object->uid;
  // Deleted while it is tracked still: a host that ends in between finds it again.
  if (order.remove && !letting->removed) return Delete(letting, *object);
  if (!IsTracked(*object)) return End(letting);
  Patch(letting, *object);
}

void LetGoQueue::Delete(const LettingPtr& letting, const TrackedObject& object) {
  KubeRequest request;
  request.method = "DELETE";
  request.path = ObjectPath(letting->order);
  request.body = DeleteOptions(object.uid);
  request.idempotent = true;
  const auto step = [](LetGoQueue& self, const LettingPtr& which, KubeReply&& reply) {
    if (reply.outcome == KubeOutcome::kNotFound) return self.End(which);
    if (reply.outcome == KubeOutcome::kConflict) return self.Conflict(which);
    if (reply.outcome != KubeOutcome::kOk) return self.Again(which, reply);
    which->removed = true;
    // The answer is the object, which waits for its finalizers, or a Status: it is gone.
    const auto left = ReadTracked(reply.body);
    if (left && left->uid == which->order.uid) return self.Act(which, reply.body);
    self.Read(which);
  };
  door_.Write(std::move(request), OnReply(letting, step));
}

void LetGoQueue::Patch(const LettingPtr& letting, const TrackedObject& object) {
  KubeRequest request;
  request.method = "PATCH";
  request.path = ObjectPath(letting->order);
  request.body = LetGoPatch(object, letting->order.ended);
  request.content_type = "application/merge-patch+json";
  // Little comes back: the object is of no interest any more.
  request.accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
  request.idempotent = true;
  const auto step = [](LetGoQueue& self, const LettingPtr& which, KubeReply&& reply) {
    const KubeOutcome outcome = reply.outcome;
    if (outcome == KubeOutcome::kOk || outcome == KubeOutcome::kNotFound) return self.End(which);
    // Another uid is a conflict for some servers, and an invalid change for others.
    const bool stale = outcome == KubeOutcome::kConflict ||
                       (outcome == KubeOutcome::kInvalid && which->conflicts == 0);
    stale ? self.Conflict(which) : self.Again(which, reply);
  };
  door_.Write(std::move(request), OnReply(letting, step));
}

void LetGoQueue::Conflict(const LettingPtr& letting) {
  if (++letting->conflicts <= kConflictsMost) return Read(letting);
  KubeReply reply;
  reply.outcome = KubeOutcome::kConflict;
  reply.reason = "Conflict";
  reply.message = "somebody changes it all the time";
  Again(letting, reply);
}

void LetGoQueue::Again(const LettingPtr& letting, const KubeReply& reply) {
  const KubeDoor::LetGoOrder& order = letting->order;
  const int doublings = std::min(letting->failures++, 16);
  const milliseconds whole =
      std::min(door_.options().let_go_again * (int64_t{1} << doublings), kLetGoBackoffMost);
  const auto half = static_cast<uint64_t>(std::max<int64_t>(whole.count() / 2, 1));
  const milliseconds less(static_cast<int64_t>(door_.client().random().Below(half)));
  const bool first = letting->failures == 1;
  std::lock_guard lock(mutex_);
  if (first && failing_++ == 0) {
    door_.client().log().Warning("objects cannot be let go of; trying again until it succeeds",
                                 {{"resource", ToString(order.resource)},
                                  {"namespace", order.ns},
                                  {"name", order.name},
                                  {"reason", reply.reason},
                                  {"error", reply.message}});
  }
  --in_flight_;
  PumpAfter(milliseconds(0));
  door_.client().After(whole - less, [self = shared_from_this(), letting] {
    std::lock_guard again(self->mutex_);
    if (self->closed_) return;
    self->waiting_.push_back(letting);
    self->PumpAfter(milliseconds(0));
  });
}

void LetGoQueue::End(const LettingPtr& letting) {
  {
    std::lock_guard lock(mutex_);
    all_.erase(letting);
    --in_flight_;
    if (letting->failures > 0 && --failing_ == 0) {
      door_.client().log().Info("objects can be let go of again");
    }
    PumpAfter(milliseconds(0));
  }
  letting->done(KubeOutcome::kOk);
}

}  // namespace detent
