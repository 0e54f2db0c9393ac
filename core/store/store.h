// What is remembered: objects by kind, namespace and name, with versions. The interface, and its
// contract (tests/store/store_contract.h runs it on every implementation).
//
// Reads answer the committed state and may come from any thread. Writes are transactions, done in
// the order of Submit: all of one or nothing, where the store is atomic(). A transaction is
// acknowledged when it is durable.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/api/object.h"
#include "core/base/result.h"
#include "core/store/change_log.h"

namespace detent {

enum class WriteOp : uint8_t { kCreate, kUpdate, kDelete };

struct Write {
  WriteOp op = WriteOp::kUpdate;
  // The object as it shall be; of a deletion, as it was. Given away: the store sets its
  // resource_version, and from then on nobody changes it.
  std::shared_ptr<Object> object;
  // The version that must be stored now, else kConflict. 0 = whatever is there. Not for kCreate.
  int64_t expected_version = 0;
  // The state before, where the writer knows it: for watchers' selectors. Required
  // where labels changed.
  ObjectPtr previous;
};

using Transaction = std::vector<Write>;

struct Committed {
  std::vector<ObjectPtr> objects;  // In the order of the writes, each with its new version.
};

struct ListQuery {
  Kind kind = Kind::kJob;
  std::string ns;         // Empty: all namespaces.
  std::string owner_uid;  // Empty: any; else only objects whose controller has this UID.
  std::optional<std::pair<std::string, std::string>> after;  // Namespace and name to go on behind.
  size_t limit = 0;                                          // 0 = no limit.
  std::function<bool(const Object&)> keep;                   // Null: all.
};

struct Page {
  std::vector<ObjectPtr> objects;  // By namespace, then name.
  int64_t version = 0;             // The state that this page shows: a version of changes(kind).
  bool more = false;               // The limit cut it; go on after the last object.
};

class Store {
 public:
  using Done = std::function<void(Result<Committed>)>;

  virtual ~Store() = default;

  // Queues a transaction; never blocks on the disk. `done` is called exactly once, on a thread of
  // the store, once the transaction is durable or refused; in the order of Submit, be it only for
  // transactions that have an object in common where the store is not atomic():
  //   kAlreadyExists  kCreate, and the name is taken
  //   kNotFound       kUpdate or kDelete, and there is nothing of that name
  //   kConflict       expected_version is not what is stored
  //   kTooLarge       an object is over limits::kObjectBytes
  //   kUnavailable    the disk is full or fails; nothing of the transaction is stored
  // A refused write refuses its whole transaction. `done` must not block. Any thread.
  virtual void Submit(Transaction transaction, Done done) = 0;

  // False, of Kubernetes: there are no transactions of several objects. The writes of one are done
  // one by one, in its order, up to the first that is refused, and what was done by then stays, as
  // it does when the host dies in between. Such a store also gives each new object its own UID and
  // creation time, and takes a creation that finds what an earlier try of it made for done
  // (write_rules.h: IsSameCreation).
  virtual bool atomic() const { return true; }

  // The object, or kNotFound. Any thread.
  virtual Result<ObjectPtr> Read(const ObjectKey& key) = 0;

  // One page in key order, all of it from one version. Any thread.
  virtual Result<Page> List(const ListQuery& query) = 0;

  // The newest changes of objects of that kind, maybe among others. A change is in the log before
  // its `done` is called. Any thread.
  virtual ChangeLog& changes(Kind kind) = 0;
};

// Submits and waits: for API threads and tests, never for the loop.
Result<Committed> SubmitAndWait(Store& store, Transaction transaction);

}  // namespace detent
