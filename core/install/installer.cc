#include "core/install/installer.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/api/furiko.h"
#include "core/api/labels.h"
#include "core/api/object.h"
#include "core/crd/furiko_crd.h"
#include "core/install/furiko_signs.h"
#include "core/install/version.h"

namespace detent {
namespace {

// Kubernetes 1.29 is the first whose validation rules of CRDs are no feature that may be off.
constexpr int64_t kLeastMinor = 29;
constexpr const char* kManager = "detent";
constexpr std::chrono::milliseconds kPause{100};
// Between RBAC's objects and the answers of all API servers lie their caches, and no more.
constexpr std::chrono::milliseconds kRightsTimeout{10'000};

std::string TextIn(const Json& json, std::string_view pointer) {
  const Json* found = json.At(pointer);
  return found != nullptr && found->is_string() ? found->as_string() : "";
}

// What an object says without what the server keeps about it.
Json Said(Json object) {
  object.Remove("status");
  if (Json* metadata = object.Find("metadata")) {
    for (const char* name :
         {"managedFields", "resourceVersion", "generation", "uid", "creationTimestamp"}) {
      metadata->Remove(name);
    }
  }
  return object;
}

std::string Lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "\n") + line;
  return text;
}

// A condition of a CustomResourceDefinition's status, or null.
const Json* ConditionOf(const Json& crd, std::string_view type) {
  const Json* conditions = crd.At("/status/conditions");
  if (conditions == nullptr || !conditions->is_array()) return nullptr;
  for (const Json& condition : conditions->as_array()) {
    if (TextIn(condition, "/type") == type) return &condition;
  }
  return nullptr;
}

bool HasResource(const Json& discovery, const std::string& name) {
  const Json* resources = discovery.Find("resources");
  if (resources == nullptr || !resources->is_array()) return false;
  for (const Json& resource : resources->as_array()) {
    if (TextIn(resource, "/name") == name) return true;
  }
  return false;
}

}  // namespace

std::vector<InstallObject> ObjectsOf(const InstallOptions& options) {
  std::vector<InstallObject> objects =
      InstallObjects(options.ns, options.version, options.executors);
  if (!options.furiko_group) return objects;
  std::vector<InstallObject> furiko = FurikoObjects(options.ns, options.version);
  std::move(furiko.begin(), furiko.end(), std::back_inserter(objects));
  return objects;
}

Installer::Installer(InstallPort port, InstallOptions options, Tell tell)
    : port_(std::move(port)),
      options_(std::move(options)),
      tell_(std::move(tell)),
      objects_(ObjectsOf(options_)) {}

Result<void> Installer::Run() {
  TRY(CheckServer());
  TRY(CheckOwnRights());
  TRY(ReadPresent());
  for (const Present& present : present_) {
    TRY(CheckNotNewer(present));
    TRY(CheckOneHome(present));
  }
  if (options_.furiko_group) TRY(CheckNoFuriko());
  for (const Present& present : present_) TRY(Apply(present));
  if (options_.dry_run) return {};
  TRY(WaitForKinds());
  return WaitForHostRights();
}

Result<Json> Installer::Ask(KubeRequest request) {
  request.timeout = options_.request_timeout;
  const KubeReply reply = port_.fetch(std::move(request));
  if (reply.outcome != KubeOutcome::kOk) return Error(CodeOf(reply), reply.message);
  return ParseJson(reply.body);
}

Result<void> Installer::CheckServer() {
  KubeRequest request;
  request.path = "/version";
  auto version = Ask(std::move(request));
  if (!version) return std::move(version).error().While("ask the API server for its version");
  const auto major = LeadingNumber(TextIn(*version, "/major"));
  const auto minor = LeadingNumber(TextIn(*version, "/minor"));
  if (!major || !minor) {
    return Error(Code::kUnsupported, "the API server does not say which Kubernetes it is");
  }
  if (*major > 1 || (*major == 1 && *minor >= kLeastMinor)) return {};
  return Error(Code::kUnsupported, "the API server is Kubernetes " + std::to_string(*major) + "." +
                                       std::to_string(*minor) + ", and Detent needs 1." +
                                       std::to_string(kLeastMinor) +
                                       " or newer, which check objects by rules");
}

