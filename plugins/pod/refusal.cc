#include "plugins/pod/refusal.h"

#include <string>

namespace detent::pod {
namespace {

using sdk::Status;

bool Says(std::string_view message, std::string_view words) {
  return message.find(words) != std::string_view::npos;
}

std::string MessageOf(const sdk::KubeAnswer& answer) {
  if (!answer.message().empty()) return std::string(answer.message());
  if (answer.http_status() == 0) return "the API server did not answer";
  return "the API server answered " + std::to_string(answer.http_status());
}

std::string ServersReason(const sdk::KubeAnswer& answer, std::string_view fallback) {
  return std::string(answer.reason().empty() ? fallback : answer.reason());
}

Status Later(std::string reason, const sdk::KubeAnswer& answer) {
  return Status(DETENT_E_UNAVAILABLE, std::move(reason), MessageOf(answer))
      .Retry(DETENT_HINT_LATER, answer.retry_after_ms());
}

// The texts are those of the API server's admission plugins ResourceQuota and NamespaceLifecycle,
// which say nothing else that could be told apart.
Status DeniedCreation(const sdk::KubeAnswer& answer) {
  if (Says(answer.message(), "exceeded quota")) {
    return Status(DETENT_E_BUSY, "QuotaExceeded", MessageOf(answer)).Retry(DETENT_HINT_LATER);
  }
  if (Says(answer.message(), "because it is being terminated")) {
    return Status(DETENT_E_DENIED, "NamespaceTerminating", MessageOf(answer))
        .Retry(DETENT_HINT_NEVER);
  }
  return RefusalOf(answer, "CreatePods");
}

}  // namespace

bool IsInDoubt(detent_status code) {
  return code == DETENT_E_UNAVAILABLE || code == DETENT_E_DEADLINE || code == DETENT_E_CANCELLED ||
         code == DETENT_E_INTERNAL;
}

Status RefusalOf(const sdk::KubeAnswer& create) {
  switch (create.code()) {
    case DETENT_E_INVALID:
      return Status(DETENT_E_INVALID, "InvalidPod", MessageOf(create)).Retry(DETENT_HINT_NEVER);
    case DETENT_E_TOO_LARGE:
      return Status(DETENT_E_INVALID, "PodTooLarge", MessageOf(create)).Retry(DETENT_HINT_NEVER);
    case DETENT_E_DENIED:
      return DeniedCreation(create);
    case DETENT_E_NOT_FOUND:
      return Later("NamespaceNotFound", create);
    default:
      return RefusalOf(create, "CreatePods");
  }
}

Status RefusalOf(const sdk::KubeAnswer& answer, std::string_view verb_and_resource) {
  switch (answer.code()) {
    case DETENT_E_DENIED:
      return Later(answer.http_status() == 403 ? std::string(verb_and_resource) + "Forbidden"
                                               : ServersReason(answer, "Unauthorized"),
                   answer);
    case DETENT_E_BUSY:
      return Later(ServersReason(answer, "TooManyRequests"), answer);
    case DETENT_E_CONFLICT:
      return Later(ServersReason(answer, "Conflict"), answer);
    case DETENT_E_NOT_FOUND:
      return Later(ServersReason(answer, "NotFound"), answer);
    case DETENT_E_ALREADY_EXISTS:
    case DETENT_E_FENCED:
    case DETENT_E_CLOSING:
    case DETENT_E_UNSUPPORTED:
    case DETENT_E_INVALID:
      return Status(answer.code(), ServersReason(answer, "Refused"), MessageOf(answer));
    default:
      return Later(ServersReason(answer, "Unavailable"), answer);
  }
}

}  // namespace detent::pod
