// Whether somebody may do something in a cluster: questions for the API server's authorizers, and
// the words for them. Pure; any thread.
//
// Source: Kubernetes API reference, authorization.k8s.io/v1.

#pragma once

#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"
#include "core/install/objects.h"
#include "core/install/permissions.h"

namespace detent {

struct AccessQuestion {
  std::string verb;
  std::string group;        // Empty: the core group.
  std::string resource;     // "pods"
  std::string subresource;  // "log"; empty: the object itself.
  std::string ns;           // Empty: all namespaces, or no matter.
  std::string name;         // Empty: whatever its name.

  bool operator==(const AccessQuestion&) const = default;
};

// "get pods/log", "patch leases.coordination.k8s.io 'detent' in namespace detent".
std::string ToString(const AccessQuestion& question);

// One for each verb, resource and name; in `ns`, where it is not empty.
std::vector<AccessQuestion> QuestionsOf(const std::vector<Permission>& permissions,
                                        const std::string& ns);
// All that the host and these executors must be allowed in a cluster where `ns` is the host's.
std::vector<AccessQuestion> HostQuestions(const std::string& ns,
                                          const std::vector<ExecutorPermissions>& executors);
// What who applies `objects` must be allowed, each once.
std::vector<AccessQuestion> InstallQuestions(const std::vector<InstallObject>& objects);

// Who is asked about. Default: who asks.
struct AccessSubject {
  std::string user;
  std::vector<std::string> groups;
};

// As the API server knows the bearer of its tokens: "system:serviceaccount:NS:NAME".
AccessSubject ServiceAccountSubject(const std::string& ns, const std::string& name);

// A SubjectAccessReview, or a SelfSubjectAccessReview about who asks.
Json ReviewOf(const AccessQuestion& question, const AccessSubject& subject);
// The resource that such a review is created in.
KubeResource ReviewResource(const AccessSubject& subject);

struct AccessAnswer {
  bool allowed = false;
  std::string reason;  // The authorizer's own words, mostly empty.
};

// kInternal: the reply is no review.
Result<AccessAnswer> ReadReview(const std::string& body);

}  // namespace detent
