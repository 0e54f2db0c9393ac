// A schema must be structural, or the API server refuses it: the rules of that, and our own.

#include <gtest/gtest.h>

#include <set>

#include "core/api/schema.h"
#include "core/crd/constraints.h"
#include "core/crd/structural_schema.h"

namespace detent {
namespace {

constexpr const char* kPreserve = "x-kubernetes-preserve-unknown-fields";

std::string Word(const Json& schema, std::string_view name) {
  const Json* found = schema.Find(name);
  return found != nullptr && found->is_string() ? found->as_string() : "";
}

// The schema at a pointer of names, with "*" for a map's members and a list's elements; or null.
const Json* SchemaAt(const Json& root, std::string_view pointer) {
  const Json* schema = &root;
  const auto steps = SplitPointer(pointer);
  if (!steps) return nullptr;
  for (const std::string& step : *steps) {
    if (step == "*") {
      const Json* items = schema->Find("items");
      schema = items != nullptr ? items : schema->Find("additionalProperties");
    } else {
      schema =
          schema->Find("properties") == nullptr ? nullptr : schema->Find("properties")->Find(step);
    }
    if (schema == nullptr) return nullptr;
  }
  return schema;
}

// ".spec.startPolicy" as "/spec/startPolicy".
std::string PointerOf(std::string path) {
  for (char& c : path) c = c == '.' ? '/' : c;
  return path;
}

class Walk {
 public:
  explicit Walk(Kind kind) { Look(StructuralSchema(kind), ""); }

  std::vector<std::string> mistakes;
  std::set<std::string> preserved;

 private:
  void Look(const Json& schema, const std::string& pointer) {
    const auto wrong = [&](const std::string& what) { mistakes.push_back(pointer + ": " + what); };
    const std::string type = Word(schema, "type");
    const bool preserve = schema.Find(kPreserve) != nullptr;
    if (preserve) preserved.insert(pointer);
    if (type.empty() && !preserve) wrong("has no type");
    const Json* properties = schema.Find("properties");
    const Json* members = schema.Find("additionalProperties");
    if (properties != nullptr && members != nullptr) wrong("is an object and a map");
    if ((properties != nullptr || members != nullptr) && type != "object") wrong("is no object");
    if (type == "object" && properties == nullptr && members == nullptr && !preserve) {
      wrong("prunes all that it is given");
    }
    if ((type == "array") != (schema.Find("items") != nullptr)) wrong("is half an array");
    if (type == "integer" && Word(schema, "format") != "int64") wrong("is no int64");
    for (const char* name : {"$ref", "allOf", "anyOf", "oneOf", "nullable"}) {
      if (schema.Find(name) != nullptr) wrong(std::string("has ") + name);
    }
    CheckRequired(schema, wrong);
    CheckValidations(schema, wrong);
    if (properties != nullptr) {
      for (const auto& [name, inner] : properties->as_object()) Look(inner, pointer + "/" + name);
    }
    if (members != nullptr) Look(*members, pointer + "/*");
    if (schema.Find("items") != nullptr) Look(*schema.Find("items"), pointer + "/*");
  }

  template <typename Wrong>
  static void CheckRequired(const Json& schema, const Wrong& wrong) {
    const Json* required = schema.Find("required");
    if (required == nullptr) return;
    for (const Json& name : required->as_array()) {
      if (SchemaAt(schema, "/" + name.as_string()) == nullptr) wrong("requires what is not there");
    }
  }

