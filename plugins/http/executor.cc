#include "plugins/http/executor.h"

#include <functional>
#include <utility>

#include "plugins/http/outcome.h"

namespace detent::http {
namespace {

constexpr std::chrono::milliseconds kTick(250);
constexpr uint32_t kTicksToRunning = 2;
constexpr size_t kSpecRemembered = 16 * 1024;
constexpr uint32_t kAgainMs = 250;

HttpTask& AsHttp(sdk::Task& task) {
  return static_cast<HttpTask&>(task);
}

sdk::Status Busy(const char* reason, const char* message) {
  return sdk::Status(DETENT_E_BUSY, reason, message).Retry(DETENT_HINT_LATER, kAgainMs);
}

}  // namespace

sdk::Status HttpExecutor::Create(const sdk::InstanceInfo& info, sdk::Diagnostics& diag) {
  auto doc = sdk::JsonDoc::Parse(host().table(), instance(), info.config, diag.sink());
  if (!doc) return doc.status();
  sdk::Fields fields(doc->root(), "", sdk::Fields::Mode::kFinal, diag);
  config_ = ReadConfig(fields);
  return {};
}

void HttpExecutor::Open(sdk::Op op) {
  http_ = host().Service<detent_http>(DETENT_SVC_HTTP);
  json_ = host().Service<detent_json>(DETENT_SVC_JSON);
  if (http_ == nullptr || json_ == nullptr) {
    return op.Fail({DETENT_E_UNSUPPORTED, "NoHttp", "the host has no detent.http/1"});
  }
  op.Succeed();
}

void HttpExecutor::Close(sdk::Op op) {
  closing_ = true;
  tick_.Cancel();
  for (const detent_task handle : waiting_) {
    sdk::Task* task = Find(handle);
    if (task == nullptr || !std::exchange(AsHttp(*task).waiting, false)) continue;
    AsHttp(*task).start.Fail(Busy("Closing", "the executor closes; nothing was sent"));
  }
  waiting_.clear();
  // What is in flight gets E_CLOSING from the host, and is for the next life to recover.
  op.Succeed();
}

HttpExecutor::PlanResult HttpExecutor::PlanFor(std::string_view spec) {
  Remembered& place = remembered_[std::hash<std::string_view>()(spec) % remembered_.size()];
  if (place.plan != nullptr && place.spec == spec) return place.plan;
  const auto read = [](sdk::Fields& fields) { return ReadSpec(fields, sdk::Fields::Mode::kFinal); };
  const auto parsed = sdk::ReadDocument(host(), spec, read);
  if (!parsed) return parsed.status();
  std::shared_ptr<const Plan> plan = std::make_shared<Plan>(*parsed, config_);
  if (spec.size() <= kSpecRemembered) {
    place.spec.assign(spec);
    place.plan = plan;
  }
  return plan;
}

void HttpExecutor::Start(sdk::Op op, const sdk::TaskRef& ref) {
  if (sdk::Task* known = Find(ref.task)) {
    HttpTask& task = AsHttp(*known);
    if (task.exchange != nullptr || task.Terminated()) return op.Succeed();
    if (task.waiting) return op.Fail(Busy("Waiting", "an earlier start of it waits for its turn"));
  }
  auto plan = PlanFor(ref.spec);
  if (!plan) return op.Fail(plan.status());
  HttpTask& task = Follow<HttpTask>(ref, *std::move(plan));
  if (in_flight_ >= config_.max_connections) return Wait(task, std::move(op));
  const detent_status code = Send(task);
  if (code == DETENT_OK) return op.Succeed();
  // The host's own limit may be the lower one; then an answer makes room.
  if (code == DETENT_E_BUSY && in_flight_ > 0) return Wait(task, std::move(op));
  op.Fail({code, "RequestRefused", "the host did not take the HTTP request"});
}

void HttpExecutor::Wait(HttpTask& task, sdk::Op op) {
  if (static_cast<int64_t>(waiting_.size()) >= config_.max_queued) {
    return op.Fail(Busy("QueueFull", "more requests wait than maxQueued allows"));
  }
  task.waiting = true;
  task.start = std::move(op);
  waiting_.push_back(task.handle());
}

detent_status HttpExecutor::Send(HttpTask& task) {
  detent_http_request request = task.plan->request();
  request.task = task.handle();
  auto exchange = std::make_unique<Exchange>(Exchange{this, &task, 0});
  const detent_status code =
      http_->request(instance(), &request, &Answered, exchange.get(), &exchange->request);
  if (code != DETENT_OK) return code;
  task.exchange = exchange.release();
  task.sent_ns = host().WallNs();
  ++in_flight_;
  if (!tick_.active()) tick_ = host().After(kTick, [this] { Tick(); });
  return DETENT_OK;
}

void HttpExecutor::SendWaiting() {
  while (!closing_ && !waiting_.empty() && in_flight_ < config_.max_connections) {
    sdk::Task* found = Find(waiting_.front());
    if (found == nullptr || !AsHttp(*found).waiting) {
      waiting_.pop_front();  // It was killed or detached meanwhile.
      continue;
    }
    HttpTask& task = AsHttp(*found);
    const detent_status code = Send(task);
    if (code == DETENT_E_BUSY && in_flight_ > 0) return;
    waiting_.pop_front();
    task.waiting = false;
    if (code == DETENT_OK) {
      task.start.Succeed();
    } else {
      task.start.Fail({code, "RequestRefused", "the host did not take the HTTP request"});
    }
  }
}

void HttpExecutor::Answered(void* ctx, const detent_http_response* response) noexcept {
  const std::unique_ptr<Exchange> exchange(static_cast<Exchange*>(ctx));
  HttpExecutor& self = *exchange->executor;
  sdk::border::Guarded(self.host().table(), self.instance(), [&] {
    --self.in_flight_;
    HttpTask* const task = exchange->task;
    if (task != nullptr) {
      task->exchange = nullptr;
      // The end of the instance is not the end of its tasks.
      if (response->code != DETENT_E_CLOSING) self.End(*task, *response);
    }
    self.SendWaiting();
  });
}

bool HttpExecutor::IsJson(std::string_view text) const {
  const detent_bytes bytes = sdk::Bytes(text);
  detent_doc doc = 0;
  if (json_->parse(instance(), &bytes, 0, &doc, nullptr) != DETENT_OK) return false;
  json_->release(doc);
  return true;
}

void HttpExecutor::End(HttpTask& task, const detent_http_response& response) {
  if (task.Terminated()) return;
  if (response.code == DETENT_E_CANCELLED && task.killed) {
    const bool not_sent = (response.flags & DETENT_HTTP_NOT_SENT) != 0;
    const bool closed = (response.flags & DETENT_HTTP_CONNECTION_CLOSED) != 0;
    return EndKilled(task, not_sent ? "nothing had been sent"
                           : closed ? "the connection was closed before a response was complete"
                                    : "the request was given up; its connection is still open");
  }
  detent_bytes bytes{nullptr, 0};
  if (response.body != 0) host().table()->buf_view(response.body, &bytes);
  Reply reply{response, sdk::View(bytes)};
  reply.body_is_json =
      WantsJson(*task.plan, response, reply.body) && IsJson(WithoutMark(reply.body));
  sdk::TaskStatus status = DescribeEnd(*task.plan, reply);
  status.running_ns = task.sent_ns;
  status.finished_ns = host().WallNs();
  task.Update(std::move(status));
}

void HttpExecutor::EndKilled(HttpTask& task, std::string message) {
  sdk::TaskStatus status = task.status();
  status.phase = DETENT_PHASE_TERMINATED;
  status.result = DETENT_RESULT_KILLED;
  status.reason = task.kill_reason.empty() ? "Killed" : task.kill_reason;
  status.message = std::move(message);
  status.running_ns = task.sent_ns;
  status.finished_ns = host().WallNs();
  task.Update(std::move(status));
}

// Most requests are over before anybody could look at them, so only what lasts is said to run.
void HttpExecutor::Tick() {
  ForEachTask([](sdk::Task& record) {
    HttpTask& task = AsHttp(record);
    if (task.exchange == nullptr || ++task.ticks != kTicksToRunning || task.killed) return;
    sdk::TaskStatus status = task.status();
    status.phase = DETENT_PHASE_RUNNING;
    status.running_ns = task.sent_ns;
    task.Update(std::move(status));
  });
  if (in_flight_ > 0) tick_ = host().After(kTick, [this] { Tick(); });
}

void HttpExecutor::Recover(sdk::Op op, const sdk::TaskRef& ref) {
  if (sdk::Task* known = Find(ref.task)) {
    HttpTask& task = AsHttp(*known);
    if (task.exchange != nullptr || task.waiting) return op.Answer(sdk::Recovered::kAdopted);
    if (task.Terminated()) {
      task.Update(task.status());
      return op.Answer(sdk::Recovered::kTerminated);
    }
  }
  // Even a request that was answered is unknown here, because the answer was in memory only.
  const auto plan = PlanFor(ref.spec);
  HttpTask& task = Follow<HttpTask>(ref, nullptr);
  if (plan && (*plan)->rerun_safe()) {
    sdk::TaskStatus status;
    status.flags = DETENT_TASK_RERUN_SAFE;
    task.Update(std::move(status));
  }
  op.Answer(sdk::Recovered::kLost,
            "the host went down before the response came: whether the request took effect is "
            "not known");
}

void HttpExecutor::Kill(sdk::Op op, sdk::Task& record, const sdk::KillRequest& how) {
  HttpTask& task = AsHttp(record);
  if (task.Terminated()) return op.Succeed();
  const bool again = std::exchange(task.killed, true);
  if (!again) task.kill_reason = how.reason;
  if (std::exchange(task.waiting, false)) {
    task.start.Succeed();
    EndKilled(task, "nothing had been sent");
    return op.Succeed();
  }
  if (task.exchange == nullptr) {
    return op.Fail({DETENT_E_NOT_FOUND, "NotRunning", "there is no request of this task"});
  }
  if (!again) task.Killing();
  // The end comes with the callback, once the connection is closed, or with a response if that was
  // sooner.
  http_->cancel(instance(), task.exchange->request);
  op.Succeed();
}

void HttpExecutor::ForceDelete(sdk::Op op, sdk::Task& record) {
  HttpTask& task = AsHttp(record);
  task.killed = true;
  if (task.exchange != nullptr) {
    http_->cancel(instance(), task.exchange->request);
    task.Forget();
    if (task.kill_reason.empty()) task.kill_reason = "ForceDeleted";
    EndKilled(task, "given up without waiting; its connection may still be open");
  }
  op.Succeed();
}

void HttpExecutor::Cancel(detent_op op) {
  for (const detent_task handle : waiting_) {
    sdk::Task* found = Find(handle);
    if (found == nullptr || AsHttp(*found).start.id() != op) continue;
    AsHttp(*found).waiting = false;
    AsHttp(*found).start.Fail(Busy("QueueTooSlow", "its turn did not come in time"));
    return;
  }
}

}  // namespace detent::http
