#include "core/crd/structural_schema.h"

#include <algorithm>

#include "core/api/schema.h"
#include "core/crd/constraints.h"

namespace detent {
namespace {

using Fields = std::vector<Field>;

constexpr const char* kPreserve = "x-kubernetes-preserve-unknown-fields";

const char* TypeName(FieldType type) {
  switch (type) {
    case FieldType::kInteger:
      return "integer";
    case FieldType::kBoolean:
      return "boolean";
    case FieldType::kObject:
    case FieldType::kStringMap:
      return "object";
    case FieldType::kArray:
      return "array";
    default:
      return "string";
  }
}

bool HasAnyOther(const Fields& fields) {
  return std::any_of(fields.begin(), fields.end(),
                     [](const Field& field) { return field.name == "*"; });
}

// Whether all members are executors: an object of the kind's name each, which only plugins read.
bool AreExecutors(const Fields& fields) {
  const auto is_open = [](const Field& field) {
    return field.type == FieldType::kObject && field.fields.empty();
  };
  return HasAnyOther(fields) && std::all_of(fields.begin(), fields.end(), is_open);
}

// A map's description is all that `kubectl explain` shows of its members.
std::string DescribeExecutors(const Field& holder) {
  std::string text(holder.description);
  for (const Field& field : holder.fields) {
    text += field.name == "*" ? " Any other" : " " + std::string(field.name);
    text += ": " + std::string(field.description);
  }
  return text;
}

class Generator {
 public:
  Generator() = default;
  explicit Generator(Kind kind) : bounds_(BoundsOf(kind)), rules_(RulesOf(kind)) {}

  Json Root(const Field& root) {
    Json schema = Value(root, "");
    // The server has a schema of its own for metadata; only names may be narrowed.
    Json& metadata = *schema.Find("properties")->Find("metadata");
    Json properties{Json::Object{}};
    for (const char* name : {"name", "generateName"}) {
      Json property(Json::Object{{"type", "string"}});
      Constrain(property, std::string("/metadata/") + name);
      properties.Set(name, std::move(property));
    }
    metadata = Json::Object{{"type", "object"}, {"properties", std::move(properties)}};
    return schema;
  }

  Json Value(const Field& field, const std::string& pointer) {
    std::string description(field.description);
    if (!field.offered) description += " Not offered by this version of Detent.";
    const bool executors = field.type == FieldType::kObject && AreExecutors(field.fields);
    if (executors) description = DescribeExecutors(field);
    Json schema(Json::Object{{"description", std::move(description)}});
    if (field.type != FieldType::kAny) Type(schema, field.type);
    if (!field.values.empty()) {
      schema.Set("enum", Json::Array(field.values.begin(), field.values.end()));
    }
    Constrain(schema, pointer);
    switch (field.type) {
      case FieldType::kAny:
        schema.Set(kPreserve, true);
        break;
      case FieldType::kObject:
        if (executors) {
          Json spec(Json::Object{{"type", "object"}, {kPreserve, true}});
          schema.Set("additionalProperties", std::move(spec));
        } else {
          Members(schema, field.fields, pointer);
        }
        break;
      case FieldType::kArray:
        schema.Set("items", Element(field, pointer + "/*"));
        break;
      case FieldType::kStringMap:
        schema.Set("additionalProperties", Scalar(FieldType::kString, pointer + "/*"));
        break;
      default:
        break;
    }
    Validate(schema, field, pointer);
    return schema;
  }

 private:
  static void Type(Json& schema, FieldType type) {
    schema.Set("type", TypeName(type));
    if (type == FieldType::kInteger) schema.Set("format", "int64");
    if (type == FieldType::kTime) schema.Set("format", "date-time");
  }

  Json Scalar(FieldType type, const std::string& pointer) {
    Json schema{Json::Object{}};
    Type(schema, type);
    Constrain(schema, pointer);
    return schema;
  }

  Json Element(const Field& list, const std::string& pointer) {
    if (list.element != FieldType::kObject) return Scalar(list.element, pointer);
    Json schema(Json::Object{{"type", "object"}});
    Members(schema, list.fields, pointer);
    return schema;
  }

  // What an object holds: these fields, and others where one of them is named "*" or there are
  // none.
  void Members(Json& schema, const Fields& fields, const std::string& pointer) {
    Json properties{Json::Object{}};
    Json::Array required;
    for (const Field& field : fields) {
      if (field.name == "*") continue;
      if (field.required) required.emplace_back(field.name);
      properties.Set(field.name, Value(field, pointer + "/" + std::string(field.name)));
    }
    if (!required.empty()) schema.Set("required", std::move(required));
    if (!fields.empty()) schema.Set("properties", std::move(properties));
    if (fields.empty() || HasAnyOther(fields)) schema.Set(kPreserve, true);
  }

  void Constrain(Json& schema, const std::string& pointer) const {
    for (const FieldBound& bound : bounds_) {
      if (bound.pointer == pointer) schema.Set(bound.keyword, bound.value);
    }
  }

  void Validate(Json& schema, const Field& field, const std::string& pointer) const {
    Json::Array validations;
    for (const FieldRule& rule : rules_) {
      if (rule.pointer == pointer) validations.push_back(Validation(rule));
    }
    for (const Field& member : field.fields) {
      if (member.offered || field.type != FieldType::kObject) continue;
      const std::string name(member.name);
      validations.push_back(Validation({pointer, "!has(self." + name + ")", "." + name,
                                        Diagnostic::Reason::kForbidden,
                                        "is not offered by this version of Detent; remove it"}));
    }
    if (!validations.empty()) schema.Set("x-kubernetes-validations", std::move(validations));
  }

  static Json Validation(const FieldRule& rule) {
    Json validation(Json::Object{{"rule", rule.rule}, {"message", rule.message}});
    if (!rule.path.empty()) validation.Set("fieldPath", rule.path);
    validation.Set("reason", CauseReason(rule.reason));
    return validation;
  }

  const std::vector<FieldBound> bounds_{};
  const std::vector<FieldRule> rules_{};
};

const char* Describe(Kind kind) {
  if (kind == Kind::kJobConfig) return "JobConfig is what to run, and when.";
  return kind == Kind::kJob ? "Job is one run." : "Task is one attempt at one index of a Job.";
}

}  // namespace

Json StructuralSchema(Kind kind) {
  Field root;
  root.type = FieldType::kObject;
  root.description = Describe(kind);
  root.fields = FieldsOf(kind);
  return Generator(kind).Root(root);
}

Json StructuralSchemaOf(const Field& field) {
  return Generator().Value(field, "");
}

}  // namespace detent
