// LiveChecker: what an executor inherits beside Executor to look whether the world would take a
// spec, while the user who writes it waits (the extension detent.validate_live/1). What the spec
// holds and what becomes of findings is described in detent/ext/validate_live.h. Overrides must be
// public and run on the strand.

#pragma once

#include <string_view>
#include <utility>

#include "detent/ext/validate_live.h"
#include "detent/sdk/diagnostics.h"
#include "detent/sdk/op.h"

namespace detent::sdk {

class LiveChecker {
 public:
  // Hidden by an executor with `true`: CheckLive needs no more than Create has made, so that a host
  // which waits to lead can ask as well. See DETENT_VALIDATE_LIVE_BEFORE_OPEN.
  static constexpr bool kChecksBeforeOpen = false;

  virtual ~LiveChecker() = default;
  // Adds what it finds to diag, and answers with AnswerLive; or Fail with DETENT_E_UNSUPPORTED
  // where the config wants no looks, with another code where nothing could be learned. diag may be
  // kept until the op is answered; the texts are borrowed for the call.
  virtual void CheckLive(Op op, std::string_view namespace_, std::string_view spec,
                         Diagnostics diag) = 0;
};

// Looked. refuses: errors among the findings refuse the spec.
inline void AnswerLive(Op op, bool refuses) {
  detent_result result{};
  result.size = sizeof(result);
  result.flags = refuses ? DETENT_VALIDATE_LIVE_REFUSES : 0;
  op.Complete(result);
}

template <typename T>
struct Trampolines;

// The C table for an executor T that is a LiveChecker. Used by table.h.
template <typename T>
struct LiveTrampolines {
  static void Check(void* self, detent_op op, const detent_str* ns, const detent_bytes* spec,
                    detent_diag* sink) noexcept {
    Trampolines<T>::WithOp(self, op, [&](T& executor, Op question) {
      executor.CheckLive(std::move(question), View(*ns), View(*spec),
                         Diagnostics(executor.host().table(), sink));
    });
  }
  static constexpr detent_validate_live kTable{
      sizeof(detent_validate_live), T::kChecksBeforeOpen ? DETENT_VALIDATE_LIVE_BEFORE_OPEN : 0,
      &Check};
};

}  // namespace detent::sdk
