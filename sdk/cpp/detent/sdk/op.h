// Op: a question of the host that is answered exactly once (rule D-OP-1). Move-only: whoever holds
// it owes the answer. Dropping it answers DETENT_E_INTERNAL, so a forgotten path is seen at once
// rather than at the deadline. May be moved to and answered on any thread.

#pragma once

#include <exception>
#include <string_view>
#include <utility>

#include "detent/host.h"
#include "detent/sdk/border.h"
#include "detent/sdk/status.h"

namespace detent::sdk {

// The answers to Executor::Recover; see detent/task.h for what the host does with each.
enum class Recovered : detent_status {
  kAdopted = DETENT_ADOPTED,
  kTerminated = DETENT_TERMINATED,
  kNotFound = DETENT_NOT_FOUND,
  kLost = DETENT_LOST,
  kRetryLater = DETENT_RETRY_LATER,
  kIncompatible = DETENT_INCOMPATIBLE,
};

class Op {
 public:
  Op() = default;
  Op(const detent_host* table, detent_instance instance, detent_op op)
      : table_(table), instance_(instance), op_(op) {}
  Op(Op&& other) noexcept
      : table_(other.table_), instance_(other.instance_), op_(std::exchange(other.op_, 0)) {}
  Op& operator=(Op&& other) noexcept {
    if (this != &other) {
      Drop();
      table_ = other.table_;
      instance_ = other.instance_;
      op_ = std::exchange(other.op_, 0);
    }
    return *this;
  }
  ~Op() { Drop(); }

  // The host's id, as Executor::Cancel names it; 0 once answered or moved from.
  detent_op id() const { return op_; }
  explicit operator bool() const { return op_ != 0; }

  void Succeed() { Complete(ResultOf(Status())); }
  void Fail(const Status& status) { Complete(ResultOf(status)); }
  // Succeed or Fail, as status says.
  void Finish(const Status& status) { Complete(ResultOf(status)); }

  void Answer(Recovered answer, std::string_view message = {}, uint32_t retry_after_ms = 0) {
    detent_result result = ResultOf(Status());
    result.code = static_cast<detent_status>(answer);
    result.message = Str(message);
    result.retry_after_ms = retry_after_ms;
    Complete(result);
  }

  // Any answer at all; what `result` points to is copied.
  void Complete(const detent_result& result) {
    const detent_op op = std::exchange(op_, 0);
    if (op == 0) return;
    if (border::Frame* frame = border::CurrentFrame(); frame != nullptr && frame->op == op) {
      frame->completed = true;
    }
    table_->op_complete(instance_, op, &result);
  }

  // Says that a long op lives: 0 to 1000, and a note or nothing.
  void Progress(uint32_t permille, std::string_view note = {}) const {
    const detent_str text = Str(note);
    if (op_ != 0) table_->op_progress(instance_, op_, permille, &text);
  }

 private:
  void Drop() {
    if (op_ == 0) return;
    const border::Frame* frame = border::CurrentFrame();
    // While an exception unwinds the call that brought this op, the border answers, with its text.
    if (std::uncaught_exceptions() > 0 && frame != nullptr && frame->op == op_) return;
    detent_result result = ResultOf(Status());
    result.code = DETENT_E_INTERNAL;
    result.reason = Str("OpDropped");
    result.message = Str("the executor dropped the question without an answer");
    Complete(result);
  }

  const detent_host* table_ = nullptr;
  detent_instance instance_ = 0;
  detent_op op_ = 0;
};

}  // namespace detent::sdk
