// How a cluster is told to ask the host before it stores a JobConfig or a Job: the names that the
// installation and the host (core/webhook) have in common. Constant data; any thread.
//
// Source: Kubernetes documentation, "Dynamic Admission Control".

#pragma once

#include <string>

#include "core/base/json.h"

namespace detent {

// The ValidatingWebhookConfiguration, and the one entry that it has.
inline constexpr const char* kWebhookConfiguration = "detent";
inline constexpr const char* kWebhookEntry = "validate.execution.detent.dev";
// The Service in front of the hosts, and the Secret with the certificate that they share.
inline constexpr const char* kWebhookService = "detent-webhook";
inline constexpr const char* kWebhookPath = "/validate";
inline constexpr int kWebhookServicePort = 443;

// The entry, without the caBundle, which is the host's to write and which an installation leaves as
// it is. A host in `ns`; what that writes itself is not asked about.
//
// Where no host answers, objects are stored unasked (failurePolicy Ignore): the host judges every
// object again before it acts on it, so a host that is down must not keep a cluster from working.
Json WebhookEntry(const std::string& ns);

}  // namespace detent
