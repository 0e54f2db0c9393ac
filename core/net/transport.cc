#include "core/net/transport.h"

namespace detent {

const char* ReasonOf(HttpOutcome outcome) {
  switch (outcome) {
    case HttpOutcome::kOk:
      return "";
    case HttpOutcome::kCancelled:
      return "Cancelled";
    case HttpOutcome::kDenied:
      return "EgressDenied";
    case HttpOutcome::kWithheld:
      return "Withheld";
    case HttpOutcome::kConnectTimeout:
      return "ConnectTimeout";
    case HttpOutcome::kReadTimeout:
      return "ReadTimeout";
    case HttpOutcome::kIdleTimeout:
      return "IdleTimeout";
    case HttpOutcome::kTotalTimeout:
      return "TotalTimeout";
    case HttpOutcome::kResolveFailed:
      return "ResolveFailed";
    case HttpOutcome::kConnectFailed:
      return "ConnectFailed";
    case HttpOutcome::kTlsFailed:
      return "TLSFailed";
    case HttpOutcome::kConnectionReset:
      return "ConnectionReset";
    case HttpOutcome::kProtocolError:
      return "ProtocolError";
    case HttpOutcome::kHeadersTooLarge:
      return "HeadersTooLarge";
    case HttpOutcome::kInvalid:
      return "InvalidRequest";
  }
  return "Unknown";
}

}  // namespace detent
