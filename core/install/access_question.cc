#include "core/install/access_question.h"

#include <algorithm>

namespace detent {
namespace {

constexpr const char* kAuthorization = "authorization.k8s.io";

void AddNames(std::vector<AccessQuestion>& questions, const AccessQuestion& question,
              const std::vector<std::string>& names) {
  if (names.empty()) questions.push_back(question);
  for (const std::string& name : names) {
    questions.push_back(question);
    questions.back().name = name;
  }
}

}  // namespace

std::string ToString(const AccessQuestion& question) {
  std::string text = question.verb + " " + question.resource;
  if (!question.group.empty()) text += "." + question.group;
  if (!question.subresource.empty()) text += "/" + question.subresource;
  if (!question.name.empty()) text += " '" + question.name + "'";
  if (!question.ns.empty()) text += " in namespace " + question.ns;
  return text;
}

std::vector<AccessQuestion> QuestionsOf(const std::vector<Permission>& permissions,
                                        const std::string& ns) {
  std::vector<AccessQuestion> questions;
  for (const Permission& permission : permissions) {
    for (const std::string& resource : permission.resources) {
      const size_t slash = std::min(resource.find('/'), resource.size());
      AccessQuestion question;
      question.group = permission.group;
      question.resource = resource.substr(0, slash);
      if (slash < resource.size()) question.subresource = resource.substr(slash + 1);
      question.ns = ns;
      for (const std::string& verb : permission.verbs) {
        question.verb = verb;
        AddNames(questions, question, permission.names);
      }
    }
  }
  return questions;
}

std::vector<AccessQuestion> HostQuestions(const std::string& ns,
                                          const std::vector<ExecutorPermissions>& executors) {
  std::vector<AccessQuestion> questions = QuestionsOf(HostPermissions(), "");
  const auto add = [&](const std::vector<AccessQuestion>& more) {
    questions.insert(questions.end(), more.begin(), more.end());
  };
  add(QuestionsOf(HostHomePermissions(), ns));
  for (const ExecutorPermissions& executor : executors) {
    add(QuestionsOf(executor.permissions, ""));
  }
  return questions;
}

std::vector<AccessQuestion> InstallQuestions(const std::vector<InstallObject>& objects) {
  std::vector<AccessQuestion> questions;
  for (const InstallObject& object : objects) {
    const KubeResource& resource = object.resource;
    // Applying is a patch, and a creation where there is nothing yet.
    for (const char* verb : {"get", "create", "patch"}) {
      const AccessQuestion question{verb, resource.group, resource.plural, "", object.ns, ""};
      const bool asked = std::find(questions.begin(), questions.end(), question) != questions.end();
      if (!asked) questions.push_back(question);
    }
  }
  questions.push_back({"create", kAuthorization, "subjectaccessreviews", "", "", ""});
  return questions;
}

AccessSubject ServiceAccountSubject(const std::string& ns, const std::string& name) {
  return {"system:serviceaccount:" + ns + ":" + name,
          {"system:serviceaccounts", "system:serviceaccounts:" + ns, "system:authenticated"}};
}

Json ReviewOf(const AccessQuestion& question, const AccessSubject& subject) {
  Json attributes(Json::Object{
      {"verb", question.verb}, {"group", question.group}, {"resource", question.resource}});
  if (!question.subresource.empty()) attributes.Set("subresource", question.subresource);
  if (!question.ns.empty()) attributes.Set("namespace", question.ns);
  if (!question.name.empty()) attributes.Set("name", question.name);
  const bool self = subject.user.empty();
  Json spec(Json::Object{{"resourceAttributes", std::move(attributes)}});
  if (!self) {
    spec.Set("user", subject.user);
    spec.Set("groups", Json::Array(subject.groups.begin(), subject.groups.end()));
  }
  return Json::Object{{"apiVersion", std::string(kAuthorization) + "/v1"},
                      {"kind", self ? "SelfSubjectAccessReview" : "SubjectAccessReview"},
                      {"spec", std::move(spec)}};
}

KubeResource ReviewResource(const AccessSubject& subject) {
  return {kAuthorization, "v1",
          subject.user.empty() ? "selfsubjectaccessreviews" : "subjectaccessreviews", ""};
}

Result<AccessAnswer> ReadReview(const std::string& body) {
  const Json review = TRY(ParseJson(body));
  const Json* allowed = review.At("/status/allowed");
  if (allowed == nullptr || !allowed->is_bool()) {
    return Error(Code::kInternal, "the API server's answer is no access review");
  }
  AccessAnswer answer;
  answer.allowed = allowed->as_bool();
  const Json* reason = review.At("/status/reason");
  if (reason != nullptr && reason->is_string()) answer.reason = reason->as_string();
  return answer;
}

}  // namespace detent
