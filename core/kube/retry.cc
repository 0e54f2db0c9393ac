#include "core/kube/retry.h"

namespace detent {

bool MayRepeat(const HttpReply& reply, Repeat repeat) {
  if (reply.outcome == HttpOutcome::kOk) {
    if (reply.status == 429) return true;
    return repeat == Repeat::kIfItMayHelp && reply.status >= 500 && reply.status != 501;
  }
  if (repeat == Repeat::kIfBusy || !SaysUnreachable(reply.outcome)) return false;
  if (reply.certificate_refused) return false;  // Ours to trust; time alone does not change it.
  return repeat == Repeat::kIfItMayHelp || reply.not_sent;
}

bool SaysRefused(const HttpReply& reply) {
  if (reply.outcome == HttpOutcome::kOk) return reply.status == 401;
  return reply.outcome == HttpOutcome::kTlsFailed;
}

bool SaysUnreachable(HttpOutcome outcome) {
  switch (outcome) {
    case HttpOutcome::kOk:
    case HttpOutcome::kCancelled:
    case HttpOutcome::kDenied:
    case HttpOutcome::kWithheld:
    case HttpOutcome::kHeadersTooLarge:
    case HttpOutcome::kInvalid:
      return false;
    default:
      return true;
  }
}

}  // namespace detent
