// HttpExecutor: carries out tasks of kind `http`, each one request through the host's
// detent.http/1. A task lives in memory only: what was under way when the host went down is LOST,
// and safe to repeat only if the request says so. Up to maxConnections requests are in flight, the
// tasks behind them wait with their start unanswered, so nothing is said to run that was not sent.
// Strand only.

#pragma once

#include <array>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "detent/sdk/executor.h"
#include "detent/services/http.h"
#include "detent/services/json.h"
#include "plugins/http/plan.h"
#include "plugins/http/spec.h"

namespace detent::http {

class HttpExecutor;
class HttpTask;

// What the host's callback owns. It comes exactly once, and may come after its task is gone.
struct Exchange {
  HttpExecutor* executor = nullptr;
  HttpTask* task = nullptr;  // null: nobody wants the answer
  detent_op request = 0;
};

class HttpTask final : public sdk::Task {
 public:
  HttpTask(const sdk::Host& host, const sdk::TaskRef& ref, std::shared_ptr<const Plan> what)
      : Task(host, ref), plan(std::move(what)) {}
  ~HttpTask() override { Forget(); }

  // The answer, when it comes, is for nobody. The request goes on.
  void Forget() {
    if (exchange != nullptr) exchange->task = nullptr;
    exchange = nullptr;
  }

  std::shared_ptr<const Plan> plan;  // null: recovered, so there is nothing to send
  Exchange* exchange = nullptr;      // in flight; owned by the callback to come
  sdk::Op start;                     // unanswered while it waits for its turn
  int64_t sent_ns = 0;
  uint32_t ticks = 0;  // of the timer, since it was sent
  bool waiting = false;
  bool killed = false;  // asked for
  std::string kill_reason;
};

class HttpExecutor final : public sdk::Executor {
 public:
  static constexpr std::string_view kKind = "http";
  static constexpr uint32_t kCaps = DETENT_CAP_IN_PROCESS_TASKS;
  static const std::string_view kSpecSchema;    // schema.cc
  static const std::string_view kConfigSchema;  // schema.cc

  static void Validate(sdk::Fields& fields) { ReadSpec(fields, sdk::Fields::Mode::kTemplate); }

  sdk::Status Create(const sdk::InstanceInfo& info, sdk::Diagnostics& diag) override;
  void Open(sdk::Op op) override;
  void Close(sdk::Op op) override;
  void Start(sdk::Op op, const sdk::TaskRef& ref) override;
  void Recover(sdk::Op op, const sdk::TaskRef& ref) override;
  void Kill(sdk::Op op, sdk::Task& task, const sdk::KillRequest& how) override;
  void ForceDelete(sdk::Op op, sdk::Task& task) override;
  void Cancel(detent_op op) override;

 private:
  using PlanResult = sdk::Result<std::shared_ptr<const Plan>>;

  PlanResult PlanFor(std::string_view spec);
  detent_status Send(HttpTask& task);
  void SendWaiting();
  void Wait(HttpTask& task, sdk::Op op);
  static void Answered(void* ctx, const detent_http_response* response) noexcept;
  void End(HttpTask& task, const detent_http_response& response);
  bool IsJson(std::string_view text) const;
  void EndKilled(HttpTask& task, std::string message);
  void Tick();

  // Plans of the specs seen last, found by the spec's text.
  struct Remembered {
    std::string spec;
    std::shared_ptr<const Plan> plan;
  };

  HttpConfig config_;
  const detent_http* http_ = nullptr;
  const detent_json* json_ = nullptr;
  int64_t in_flight_ = 0;
  std::deque<detent_task> waiting_;  // some may be over by now
  std::array<Remembered, 16> remembered_;
  sdk::Timer tick_;
  bool closing_ = false;
};

}  // namespace detent::http
