#include "core/plugin/kube_door.h"

#include <map>
#include <mutex>
#include <utility>

#include "core/api/labels.h"
#include "core/api/object.h"
#include "core/plugin/kube_door_let_go.h"

namespace detent {
namespace {

// An object of that name that comes and goes between our creation and our look at it.
constexpr int kCreationsMost = 5;

KubeReply NameTaken(const std::string& name, const TrackedObject& there,
                    const TrackedObject& wanted) {
  KubeReply reply;
  reply.outcome = KubeOutcome::kAlreadyExists;
  reply.status = 409;
  reply.reason = "NameTaken";
  reply.message = "'" + name + "' exists already, and ";
  if (there.task_key.empty()) {
    reply.message += "was not made by Detent: it has no label " + std::string(labels::kTaskKey);
  } else if (there.task_key != wanted.task_key) {
    reply.message += "belongs to another task (" + there.task_key + ")";
  } else if (there.tracked_by.empty()) {
    reply.message += "was let go of: its task has ended";
  } else {
    reply.message += "is tracked by another host (" + there.tracked_by + ")";
  }
  return reply;
}

void AppendQuery(std::string& path, const std::string& part) {
  if (part.empty()) return;
  path += path.find('?') == path.npos ? '?' : '&';
  path += part;
}

}  // namespace

// Creations that may turn out to be adoptions.
class KubeDoor::Ensurer : public std::enable_shared_from_this<Ensurer> {
 public:
  using Done = std::function<void(Ensured&& ensured)>;

  explicit Ensurer(KubeDoor& door) : door_(door) {}

  uint64_t Begin(EnsureOrder order, Done done);
  void Cancel(uint64_t id);
  // Answers what is open with kCancelled. No step is under way once it returned, or comes.
  void Close();

 private:
  struct Ensuring {
    uint64_t id = 0;
    EnsureOrder order;
    Done done;
    TrackedObject wanted;
    int creations = 0;
    uint64_t sent = 0;  // At the client. Guarded by mutex_, as is the next.
    bool cancelled = false;
  };
  using EnsuringPtr = std::shared_ptr<Ensuring>;
  using Step = void (Ensurer::*)(const EnsuringPtr&, KubeReply&&);

  void Send(const EnsuringPtr& ensuring, KubeRequest request, Step next);
  void Create(const EnsuringPtr& ensuring);
  void OnCreated(const EnsuringPtr& ensuring, KubeReply&& reply);
  void OnFound(const EnsuringPtr& ensuring, KubeReply&& reply);
  void End(const EnsuringPtr& ensuring, Ensured&& ensured);

