// An open instance of an executor that lives in the test itself, in front of a FakeApiServer: what
// a plugin would ask its host, the test asks by the same tables.

#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <string>
#include <vector>

#include "core/plugin/abi_convert.h"
#include "core/plugin/host_table.h"
#include "core/plugin/instance.h"
#include "core/plugin/offload_pool.h"
#include "detent/services/kube.h"
#include "detent/services/watch.h"
#include "tests/kube/watch_fixture.h"
#include "tests/plugin/host_fixture.h"

namespace detent::testing {

// What a callback was told, and on which thread.
struct Told {
  detent_status code = DETENT_E_INTERNAL;
  std::string reason, message, body;
  uint32_t http_status = 0;
  uint64_t value = 0;
  bool on_strand = false;
};

// Answers in the order in which they came. One for each test.
class Answers {
 public:
  static void Callback(void* ctx, const detent_result* result) {
    auto* self = static_cast<Answers*>(ctx);
    Told told{result->code,
              std::string(Text(result->reason)),
              std::string(Text(result->message)),
              "",
              result->http_status,
              result->value,
              false};
    detent_bytes body{};
    if (HostTable()->buf_view(result->body, &body) == DETENT_OK) told.body = Text(body);
    told.on_strand = self->instance != nullptr && self->instance->OnStrand();
    std::lock_guard lock(self->mutex_);
    self->all_.push_back(std::move(told));
    self->came_.notify_all();
  }
  // The next one; fails the test after ten seconds.
  Told Next() {
    std::unique_lock lock(mutex_);
    const bool came =
        came_.wait_for(lock, std::chrono::seconds(10), [&] { return taken_ < all_.size(); });
    EXPECT_TRUE(came) << "no answer came";
    return came ? all_[taken_++] : Told{};
  }
  size_t count() {
    std::lock_guard lock(mutex_);
    return all_.size();
  }
  const Instance* instance = nullptr;

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<Told> all_;
  size_t taken_ = 0;
};

class KubeInstance : public WatchFixture {
 protected:
  KubeInstance();
  ~KubeInstance() override;
  void Close();  // Harmless twice.

  detent_instance inst() const { return inst_; }
  // The handle of a task that the instance has in hand.
  detent_task StartTask(TaskId id, const std::string& name = "job-0-1");
  void ReleaseTask(TaskId id);
  // Runs `work` on the strand, and waits for its end.
  void OnStrand(const std::function<void()>& work);
  const detent_kube& Kube() { return *kube_; }
  const detent_watches& Watches() { return *watches_; }

  WatchHub hub_;
  KubeDoor door_;
  Events events_;
  Answers answers_;
  Instance* instance_ = nullptr;

 private:
  static detent_executor Table();
  void CloseInstance();

  const detent_executor table_;
  OffloadPool offload_{1};
  detent_instance inst_ = 0;
  detent_task last_task_ = 0;
  const detent_kube* kube_ = nullptr;
  const detent_watches* watches_ = nullptr;
};

}  // namespace detent::testing
