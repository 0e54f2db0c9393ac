#include "core/kube_store/kube_writer.h"

#include <algorithm>
#include <future>
#include <utility>

#include "core/kube/resource.h"
#include "core/kube_store/document.h"
#include "core/store/write_rules.h"

namespace detent {
namespace {

using std::chrono::milliseconds;

Error ErrorOf(const KubeReply& reply, const ObjectKey& key) {
  return Error(CodeOf(reply), "write " + ToString(key) + ": " + reply.message);
}

// A creation of ours finds what an earlier try of it made, so it may be tried again.
bool HasIdentity(const Object& object) {
  return IsSameCreation(object, object);
}

std::vector<ObjectKey> KeysOf(const Transaction& writes) {
  std::vector<ObjectKey> keys;
  for (const Write& write : writes) keys.push_back(write.object->key());
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

KindCache::Name NameOf(const Object& object) {
  return {object.meta.ns, object.meta.name};
}

}  // namespace

KubeWriter::KubeWriter(KubeClient& client, CacheOf cache_of, KubeWriterOptions options)
    : client_(client), cache_of_(std::move(cache_of)), options_(std::move(options)) {}

void KubeWriter::Submit(Transaction transaction, Store::Done done) {
  auto work = std::make_shared<Work>();
  work->keys = KeysOf(transaction);
  work->writes = std::move(transaction);
  work->done = std::move(done);
  {
    const std::lock_guard lock(mutex_);
    if (!stopped_) {
      arrived_.push_back(std::move(work));
      // Several arrivals are admitted at once.
      if (arrived_.size() > 1) return;
    }
  }
  if (!work) return client_.After(milliseconds(0), [self = shared_from_this()] { self->Admit(); });
  work->done(Error(Code::kUnavailable, "the store is closed"));
}

void KubeWriter::Stop() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stopped_, true)) return;
  }
  auto ended = std::make_shared<std::promise<void>>();
  client_.After(milliseconds(0), [self = shared_from_this(), ended] {
    self->Admit();
    for (const auto& [id, work] : std::exchange(self->works_, {})) {
      work->done(Error(Code::kUnavailable, "the store is closing; whether it is stored is open"));
    }
    self->queues_.clear();
    ended->set_value();
  });
  ended->get_future().wait();
}

void KubeWriter::Admit() {
  std::deque<WorkPtr> arrived;
  {
    const std::lock_guard lock(mutex_);
    arrived.swap(arrived_);
  }
  for (const WorkPtr& work : arrived) {
    work->id = next_id_++;
    works_[work->id] = work;
    for (const ObjectKey& key : work->keys) queues_[key].push_back(work->id);
    RunIfFree(work);
  }
}

void KubeWriter::RunIfFree(WorkPtr work) {
  const bool is_free = std::all_of(work->keys.begin(), work->keys.end(), [&](const ObjectKey& key) {
    return queues_[key].front() == work->id;
  });
  if (!is_free || std::exchange(work->runs, true)) return;
  BeginWrite(work);
}

void KubeWriter::BeginWrite(const WorkPtr& work) {
  if (work->at == work->writes.size()) return End(work, std::move(work->committed));
  const Write& write = WriteOf(*work);
  const auto stored = CacheFor(*work).Read(NameOf(*write.object));
  std::optional<int64_t> version;
  if (stored) version = (*stored)->meta.resource_version;
  const bool creates = write.op == WriteOp::kCreate;
  if (creates && stored && IsSameCreation(**stored, *write.object)) return Written(work, *stored);
  if (auto refusal = Refusal(write, version)) return End(work, *std::move(refusal));
  work->stored = stored ? *stored : nullptr;
  work->version = write.expected_version;
  work->steps = StepsOf(write, work->stored.get());
  work->step = 0;
  work->last = nullptr;
  work->asked = false;
  NextStep(work);
}

void KubeWriter::NextStep(const WorkPtr& work) {
  const Write& write = WriteOf(*work);
  const bool removes = write.op == WriteOp::kDelete;
  if (work->step == work->steps.size()) return Written(work, work->stored);
  const WriteStep step = work->steps[work->step];
  const bool is_last = work->step + 1 == work->steps.size();
  if (removes && is_last) AwaitEnd(work);
  StepTarget target{*write.object, work->stored.get(), work->version, removes};
  KubeRequest request = RequestOf(step, target, options_.field_manager);
  // What names the version it replaces cannot have its effect twice.
  request.idempotent = step == WriteStep::kCreate ? HasIdentity(*write.object) : true;
  Send(work, std::move(request), &KubeWriter::Answered);
}

void KubeWriter::Send(const WorkPtr& work, KubeRequest request,
                      void (KubeWriter::*then)(const WorkPtr&, KubeReply&&)) {
  request.timeout = options_.request_timeout;
  client_.Send(std::move(request), [self = shared_from_this(), work, then](KubeReply&& reply) {
    if (self->works_.contains(work->id)) (self.get()->*then)(work, std::move(reply));
  });
}

