// Driver: plays the host's side of one executor instance by hand, in the legal order, on a
// FakeHost. Each call returns the answer to its op if there is one already.

#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

#include "detent/sdk/text.h"
#include "tests/abi/fake_host.h"

namespace detent::test {

class Driver {
 public:
  Driver(FakeHost& host, const detent_executor& table) : host_(host), table_(table) {}
  ~Driver() {
    if (self_ != nullptr) Finish();
  }
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  detent_status Create(std::string_view config = "{}") {
    const detent_instance_info info{
        sizeof(detent_instance_info), DETENT_MODE_CHECK, sdk::Str("one"), table_.kind,
        sdk::Str("/nowhere"),         sdk::Bytes(config)};
    const detent_status code =
        table_.create(host_.table(), FakeHost::kInstance, &info, &self_, &host_.sink);
    if (code == DETENT_OK) table_.open(self_, ++op_);
    return code;
  }

  std::optional<SeenResult> Start(std::string_view spec, detent_task task = 1) {
    const detent_task_ref ref = Ref(spec, task);
    table_.start(self_, ++op_, &ref);
    return Answer(op_);
  }
  std::optional<SeenResult> Recover(std::string_view spec, detent_task task = 1) {
    const detent_task_ref ref = Ref(spec, task);
    table_.recover(self_, ++op_, &ref);
    return Answer(op_);
  }
  std::optional<SeenResult> Kill(detent_task task = 1) {
    const detent_kill how{sizeof(detent_kill), DETENT_KILL_GRACEFUL, 0, sdk::Str("UserRequested")};
    table_.kill(self_, ++op_, task, host_.users[task], &how);
    return Answer(op_);
  }
  void Release(detent_task task = 1) {
    if (table_.release != nullptr) table_.release(self_, task, host_.users[task]);
    host_.users.erase(task);
  }

  // close, callbacks with E_CLOSING, detach, destroy.
  void Finish() {
    table_.close(self_, ++op_);
    host_.CloseAll();
    for (const auto& [task, user] : host_.users) {
      if (table_.detach != nullptr) table_.detach(self_, task, user);
    }
    host_.users.clear();
    host_.CloseAll();
    table_.destroy(self_);
    self_ = nullptr;
  }

  std::optional<SeenResult> Answer(detent_op op) const {
    const auto at = host_.completed.find(op);
    if (at == host_.completed.end()) return std::nullopt;
    EXPECT_EQ(at->second.size(), 1u) << "op answered more than once";
    return at->second.front();
  }
  detent_op last_op() const { return op_; }
  void* self() const { return self_; }

 private:
  static detent_task_ref Ref(std::string_view spec, detent_task task) {
    detent_task_ref ref{};
    ref.size = sizeof(ref);
    ref.attempt = 1;
    ref.task = task;
    ref.key = sdk::Str("uid-0-1");
    ref.name = sdk::Str("job-0-1");
    ref.namespace_ = sdk::Str("default");
    ref.spec = sdk::Bytes(spec);
    return ref;
  }

  FakeHost& host_;
  const detent_executor& table_;
  void* self_ = nullptr;
  detent_op op_ = 0;
};

}  // namespace detent::test
