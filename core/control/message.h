// What can arrive at the loop. Everything that happens outside becomes one of these.

#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/mailbox.h"
#include "core/plugin/executor.h"
#include "core/store/store.h"

namespace detent {

// What one commit changed, whoever wrote it, in order.
struct StoreChanged {
  std::vector<Change> changes;
};

// One of the loop's own transactions is durable, or refused.
struct WriteDone {
  std::function<void(Result<Committed>)> then;
  Result<Committed> result;
};

struct ExecutorsSaid {
  std::vector<ExecutorEvent> events;
};

// Somebody asks for something to be done, or read, on the loop's thread.
struct Call {
  std::function<void()> run;
};

// A Job that somebody wants to be created, admitted already. `done` is called once, as
// Store::Submit would; a wish that is dropped with the loop says so itself.
struct JobWish {
  JobWish() = default;
  JobWish(const JobWish&) = delete;
  JobWish& operator=(const JobWish&) = delete;
  ~JobWish() {
    if (done) done(Error(Code::kUnavailable, "the host is stopping; whether it is stored is open"));
  }

  // Hands it to the store as it was asked for, without a start.
  void StoreAlone(Store& store) {
    store.Submit({{WriteOp::kCreate, std::move(object), 0, nullptr}}, std::exchange(done, nullptr));
  }

  std::shared_ptr<Object> object;
  Store::Done done;
};
struct JobWished {
  std::shared_ptr<JobWish> wish;
};

using Message = std::variant<StoreChanged, WriteDone, ExecutorsSaid, JobWished, Call>;
using Inbox = Mailbox<Message>;

}  // namespace detent