void KubeWriter::Answered(const WorkPtr& work, KubeReply&& reply) {
  if (reply.outcome != KubeOutcome::kOk) return Refused(work, std::move(reply));
  const Write& write = WriteOf(*work);
  const bool is_last = work->step + 1 == work->steps.size();
  if (write.op == WriteOp::kDelete && is_last) {
    work->asked = true;
    return EndIfGone(work);
  }
  if (work->steps[work->step] == WriteStep::kDelete) {
    // It is marked, and others hold it: the answer is the object. Or nobody did any more.
    const auto marked = ObjectFromDocument(write.object->kind, reply.body);
    return Written(work, marked && !(*marked)->meta.uid.empty() ? *marked : work->stored);
  }
  auto object = ObjectFromDocument(write.object->kind, reply.body);
  if (!object) {
    return End(work, Error(Code::kUnavailable,
                           "write " + ToString(write.object->key()) +
                               ": the answer cannot be read: " + object.error().message()));
  }
  if (!IsKept(work, **object)) return End(work, *Trouble());
  work->stored = *std::move(object);
  work->version = work->stored->meta.resource_version;
  ++work->step;
  NextStep(work);
}

// A server whose kinds are of an older Detent leaves out the fields that it does not know. What was
// decided upon such a status would not be known to the next host.
bool KubeWriter::IsKept(const WorkPtr& work, const Object& answered) {
  if (work->steps[work->step] != WriteStep::kStatus) return true;
  const Kind kind = answered.kind;
  const bool is_kept = SameStatus(answered, *WriteOf(*work).object);
  const std::lock_guard lock(mutex_);
  not_kept_.erase(kind);
  if (is_kept) return true;
  not_kept_.emplace(
      kind, Error(Code::kUnavailable,
                  std::string("the cluster does not keep all of the status of ") + PluralOf(kind) +
                      ": its kinds are of another version; run `detent install` for the cluster"));
  return false;
}

std::optional<Error> KubeWriter::Trouble() const {
  const std::lock_guard lock(mutex_);
  if (not_kept_.empty()) return std::nullopt;
  return not_kept_.begin()->second;
}

void KubeWriter::Refused(const WorkPtr& work, KubeReply&& reply) {
  const Write& write = WriteOf(*work);
  if (work->end_waiter != 0) CacheFor(*work).Forget(std::exchange(work->end_waiter, 0));
  if (reply.outcome == KubeOutcome::kAlreadyExists) return NameTaken(work);
  Error error = ErrorOf(reply, write.object->key());
  const bool behind = error.code() == Code::kConflict || error.code() == Code::kNotFound;
  if (!behind || !work->stored) return End(work, std::move(error));
  // Who asked reads again: it should not find what was there before. The watch shows it soon.
  const auto told = std::make_shared<bool>(false);
  const auto tell = [self = shared_from_this(), work, told, error] {
    if (std::exchange(*told, true) || !self->works_.contains(work->id)) return;
    self->End(work, error);
  };
  const int64_t newer = work->stored->meta.resource_version + 1;
  client_.After(options_.conflict_wait, tell);
  CacheFor(*work).Await(NameOf(*write.object), newer, tell);
}

// It may be ours, of an earlier life or of a try whose answer was lost.
void KubeWriter::NameTaken(const WorkPtr& work) {
  const Object& object = *WriteOf(*work).object;
  const KubeResource resource{kApiGroup, kApiVersion, PluralOf(object.kind), ""};
  KubeRequest request;
  request.path = PathOf(resource, object.meta.ns, object.meta.name);
  Send(work, std::move(request), &KubeWriter::FoundInItsPlace);
}

void KubeWriter::FoundInItsPlace(const WorkPtr& work, KubeReply&& reply) {
  const Object& wanted = *WriteOf(*work).object;
  if (reply.outcome != KubeOutcome::kOk) return End(work, ErrorOf(reply, wanted.key()));
  auto found = ObjectFromDocument(wanted.kind, reply.body);
  if (!found || !IsSameCreation(**found, wanted)) {
    return End(work, Error(Code::kAlreadyExists, ToString(wanted.key()) + " exists already"));
  }
  work->stored = *std::move(found);
  work->version = work->stored->meta.resource_version;
  // Its status may not have been reached.
  if (!work->stored->status.empty()) return Written(work, work->stored);
  ++work->step;
  NextStep(work);
}

void KubeWriter::AwaitEnd(const WorkPtr& work) {
  work->end_waiter =
      CacheFor(*work).AwaitEnd(work->stored, [self = shared_from_this(), work](ObjectPtr last) {
        work->end_waiter = 0;
        work->last = std::move(last);
        if (self->works_.contains(work->id)) self->EndIfGone(work);
      });
}

// Both are needed: that the server took the deletion, and that the watch shows the end. The watch
// alone does for an object that somebody else took away meanwhile.
void KubeWriter::EndIfGone(const WorkPtr& work) {
  if (work->asked && work->last) WriteShown(work, work->last);
}

void KubeWriter::Written(const WorkPtr& work, const ObjectPtr& object) {
  CacheFor(*work).Await(NameOf(*object), object->meta.resource_version,
                        [self = shared_from_this(), work, object] {
                          if (self->works_.contains(work->id)) self->WriteShown(work, object);
                        });
}

void KubeWriter::WriteShown(const WorkPtr& work, const ObjectPtr& object) {
  work->committed.objects.push_back(object);
  ++work->at;
  BeginWrite(work);
}

void KubeWriter::End(const WorkPtr& work, Result<Committed> result) {
  works_.erase(work->id);
  std::vector<uint64_t> next;
  for (const ObjectKey& key : work->keys) {
    const auto queue = queues_.find(key);
    queue->second.pop_front();
    if (queue->second.empty()) {
      queues_.erase(queue);
    } else {
      next.push_back(queue->second.front());
    }
  }
  std::exchange(work->done, nullptr)(std::move(result));
  for (const uint64_t id : next) {
    if (const auto waiting = works_.find(id); waiting != works_.end()) RunIfFree(waiting->second);
  }
}

}  // namespace detent