  KubeDoor& door_;
  std::mutex step_mutex_;  // Held over each step on the client's thread. Taken before mutex_.
  std::mutex mutex_;
  uint64_t last_id_ = 0;  // Guarded by mutex_, as is the next.
  std::map<uint64_t, EnsuringPtr> open_;
};

uint64_t KubeDoor::Ensurer::Begin(EnsureOrder order, Done done) {
  const auto ensuring = std::make_shared<Ensuring>();
  ensuring->order = std::move(order);
  ensuring->done = std::move(done);
  auto wanted = ReadTracked(ensuring->order.body);
  if (wanted) ensuring->wanted = *std::move(wanted);
  {
    std::lock_guard lock(mutex_);
    ensuring->id = ++last_id_;
    open_[ensuring->id] = ensuring;
  }
  Create(ensuring);
  return ensuring->id;
}

void KubeDoor::Ensurer::Cancel(uint64_t id) {
  uint64_t sent = 0;
  {
    std::lock_guard lock(mutex_);
    const auto found = open_.find(id);
    if (found == open_.end()) return;
    found->second->cancelled = true;
    sent = found->second->sent;
  }
  if (sent != 0) door_.client().Cancel(sent);
}

void KubeDoor::Ensurer::Close() {
  std::lock_guard step(step_mutex_);
  std::map<uint64_t, EnsuringPtr> left;
  {
    std::lock_guard lock(mutex_);
    left.swap(open_);
  }
  for (const auto& [id, ensuring] : left) {
    KubeReply reply;
    reply.outcome = KubeOutcome::kCancelled;
    reply.reason = "Closing";
    reply.message = "the host lets go of the cluster";
    ensuring->done({std::move(reply), false});
  }
}

void KubeDoor::Ensurer::Send(const EnsuringPtr& ensuring, KubeRequest request, Step next) {
  request.timeout = ensuring->order.timeout;
  auto then = [self = shared_from_this(), ensuring, next](KubeReply&& reply) {
    std::lock_guard step(self->step_mutex_);
    {
      std::lock_guard lock(self->mutex_);
      if (self->open_.count(ensuring->id) == 0) return;
    }
    (self.get()->*next)(ensuring, std::move(reply));
  };
  const bool reads = request.method == "GET";
  const uint64_t sent = reads ? door_.client().Send(std::move(request), std::move(then))
                              : door_.Write(std::move(request), std::move(then));
  bool cancelled = false;
  {
    std::lock_guard lock(mutex_);
    ensuring->sent = sent;
    cancelled = ensuring->cancelled;
  }
  if (cancelled) door_.client().Cancel(sent);
}

void KubeDoor::Ensurer::Create(const EnsuringPtr& ensuring) {
  const EnsureOrder& order = ensuring->order;
  ++ensuring->creations;
  KubeRequest request;
  request.method = "POST";
  request.path = PathOf(order.resource, order.ns, "");
  AppendQuery(request.path, order.query);
  request.body = order.body;
  request.accept = order.accept;
  request.idempotent = true;  // A second creation finds what the first has made.
  Send(ensuring, std::move(request), &Ensurer::OnCreated);
}

void KubeDoor::Ensurer::OnCreated(const EnsuringPtr& ensuring, KubeReply&& reply) {
  if (reply.outcome != KubeOutcome::kAlreadyExists) {
    return End(ensuring, {std::move(reply), false});
  }
  KubeRequest request;  // Without a version: a quorum read, that no cache answers.
  request.path = PathOf(ensuring->order.resource, ensuring->order.ns, ensuring->wanted.name);
  Send(ensuring, std::move(request), &Ensurer::OnFound);
}

void KubeDoor::Ensurer::OnFound(const EnsuringPtr& ensuring, KubeReply&& reply) {
  const TrackedObject& wanted = ensuring->wanted;
  if (reply.outcome == KubeOutcome::kNotFound) {
    if (ensuring->creations < kCreationsMost) return Create(ensuring);
    reply.outcome = KubeOutcome::kConflict;
    reply.message = "'" + wanted.name + "' came and went several times meanwhile";
  }
  if (reply.outcome != KubeOutcome::kOk) return End(ensuring, {std::move(reply), false});
  const auto there = ReadTracked(reply.body);
  if (!there) {
    reply.outcome = KubeOutcome::kUnavailable;
    reply.reason = "BadObject";
    reply.message = there.error().message();
    return End(ensuring, {std::move(reply), false});
  }
  const bool ours =
      there->task_key == wanted.task_key && there->tracked_by == door_.options().host_id;
  if (!ours) return End(ensuring, {NameTaken(wanted.name, *there, wanted), false});
  End(ensuring, {std::move(reply), true});
}

void KubeDoor::Ensurer::End(const EnsuringPtr& ensuring, Ensured&& ensured) {
  {
    std::lock_guard lock(mutex_);
    open_.erase(ensuring->id);
  }
  ensuring->done(std::move(ensured));
}

KubeDoor::KubeDoor(KubeClient& client, WatchHub& hub, KubeDoorOptions options)
    : client_(client),
      hub_(hub),
      options_(std::move(options)),
      discovery_(client),
      ensurer_(std::make_shared<Ensurer>(*this)),
      let_go_(std::make_shared<LetGoQueue>(*this)) {}

KubeDoor::~KubeDoor() {
  ensurer_->Close();
  let_go_->Close();
}

uint64_t KubeDoor::Write(KubeRequest request, KubeCallback callback) {
  if (request.method != "DELETE") {
    AppendQuery(request.path, QueryPart("fieldManager", options_.field_manager));
    // Nobody reads its warnings here, and looking for unknown fields costs the server a second
    // reading of each object. Who wants them says so.
    if (request.path.find("fieldValidation=") == std::string::npos) {
      AppendQuery(request.path, "fieldValidation=Ignore");
    }
  }
  return client_.Send(std::move(request), std::move(callback));
}

TrackingMarks KubeDoor::MarksOf(const TrackedTask& task) const {
  TrackingMarks marks;
  marks.task = task;
  marks.host_id = options_.host_id;
  if (options_.jobs_are_there) marks.job_api_version = kGroupVersion;
  return marks;
}

uint64_t KubeDoor::Ensure(EnsureOrder order, std::function<void(Ensured&& ensured)> done) {
  return ensurer_->Begin(std::move(order), std::move(done));
}

void KubeDoor::CancelEnsure(uint64_t id) {
  ensurer_->Cancel(id);
}

void KubeDoor::LetGo(LetGoOrder order, std::function<void(KubeOutcome outcome)> done) {
  let_go_->Add(std::move(order), std::move(done));
}

size_t KubeDoor::letting_go() const {
  return let_go_->size();
}

}  // namespace detent
