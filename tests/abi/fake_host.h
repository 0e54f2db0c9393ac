// FakeHost: just enough of a host to drive one executor by hand, on one thread and in virtual time.
// It records what the plugin said and obeys what the test says; nothing runs by itself: RunTurns
// delivers the callbacks that are due. The table has no argument for context, so one FakeHost lives
// at a time. Buffers and JSON are the core's own.

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/plugin/diag_sink.h"
#include "detent/detent.h"

namespace detent::test {

struct SeenResult {
  detent_status code = DETENT_OK;
  std::string reason, message, body;
  uint64_t value = 0, value2 = 0;
  uint32_t flags = 0;
};

struct SeenStatus {
  uint32_t phase = 0, result = 0, flags = 0;
  uint64_t seq = 0;
  std::string reason, output;
};

class FakeHost {
 public:
  static constexpr detent_instance kInstance = 7;

  FakeHost();
  ~FakeHost();
  FakeHost(const FakeHost&) = delete;
  FakeHost& operator=(const FakeHost&) = delete;

  const detent_host* table() const { return &table_; }

  // Moves virtual time on, and delivers what is due, in order.
  void Advance(int64_t ns);
  // Delivers what is pending now.
  void RunTurns() { Advance(0); }
  // Answers everything that is still pending with E_CLOSING.
  void CloseAll();

  std::map<detent_op, std::vector<SeenResult>> completed;
  std::map<detent_task, std::vector<SeenStatus>> updates;
  std::map<detent_task, void*> users;
  std::vector<std::string> logs;
  std::vector<std::string> findings;  // "/pointer Reason hint"
  std::vector<std::string> blobs;
  detent_status checkpoint_refusal = DETENT_OK;
  int64_t now = 1000;
  detent_diag sink;  // What a plugin is lent for its findings; only the JSON service fills it.
  size_t pending() const { return pending_.size(); }

 private:
  struct Pending {
    uint64_t id;
    int64_t due;
    bool cancelled;
    std::function<void(detent_status)> run;
  };
  friend struct FakeCalls;

  detent_host table_{};
  std::deque<Pending> pending_;
  uint64_t next_ = 100;
};

}  // namespace detent::test
