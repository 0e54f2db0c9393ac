#include "core/install/permissions.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/install/access_question.h"

namespace detent {
namespace {

TEST(Permissions, NobodyMayDoEverything) {
  for (const auto& permissions :
       {HostPermissions(), HostHomePermissions(), EditorPermissions(), ViewerPermissions()}) {
    for (const Permission& permission : permissions) {
      for (const auto& words : {permission.resources, permission.verbs}) {
        EXPECT_FALSE(words.empty());
        for (const std::string& word : words) EXPECT_EQ(word.find('*'), word.npos) << word;
      }
      EXPECT_NE(permission.group, "*");
    }
  }
}

TEST(Permissions, LeasesAndSecretsAreOfTheHostsNamespaceAlone) {
  const auto questions = HostQuestions("home", {});
  for (const AccessQuestion& question : questions) {
    const bool home = question.resource == "leases" || question.resource == "secrets";
    EXPECT_EQ(question.ns == "home", home) << ToString(question);
  }
}

TEST(Permissions, TheHostReadsNoSecretButItsOwn) {
  for (const AccessQuestion& question : HostQuestions("home", {})) {
    if (question.resource != "secrets" || question.verb == "create") continue;
    EXPECT_EQ(question.name, "detent-webhook") << ToString(question);
  }
}

// The verbs on a resource; of an editor, who is a viewer as well, those beyond a viewer's.
std::vector<std::string> VerbsOn(const std::vector<Permission>& permissions,
                                 const std::string& resource) {
  std::vector<std::string> verbs;
  for (const Permission& permission : permissions) {
    const auto& all = permission.resources;
    if (std::find(all.begin(), all.end(), resource) == all.end()) continue;
    verbs.insert(verbs.end(), permission.verbs.begin(), permission.verbs.end());
  }
  return verbs;
}

TEST(Permissions, WhoMayChangeJobConfigsMayScaleThemAndNobodyElse) {
  using Verbs = std::vector<std::string>;
  EXPECT_EQ(VerbsOn(EditorPermissions(), "jobconfigs/scale"), (Verbs{"update", "patch"}));
  EXPECT_EQ(VerbsOn(ViewerPermissions(), "jobconfigs/scale"), Verbs{"get"});
  EXPECT_EQ(VerbsOn(HostPermissions(), "jobconfigs/scale"), Verbs{});
}

// The rule of KEP-2307 by that number: what has been counted cannot be found out again.
TEST(Permissions, J18_NobodyButTheHostMayWriteAStatus) {
  using Verbs = std::vector<std::string>;
  for (const char* status : {"jobs/status", "jobconfigs/status", "tasks/status"}) {
    EXPECT_EQ(VerbsOn(HostPermissions(), status), Verbs{"patch"});
    EXPECT_EQ(VerbsOn(EditorPermissions(), status), Verbs{}) << status;
    EXPECT_EQ(VerbsOn(ViewerPermissions(), status), Verbs{}) << status;
  }
}

TEST(Permissions, AQuestionIsAskedForEachVerbResourceAndName) {
  const auto questions =
      QuestionsOf({{"g", {"a", "b/c"}, {"get", "list"}}, {"", {"d"}, {"patch"}, {"x", "y"}}}, "n");
  std::string text;
  for (const AccessQuestion& question : questions) text += ToString(question) + "; ";
  EXPECT_EQ(text,
            "get a.g in namespace n; list a.g in namespace n; get b.g/c in namespace n; list b.g/c "
            "in namespace n; patch d 'x' in namespace n; patch d 'y' in namespace n; ");
}

TEST(Permissions, AReviewIsAboutUsOrAboutAnother) {
  const AccessQuestion question{"get", "", "pods", "log", "n", "p"};
  EXPECT_EQ(DumpJson(ReviewOf(question, {})),
            R"({"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","spec":{)"
            R"("resourceAttributes":{"verb":"get","group":"","resource":"pods","subresource":)"
            R"("log","namespace":"n","name":"p"}}})");
  const AccessSubject host = ServiceAccountSubject("n", "a");
  EXPECT_EQ(*ReviewOf(question, host).At("/spec/user"), Json("system:serviceaccount:n:a"));
  EXPECT_EQ(ReviewResource(host).plural, "subjectaccessreviews");
  EXPECT_EQ(ReviewResource({}).plural, "selfsubjectaccessreviews");
}

TEST(Permissions, AnAnswerThatIsNoReviewIsAnError) {
  EXPECT_TRUE(ReadReview(R"({"status":{"allowed":true}})")->allowed);
  EXPECT_EQ(ReadReview(R"({"status":{"allowed":false,"reason":"no"}})")->reason, "no");
  for (const char* body : {"", "{}", R"({"status":{"allowed":"yes"}})"}) {
    EXPECT_FALSE(ReadReview(body)) << body;
  }
}

}  // namespace
}  // namespace detent
