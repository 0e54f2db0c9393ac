#include "core/api/schema.h"

#include <gtest/gtest.h>

#include <set>

namespace detent {
namespace {

// Every field has a sentence to say, and a name of its own.
void CheckTable(const std::vector<Field>& fields, const std::string& path) {
  std::set<std::string_view> names;
  for (const Field& field : fields) {
    const std::string here = path + "." + std::string(field.name);
    EXPECT_TRUE(names.insert(field.name).second) << here << " is there twice";
    EXPECT_GE(field.description.size(), 5u) << here;
    EXPECT_EQ(field.description.back(), '.') << here;
    CheckTable(field.fields, here);
  }
}

TEST(Schema, EveryFieldIsDescribed) {
  for (const Kind kind : kKinds) {
    CheckTable(FieldsOf(kind), NameOf(kind));
    EXPECT_EQ(FieldsOf(kind).size(), 5u);
  }
}

TEST(Schema, TheOpenApiDocumentHasWhatKubectlLooksFor) {
  const Json document = OpenApiV3({{"exec", *ParseJson(R"({"type":"object","properties":
      {"command":{"type":"array","description":"What to run."}}})")}});
  const std::string job = "/components/schemas/dev.detent.execution.v1alpha1.Job";
  ASSERT_NE(document.At(job), nullptr);
  EXPECT_EQ(*document.At(job + "/x-kubernetes-group-version-kind/0/kind"), Json("Job"));
  EXPECT_EQ(*document.At(job + "/properties/metadata/allOf/0/$ref"),
            Json("#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"));
  ASSERT_NE(document.At("/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"),
            nullptr);
  const std::string task = job + "/properties/spec/properties/template/properties/taskTemplate";
  EXPECT_EQ(*document.At(task + "/properties/exec/properties/command/description"),
            Json("What to run."));
  EXPECT_EQ(*document.At(task + "/properties/pod/x-kubernetes-preserve-unknown-fields"),
            Json(true));
  const std::string paths = "/paths/~1apis~1execution.detent.dev~1v1alpha1";
  for (const char* method : {"get", "put", "patch", "delete"}) {
    EXPECT_NE(document.At(paths + "~1namespaces~1{namespace}~1jobs~1{name}/" + method), nullptr)
        << method;
  }
  const Json* patch = document.At(paths + "~1namespaces~1{namespace}~1jobs~1{name}/patch");
  EXPECT_EQ(*patch->At("/x-kubernetes-group-version-kind/kind"), Json("Job"));
  EXPECT_EQ(*patch->At("/parameters/2/name"), Json("fieldValidation"));
  EXPECT_EQ(*document.At(paths + "~1jobs/get/x-kubernetes-action"), Json("list"));
}

// Every $ref leads somewhere.
void CheckRefs(const Json& document, const Json& value) {
  if (value.is_array()) {
    for (const Json& element : value.as_array()) CheckRefs(document, element);
  }
  if (!value.is_object()) return;
  for (const auto& [name, member] : value.as_object()) {
    if (name == "$ref") {
      EXPECT_NE(document.At(member.as_string().substr(1)), nullptr) << member.as_string();
    }
    CheckRefs(document, member);
  }
}

TEST(Schema, EveryReferenceInTheOpenApiDocumentLeadsSomewhere) {
  const Json document = OpenApiV3({});
  CheckRefs(document, document);
}

}  // namespace
}  // namespace detent