// Leaves in `questions` those that were denied, and says of each what the authorizer said.
Result<std::vector<std::string>> Installer::Denied(std::vector<AccessQuestion>& questions,
                                                   const AccessSubject& subject) {
  std::vector<AccessQuestion> denied;
  std::vector<std::string> reasons;
  for (const AccessQuestion& question : questions) {
    KubeRequest request;
    request.method = "POST";
    request.path = PathOf(ReviewResource(subject), "", "");
    request.body = DumpJson(ReviewOf(question, subject));
    request.timeout = options_.request_timeout;
    request.idempotent = true;  // Nothing is stored.
    const KubeReply reply = port_.fetch(std::move(request));
    if (reply.outcome != KubeOutcome::kOk) {
      return Error(CodeOf(reply), reply.message).While("ask whether we may " + ToString(question));
    }
    const AccessAnswer answer = TRY(ReadReview(reply.body));
    if (answer.allowed) continue;
    denied.push_back(question);
    reasons.push_back(answer.reason.empty() ? "" : " (" + answer.reason + ")");
  }
  questions = std::move(denied);
  return reasons;
}

Result<void> Installer::CheckOwnRights() {
  std::vector<AccessQuestion> questions = InstallQuestions(objects_);
  for (const FurikoPlace& place : FurikoPlaces()) {
    const KubeResource& resource = place.resource;
    const char* verb = place.name.empty() ? "list" : "get";
    if (options_.furiko_group) {
      questions.push_back({verb, resource.group, resource.plural, "", place.ns, place.name});
    }
  }
  const std::vector<std::string> reasons = TRY(Denied(questions, {}));
  if (questions.empty()) return {};
  std::vector<std::string> lines;
  for (size_t i = 0; i < questions.size(); ++i) {
    lines.push_back("you may not " + ToString(questions[i]) + reasons[i] +
                    ", which an installation needs; ask for it, or have somebody install who has "
                    "the cluster role cluster-admin");
  }
  return Error(Code::kForbidden, Lines(lines));
}

Result<void> Installer::ReadPresent() {
  for (const InstallObject& object : objects_) {
    KubeRequest request;
    request.path = PathOf(object.resource, object.ns, object.name);
    auto stored = Ask(std::move(request));
    if (!stored && stored.error().code() != Code::kNotFound) {
      return std::move(stored).error().While("read " + ToString(object));
    }
    present_.push_back({&object, stored ? *std::move(stored) : Json()});
  }
  return {};
}

Result<void> Installer::CheckNotNewer(const Present& present) const {
  const std::string pointer = "/metadata/annotations" + PointerToken(labels::kVersion);
  const std::string theirs = TextIn(present.stored, pointer);
  if (theirs.empty()) return {};
  const auto stored = ParseReleaseVersion(theirs);
  const auto ours = ParseReleaseVersion(options_.version);
  if (stored && ours && *stored <= *ours) return {};
  if (!stored) {
    return Error(Code::kConflict, ToString(*present.object) + " has the annotation " +
                                      labels::kVersion + ": '" + theirs +
                                      "', which is no version; correct it or remove it");
  }
  return Error(Code::kConflict,
               ToString(*present.object) + " is of Detent " + theirs +
                   ", which is newer than this one (" + options_.version +
                   "), and may have fields that this one would drop; install with " + theirs +
                   " or newer");
}

// Two hosts that each think the cluster theirs would run every Job twice.
Result<void> Installer::CheckOneHome(const Present& present) const {
  if (present.object->resource.plural != "clusterrolebindings") return {};
  const std::string theirs = TextIn(present.stored, "/subjects/0/namespace");
  if (theirs.empty() || theirs == options_.ns) return {};
  return Error(Code::kConflict, "Detent is installed in namespace '" + theirs + "' (" +
                                    ToString(*present.object) +
                                    "), and a cluster has one; install with --namespace " + theirs +
                                    ", or delete that one first");
}

// Both would carry out every Job.
Result<void> Installer::CheckNoFuriko() {
  std::vector<std::string> signs;
  const auto add = [&](std::vector<std::string> more) {
    std::move(more.begin(), more.end(), std::back_inserter(signs));
  };
  for (const Present& present : present_) {
    if (!present.stored.is_null()) add(FurikoSignsOf(present.object->name, present.stored));
  }
  for (const FurikoPlace& place : FurikoPlaces()) {
    KubeRequest request;
    request.path = PathOf(place.resource, place.ns, place.name);
    auto found = Ask(std::move(request));
    if (found) {
      add(FurikoSignsAt(place, *found));
    } else if (found.error().code() != Code::kNotFound) {
      return std::move(found).error().While("look for a Furiko in the cluster");
    }
  }
  if (signs.empty()) return {};
  return Error(Code::kConflict, "a Furiko is installed in this cluster: " + Joined(signs) +
                                    "; it and Detent would both run its Jobs, so remove it first, "
                                    "or install without --with-furiko-group");
}

bool Installer::HasNamespace() const {
  for (const Present& present : present_) {
    if (present.object->resource.plural == "namespaces") return !present.stored.is_null();
  }
  return false;
}

