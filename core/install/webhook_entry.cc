#include "core/install/webhook_entry.h"

#include "core/api/object.h"
#include "core/install/access_question.h"
#include "core/install/objects.h"

namespace detent {
namespace {

// Who writes waits so long for a host that hangs. A verdict takes milliseconds.
constexpr int kTimeoutSeconds = 3;

}  // namespace

Json WebhookEntry(const std::string& ns) {
  const std::string host = ServiceAccountSubject(ns, kServiceAccount).user;
  Json service(Json::Object{{"namespace", ns},
                            {"name", kWebhookService},
                            {"path", kWebhookPath},
                            {"port", kWebhookServicePort}});
  // Without subresources: the status is the host's alone, and what a Scale may set the schema says.
  Json rule(
      Json::Object{{"apiGroups", Json::Array{kApiGroup}},
                   {"apiVersions", Json::Array{kApiVersion}},
                   {"operations", Json::Array{"CREATE", "UPDATE"}},
                   {"resources", Json::Array{PluralOf(Kind::kJobConfig), PluralOf(Kind::kJob)}},
                   {"scope", "Namespaced"}});
  Json others(Json::Object{{"name", "not-by-the-host"},
                           {"expression", "request.userInfo.username != '" + host + "'"}});
  return Json::Object{{"name", kWebhookEntry},
                      {"admissionReviewVersions", Json::Array{"v1"}},
                      {"clientConfig", Json::Object{{"service", std::move(service)}}},
                      {"rules", Json::Array{std::move(rule)}},
                      {"matchConditions", Json::Array{std::move(others)}},
                      {"failurePolicy", "Ignore"},
                      {"sideEffects", "None"},
                      {"timeoutSeconds", kTimeoutSeconds}};
}

}  // namespace detent
