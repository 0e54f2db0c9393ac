#include "tests/install/fake_cluster.h"

#include "core/api/furiko.h"
#include "core/api/object.h"

namespace detent::testing {
namespace {

KubeReply Ok(const Json& body) {
  KubeReply reply;
  reply.status = 200;
  reply.body = DumpJson(body);
  return reply;
}

KubeReply Failure(KubeOutcome outcome, const std::string& message) {
  KubeReply reply;
  reply.outcome = outcome;
  reply.message = message;
  return reply;
}

std::string Text(const Json& json, std::string_view pointer) {
  const Json* found = json.At(pointer);
  return found == nullptr ? "" : found->as_string();
}

Json Condition(const char* type, bool status, const std::string& message) {
  return Json::Object{{"type", type}, {"status", status ? "True" : "False"}, {"message", message}};
}

}  // namespace

InstallPort FakeCluster::Port() {
  return {[this](KubeRequest request) { return Answer(request); },
          [this](std::chrono::milliseconds time) {
            ++pauses;
            passed += time;
          },
          *this};
}

KubeReply FakeCluster::Answer(const KubeRequest& request) {
  if (request.path == "/version") return Ok(Json::Object{{"major", major}, {"minor", minor}});
  if (request.method == "POST") return Review(request);
  if (request.method == "PATCH") return Apply(request);
  const bool discovery = request.path == std::string("/apis/") + kGroupVersion ||
                         request.path == std::string("/apis/") + kFurikoGroupVersion;
  if (!discovery) return Read(request.path);
  if (pauses < pauses_until_served) return Failure(KubeOutcome::kNotFound, "not found");
  return Ok(Discovery());
}

KubeReply FakeCluster::Review(const KubeRequest& request) {
  const Json review = *ParseJson(request.body);
  reviews.push_back(review);
  const AccessQuestion question{Text(review, "/spec/resourceAttributes/verb"),
                                Text(review, "/spec/resourceAttributes/group"),
                                Text(review, "/spec/resourceAttributes/resource"),
                                Text(review, "/spec/resourceAttributes/subresource"),
                                Text(review, "/spec/resourceAttributes/namespace"),
                                Text(review, "/spec/resourceAttributes/name")};
  const bool self = Text(review, "/kind") == "SelfSubjectAccessReview";
  const bool denied =
      self ? denied_to_us.contains(ToString(question))
           : denied_to_host.contains(ToString(question)) || pauses < pauses_until_allowed;
  Json answer = review;
  answer.Set("status", Json::Object{{"allowed", !denied}});
  return Ok(answer);
}

KubeReply FakeCluster::Read(const std::string& path) {
  const auto found = objects.find(path);
  if (found == objects.end()) return Failure(KubeOutcome::kNotFound, path + " not found");
  Json object = found->second;
  if (path.find("/customresourcedefinitions/") != path.npos) {
    const bool accepted = name_conflict.empty();
    const bool established = accepted && pauses >= pauses_until_established;
    Json conditions = Json::Array{Condition("NamesAccepted", accepted, name_conflict),
                                  Condition("Established", established, "")};
    object.Set("status", Json::Object{{"conditions", std::move(conditions)}});
  }
  return Ok(object);
}

KubeReply FakeCluster::Apply(const KubeRequest& request) {
  applied.push_back(request);
  if (!others_fields.empty() && request.path.find("force=true") == request.path.npos) {
    return Failure(KubeOutcome::kConflict, others_fields);
  }
  Json object = *ParseJson(request.body);
  object.Find("metadata")->Set("resourceVersion", std::to_string(applied.size()));
  const std::string path = request.path.substr(0, request.path.find('?'));
  if (request.path.find("dryRun=All") == request.path.npos) objects[path] = object;
  return Ok(object);
}

Json FakeCluster::Discovery() const {
  Json::Array resources;
  for (const Kind kind : kKinds) {
    for (const char* sub : {"", "/status"}) {
      resources.push_back(Json::Object{{"name", std::string(PluralOf(kind)) + sub}});
    }
  }
  return Json::Object{{"resources", std::move(resources)}};
}

}  // namespace detent::testing
