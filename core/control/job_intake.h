// The store as the API writes to it: whatever is written passes through, but a Job that is created
// goes by way of the loop, which stores it together with its start and its first attempts. So one
// wait for the disk lies between a request and its work, not two.
//
// Any thread. The creation is answered on the loop's thread; one that the loop's end overtakes is
// answered when the loop's engine is destroyed, so stop the API before the loop.

#pragma once

#include "core/control/message.h"
#include "core/store/store.h"

namespace detent {

class JobIntake final : public Store {
 public:
  // Borrowed; both outlive this.
  JobIntake(Store& store, Inbox& inbox) : store_(store), inbox_(inbox) {}

  // A creation waits where the loop's inbox is full, which slows down whoever asks for too much.
  void Submit(Transaction transaction, Done done) override;

  Result<ObjectPtr> Read(const ObjectKey& key) override { return store_.Read(key); }
  Result<Page> List(const ListQuery& query) override { return store_.List(query); }
  ChangeLog& changes(Kind kind) override { return store_.changes(kind); }
  bool atomic() const override { return store_.atomic(); }

 private:
  Store& store_;
  Inbox& inbox_;
};

}  // namespace detent