  template <typename Wrong>
  static void CheckValidations(const Json& schema, const Wrong& wrong) {
    const Json* validations = schema.Find("x-kubernetes-validations");
    if (validations == nullptr) return;
    const std::set<std::string> reasons = {"FieldValueInvalid", "FieldValueRequired",
                                           "FieldValueForbidden", "FieldValueDuplicate"};
    for (const Json& validation : validations->as_array()) {
      if (!reasons.contains(Word(validation, "reason"))) wrong("reason that CRDs do not have");
      if (Word(validation, "message").empty()) wrong("a rule without a message");
      const std::string path = Word(validation, "fieldPath");
      if (!path.empty() && SchemaAt(schema, PointerOf(path)) == nullptr)
        wrong(path + " is nowhere");
    }
  }
};

TEST(StructuralSchema, IsWhatTheApiServerTakes) {
  for (const Kind kind : kKinds) {
    EXPECT_EQ(Walk(kind).mistakes, std::vector<std::string>()) << NameOf(kind);
  }
}

TEST(StructuralSchema, KeepsUnknownMembersOnlyWherePluginsReadThemOrNothingIsStored) {
  EXPECT_EQ(
      Walk(Kind::kJobConfig).preserved,
      (std::set<std::string>{
          "/spec/option", "/spec/template/spec/backoff", "/spec/template/spec/failureRules/*",
          "/spec/template/spec/parallelism/withMatrix", "/spec/template/spec/taskTemplate/*"}));
  EXPECT_EQ(Walk(Kind::kJob).preserved,
            (std::set<std::string>{"/spec/template/backoff", "/spec/template/failureRules/*",
                                   "/spec/template/parallelism/withMatrix",
                                   "/spec/template/taskTemplate/*"}));
  // A Task's executor stands among its other fields, whatever its kind.
  EXPECT_EQ(Walk(Kind::kTask).preserved,
            (std::set<std::string>{"/spec", "/spec/customResource", "/spec/exec", "/spec/http",
                                   "/spec/inputs/*", "/spec/knative", "/spec/pod", "/spec/podGroup",
                                   "/spec/workflow", "/status/extra", "/status/output"}));
}

void CheckNotOffered(const std::vector<Field>& fields, const Json& schema,
                     const std::string& where) {
  for (const Field& field : fields) {
    if (field.name == "*") continue;
    const std::string name(field.name);
    if (field.offered) {
      const Json* inner = SchemaAt(schema, "/" + name);
      if (inner != nullptr && field.type == FieldType::kObject) {
        CheckNotOffered(field.fields, *inner, where + "/" + name);
      }
      continue;
    }
    // CEL does not see a member without a type.
    EXPECT_NE(Word(*SchemaAt(schema, "/" + name), "type"), "") << where << "/" << name;
    bool refused = false;
    for (const Json& rule : schema.Find("x-kubernetes-validations")->as_array()) {
      refused = refused || Word(rule, "rule") == "!has(self." + name + ")";
    }
    EXPECT_TRUE(refused) << where << "/" << name;
  }
}

TEST(StructuralSchema, RefusesWhatIsNotOfferedByName) {
  for (const Kind kind : kKinds) {
    for (const Field& field : FieldsOf(kind)) {
      if (field.name != "spec") continue;
      CheckNotOffered(field.fields, *SchemaAt(StructuralSchema(kind), "/spec"), NameOf(kind));
    }
  }
}

TEST(StructuralSchema, HasAPlaceForEachBoundAndRule) {
  for (const Kind kind : kKinds) {
    const Json schema = StructuralSchema(kind);
    for (const FieldBound& bound : BoundsOf(kind)) {
      const Json* place = SchemaAt(schema, bound.pointer);
      ASSERT_NE(place, nullptr) << bound.pointer;
      ASSERT_NE(place->Find(bound.keyword), nullptr) << bound.pointer << " " << bound.keyword;
      EXPECT_EQ(*place->Find(bound.keyword), bound.value) << bound.pointer;
    }
    for (const FieldRule& rule : RulesOf(kind)) {
      EXPECT_NE(SchemaAt(schema, rule.pointer), nullptr) << rule.pointer;
    }
  }
}

TEST(StructuralSchema, SaysTypesEnumerationsAndWhatIsRequired) {
  const Json schema = StructuralSchema(Kind::kJobConfig);
  struct Row {
    const char* pointer;
    const char* keyword;
    const char* json;
  };
  const Row rows[] = {
      {"", "required", R"(["spec"])"},
      {"/spec", "required", R"(["concurrency","template"])"},
      {"/spec/schedule", "required", R"(["cron"])"},
      {"/spec/concurrency/policy", "enum", R"(["Allow","Forbid"])"},
      {"/spec/concurrency/maxConcurrency", "type", R"("integer")"},
      {"/spec/concurrency/maxConcurrency", "format", R"("int64")"},
      {"/spec/schedule/disabled", "type", R"("boolean")"},
      {"/spec/schedule/constraints/notBefore", "format", R"("date-time")"},
      {"/spec/schedule/cron/expressions/*", "type", R"("string")"},
      {"/spec/template/metadata/labels/*", "type", R"("string")"},
      {"/spec/template/spec/taskTemplate/*", "type", R"("object")"},
      {"/status/activeJobs/*/creationTimestamp", "format", R"("date-time")"},
  };
  for (const Row& row : rows) {
    const Json* place = SchemaAt(schema, row.pointer);
    ASSERT_NE(place, nullptr) << row.pointer;
    ASSERT_NE(place->Find(row.keyword), nullptr) << row.pointer << " " << row.keyword;
    EXPECT_EQ(DumpJson(*place->Find(row.keyword)), row.json) << row.pointer;
  }
  // The server has its own idea of metadata and takes no other.
  EXPECT_EQ(DumpJson(*SchemaAt(schema, "/metadata")),
            R"({"type":"object","properties":{"name":{"type":"string","maxLength":49},)"
            R"("generateName":{"type":"string","maxLength":44}}})");
}

}  // namespace
}  // namespace detent