Result<void> Installer::Apply(const Present& present) {
  const InstallObject& object = *present.object;
  const std::string done = present.stored.is_null() ? "created" : "configured";
  if (options_.dry_run && !object.ns.empty() && !HasNamespace()) {
    tell_(ToString(object) + " " + done + " (dry run; the API server cannot check it before " +
          "namespace " + object.ns + " is there)");
    return {};
  }
  KubeRequest request;
  request.method = "PATCH";
  request.path = PathOf(object.resource, object.ns, object.name) + "?" +
                 QueryPart("fieldManager", kManager) + "&fieldValidation=Strict";
  if (options_.take_over) request.path += "&force=true";
  if (options_.dry_run) request.path += "&dryRun=All";
  request.body = DumpJson(object.document);
  request.content_type = "application/apply-patch+yaml";  // JSON is YAML.
  request.idempotent = true;
  auto reply = Ask(std::move(request));
  if (!reply) {
    Error error = std::move(reply).error().While("apply " + ToString(object));
    if (error.code() != Code::kConflict) return error;
    return Error(error.code(), error.message() + "; --force-conflicts takes these fields over");
  }
  const bool same = !present.stored.is_null() && Said(present.stored) == Said(*std::move(reply));
  tell_(ToString(object) + " " + (same ? "unchanged" : done) +
        (options_.dry_run ? " (dry run)" : ""));
  return {};
}

// What the API server has not done yet, or empty.
Result<std::string> Installer::MissingOfKinds() {
  for (const Present& present : present_) {
    const InstallObject& object = *present.object;
    if (object.resource.plural != "customresourcedefinitions") continue;
    KubeRequest request;
    request.path = PathOf(object.resource, "", object.name);
    const Json crd = TRY(Ask(std::move(request)));
    const Json* names = ConditionOf(crd, "NamesAccepted");
    if (names != nullptr && TextIn(*names, "/status") == "False") {
      return Error(Code::kConflict, ToString(object) +
                                        " cannot be served: " + TextIn(*names, "/message") +
                                        "; delete the other definition that has the name");
    }
    const Json* established = ConditionOf(crd, "Established");
    if (established == nullptr || TextIn(*established, "/status") != "True") {
      return ToString(object) + " is not established";
    }
  }
  std::string missing = TRY(MissingOfGroup(kGroupVersion, {std::begin(kKinds), std::end(kKinds)}));
  if (!missing.empty() || !options_.furiko_group) return missing;
  return MissingOfGroup(kFurikoGroupVersion, {std::begin(kFurikoKinds), std::end(kFurikoKinds)});
}

Result<std::string> Installer::MissingOfGroup(const std::string& group,
                                              const std::vector<Kind>& kinds) {
  KubeRequest request;
  request.path = "/apis/" + group;
  const auto discovery = Ask(std::move(request));
  // Discovery follows a little behind.
  if (!discovery && discovery.error().code() != Code::kNotFound &&
      discovery.error().code() != Code::kUnavailable) {
    return discovery.error();
  }
  for (const Kind kind : kinds) {
    const std::string plural = PluralOf(kind);
    for (const std::string& name : {plural, plural + "/status"}) {
      if (discovery && HasResource(*discovery, name)) continue;
      return name + " of " + group + " is not served";
    }
  }
  return std::string();
}

Result<void> Installer::WaitForKinds() {
  const MonoTime give_up = port_.clock.Mono() + options_.timeout;
  while (true) {
    auto missing = MissingOfKinds();
    if (!missing) return std::move(missing).error().While("wait for our kinds to be served");
    if (missing->empty()) return {};
    if (port_.clock.Mono() >= give_up) {
      return Error(Code::kDeadline, *missing + ", and the time to wait for it is over");
    }
    port_.pause(kPause);
  }
}

Result<void> Installer::WaitForHostRights() {
  const AccessSubject host = ServiceAccountSubject(options_.ns, kServiceAccount);
  const MonoTime give_up = port_.clock.Mono() + std::min(options_.timeout, kRightsTimeout);
  std::vector<AccessQuestion> questions = HostQuestions(options_.ns, options_.executors);
  if (options_.furiko_group) {
    for (AccessQuestion& question : QuestionsOf(FurikoHostPermissions(), "")) {
      questions.push_back(std::move(question));
    }
  }
  while (true) {
    const std::vector<std::string> reasons = TRY(Denied(questions, host));
    if (questions.empty()) return {};
    if (port_.clock.Mono() >= give_up) {
      std::vector<std::string> lines;
      for (size_t i = 0; i < questions.size(); ++i) {
        lines.push_back(host.user + " may not " + ToString(questions[i]) + reasons[i] +
                        ", which the host needs, although its roles are bound; look at the API "
                        "server's --authorization-mode and its authorizers");
      }
      return Error(Code::kForbidden, Lines(lines));
    }
    port_.pause(kPause);
  }
}

}  // namespace detent
