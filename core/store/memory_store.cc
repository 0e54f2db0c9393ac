#include "core/store/memory_store.h"

#include <optional>

#include "core/base/names.h"
#include "core/store/write_rules.h"

namespace detent {
namespace {

bool Matches(const ListQuery& query, const ObjectMeta& meta) {
  if (!query.ns.empty() && meta.ns != query.ns) return false;
  return HasOwner(query, meta);
}

}  // namespace

MemoryStore::MemoryStore(Mode mode, State state, Unit unit)
    : mode_(mode), unit_(unit), changes_(state.version), state_(std::move(state)) {}

MemoryStore::~MemoryStore() {
  while (Pump()) {
  }
  changes_.Close();
}

void MemoryStore::Submit(Transaction transaction, Done done) {
  {
    const std::lock_guard lock(mutex_);
    queued_.push_back({std::move(transaction), std::move(done), 0, {}});
    if (mode_ == Mode::kPumped || draining_) return;
    draining_ = true;
  }
  // Between finding the queue empty and giving up draining_, another thread may have queued.
  for (bool more = true; more;) {
    while (Pump()) {
    }
    const std::lock_guard lock(mutex_);
    more = !queued_.empty();
    if (!more) draining_ = false;
  }
}

bool MemoryStore::Pump(Acknowledge acknowledge) {
  if (unit_ == Unit::kWrite) return PumpWrite(acknowledge);
  Queued next;
  {
    const std::lock_guard lock(mutex_);
    if (queued_.empty()) return false;
    next = std::move(queued_.front());
    queued_.pop_front();
  }
  Result<Committed> result = Apply(next.writes);
  if (acknowledge == Acknowledge::kYes && next.done) next.done(std::move(result));
  return true;
}

bool MemoryStore::PumpWrite(Acknowledge acknowledge) {
  Transaction one;
  {
    const std::lock_guard lock(mutex_);
    if (queued_.empty()) return false;
    Queued& next = queued_.front();
    if (next.written < next.writes.size()) one.push_back(std::move(next.writes[next.written++]));
  }
  Result<Committed> result = Apply(one);
  Queued ended;
  {
    const std::lock_guard lock(mutex_);
    Queued& next = queued_.front();
    if (result) {
      for (ObjectPtr& object : result->objects) next.committed.objects.push_back(object);
      if (next.written < next.writes.size()) return true;
      result = std::move(next.committed);
    }
    ended = std::move(next);
    queued_.pop_front();
  }
  if (acknowledge == Acknowledge::kYes && ended.done) ended.done(std::move(result));
  return true;
}

Result<Committed> MemoryStore::Apply(Transaction& writes) {
  std::vector<Change> changes;
  std::optional<Result<Committed>> result;
  {
    const std::lock_guard lock(mutex_);
    result.emplace(ApplyLocked(writes, changes));
  }
  if (!*result) return *std::move(result);
  changes_.Append(std::move(changes));
  return *std::move(result);
}

Result<Committed> MemoryStore::ApplyLocked(Transaction& writes, std::vector<Change>& changes) {
  if (failures_ > 0 && failures_after_ > 0) {
    --failures_after_;
  } else if (failures_ > 0) {
    --failures_;
    return Error(Code::kUnavailable, "the store was told to fail");
  }
  // Later writes of a transaction see the earlier ones, so all are tried on what they touch first.
  std::map<ObjectKey, ObjectPtr> touched;
  Committed committed;
  int64_t version = state_.version;
  for (Write& write : writes) {
    const ObjectKey key = write.object->key();
    auto [at, fresh] = touched.try_emplace(key);
    if (fresh) {
      const auto stored = state_.objects.find(key);
      if (stored != state_.objects.end()) at->second = stored->second;
    }
    std::optional<int64_t> stored_version;
    if (at->second) stored_version = at->second->meta.resource_version;
    const bool creates = write.op == WriteOp::kCreate;
    if (!atomic() && creates && at->second && IsSameCreation(*at->second, *write.object)) {
      committed.objects.push_back(at->second);
      continue;
    }
    if (std::optional<Error> refusal = Refusal(write, stored_version)) return *std::move(refusal);
    if (!atomic() && creates) write.object->meta.uid = DerivedUid(std::to_string(version + 1));
    at->second = write.op == WriteOp::kDelete ? nullptr : write.object;
    // A refusal further down leaves this version on an object that nobody will see.
    write.object->meta.resource_version = ++version;
    changes.push_back({ChangeTypeOf(write.op), version, write.object, std::move(write.previous)});
    committed.objects.push_back(std::move(write.object));
  }
  state_.version = version;
  for (auto& [key, object] : touched) {
    if (object) {
      state_.objects[key] = std::move(object);
    } else {
      state_.objects.erase(key);
    }
  }
  return committed;
}

Result<ObjectPtr> MemoryStore::Read(const ObjectKey& key) {
  const std::lock_guard lock(mutex_);
  if (read_failures_ > 0) {
    --read_failures_;
    return Error(Code::kUnavailable, "the store was told to fail");
  }
  const auto stored = state_.objects.find(key);
  if (stored == state_.objects.end()) {
    return Error(Code::kNotFound, ToString(key) + " does not exist");
  }
  return stored->second;
}

Result<Page> MemoryStore::List(const ListQuery& query) {
  Page page;
  std::vector<ObjectPtr> matching;
  {
    const std::lock_guard lock(mutex_);
    if (read_failures_ > 0) {
      --read_failures_;
      return Error(Code::kUnavailable, "the store was told to fail");
    }
    page.version = state_.version;
    const ObjectKey first{query.kind, query.ns, ""};
    auto at = state_.objects.lower_bound(first);
    if (query.after) {
      const ObjectKey behind{query.kind, query.after->first, query.after->second};
      if (behind >= first) at = state_.objects.upper_bound(behind);
    }
    for (; at != state_.objects.end() && at->first.kind == query.kind; ++at) {
      if (Matches(query, at->second->meta)) matching.push_back(at->second);
    }
  }
  FillPage(query, std::move(matching), page);
  return page;
}

void MemoryStore::DropQueued() {
  const std::lock_guard lock(mutex_);
  queued_.clear();
}

size_t MemoryStore::queued() const {
  const std::lock_guard lock(mutex_);
  return queued_.size();
}

void MemoryStore::FailNext(size_t count, size_t after) {
  const std::lock_guard lock(mutex_);
  failures_ = count;
  failures_after_ = after;
}

void MemoryStore::FailReads(size_t count) {
  const std::lock_guard lock(mutex_);
  read_failures_ = count;
}

MemoryStore::State MemoryStore::TakeState() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

}  // namespace detent
