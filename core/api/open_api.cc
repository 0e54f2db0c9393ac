// The OpenAPI 3.0 document of our group, in the form that kube-apiserver gives a custom resource.

#include <array>

#include "core/api/schema.h"
#include "core/api/schema_fields.h"

namespace detent {
namespace {

using Schemas = std::vector<std::pair<std::string, Json>>;

constexpr const char* kMetaSchema = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
constexpr const char* kListMetaSchema = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";
constexpr const char* kPreserve = "x-kubernetes-preserve-unknown-fields";

Json Obj(Json::Object members) {
  return Json(std::move(members));
}

Json Ref(const std::string& schema) {
  return Obj({{"$ref", Json("#/components/schemas/" + schema)}});
}

std::string SchemaName(Kind kind) {
  return std::string("dev.detent.execution.v1alpha1.") + NameOf(kind);
}

Json GroupVersionKind(const std::string& kind) {
  return Obj({{"group", Json(kApiGroup)}, {"kind", Json(kind)}, {"version", Json(kApiVersion)}});
}

Json SchemaOf(const Field& field, const Schemas& executors);

Json Properties(const Fields& fields, const Schemas& executors) {
  Json properties{Json::Object{}};
  for (const Field& field : fields) {
    if (field.name != "*") properties.Set(field.name, SchemaOf(field, executors));
  }
  return properties;
}

// An object with these fields. Where any other is allowed (executors of other plugins), those that
// are configured are shown as well.
Json ObjectSchema(const Fields& fields, const Schemas& executors) {
  Json schema = Obj({{"type", Json("object")}});
  Json properties = Properties(fields, executors);
  Json::Array required;
  bool open = fields.empty();
  for (const Field& field : fields) {
    if (field.required) required.push_back(Json(field.name));
    open = open || field.name == "*";
  }
  if (open && !fields.empty()) {
    for (const auto& [kind, executor] : executors) {
      Json shown = executor;
      const Json* known = properties.Find(kind);
      const Json* description = known == nullptr ? nullptr : known->Find("description");
      if (description != nullptr && shown.is_object() && shown.Find("description") == nullptr) {
        shown.Set("description", *description);
      }
      properties.Set(kind, std::move(shown));
    }
  }
  if (!fields.empty()) schema.Set("properties", std::move(properties));
  if (!required.empty()) schema.Set("required", Json(std::move(required)));
  if (open) schema.Set(kPreserve, Json(true));
  return schema;
}

Json ScalarSchema(FieldType type) {
  switch (type) {
    case FieldType::kInteger:
      return Obj({{"type", Json("integer")}, {"format", Json("int64")}});
    case FieldType::kBoolean:
      return Obj({{"type", Json("boolean")}});
    case FieldType::kTime:
      return Obj({{"type", Json("string")}, {"format", Json("date-time")}});
    default:
      return Obj({{"type", Json("string")}});
  }
}

Json TypeSchema(const Field& field, const Schemas& executors) {
  switch (field.type) {
    case FieldType::kObject:
      return ObjectSchema(field.fields, executors);
    case FieldType::kArray: {
      Json items = field.element == FieldType::kObject ? ObjectSchema(field.fields, executors)
                                                       : ScalarSchema(field.element);
      return Obj({{"type", Json("array")}, {"items", std::move(items)}});
    }
    case FieldType::kStringMap:
      return Obj({{"type", Json("object")}, {"additionalProperties", ScalarSchema({})}});
    case FieldType::kAny:
      return Obj({{kPreserve, Json(true)}});
    default:
      return ScalarSchema(field.type);
  }
}

Json SchemaOf(const Field& field, const Schemas& executors) {
  std::string description(field.description);
  if (!field.offered) description += " Not offered by this version of Detent.";
  Json schema = TypeSchema(field, executors);
  schema.Set("description", Json(std::move(description)));
  if (!field.values.empty()) {
    Json::Array values;
    for (const std::string_view value : field.values) values.push_back(Json(value));
    schema.Set("enum", Json(std::move(values)));
  }
  return schema;
}

Json KindSchema(Kind kind, const Schemas& executors) {
  Json schema = ObjectSchema(FieldsOf(kind), executors);
  const Json metadata = Obj({{"description", Json("Name, labels and what else every object has.")},
                             {"allOf", Json(Json::Array{Ref(kMetaSchema)})}});
  schema.Find("properties")->Set("metadata", metadata);
  const char* description = kind == Kind::kJobConfig ? "JobConfig is what to run, and when."
                            : kind == Kind::kJob     ? "Job is one run."
                                                     : "Task is one attempt at one index of a Job.";
  schema.Set("description", Json(description));
  schema.Set("x-kubernetes-group-version-kind", Json(Json::Array{GroupVersionKind(NameOf(kind))}));
  return schema;
}

Json ListSchema(Kind kind) {
  const std::string list = std::string(NameOf(kind)) + "List";
  const Json items = Obj({{"type", Json("array")},
                          {"description", Json("The objects.")},
                          {"items", Ref(SchemaName(kind))}});
  Json properties = Obj({{"apiVersion", ScalarSchema({})},
                         {"kind", ScalarSchema({})},
                         {"metadata", Ref(kListMetaSchema)},
                         {"items", items}});
  return Obj({{"type", Json("object")},
              {"description", Json(list + " is a list of " + NameOf(kind) + ".")},
              {"required", Json(Json::Array{Json("items")})},
              {"properties", std::move(properties)},
              {"x-kubernetes-group-version-kind", Json(Json::Array{GroupVersionKind(list)})}});
}

Json Components(const Schemas& executors) {
  Json schemas{Json::Object{}};
  for (const Kind kind : kKinds) {
    schemas.Set(SchemaName(kind), KindSchema(kind, executors));
    schemas.Set(SchemaName(kind) + "List", ListSchema(kind));
  }
  Json meta = ObjectSchema(MetadataFields(), executors);
  meta.Set("description", Json("ObjectMeta is what every object has beside spec and status."));
  schemas.Set(kMetaSchema, std::move(meta));
  const Fields list_fields = {
      Text("resourceVersion", "Version that the list shows; a watch can begin there."),
      Text("continue", "Where the next page begins, if there is one."),
      Number("remainingItemCount", "How many objects there are behind this page."),
      Text("selfLink", "Not used."),
  };
  Json list_meta = ObjectSchema(list_fields, executors);
  list_meta.Set("description", Json("ListMeta is what a list has beside its items."));
  schemas.Set(kListMetaSchema, std::move(list_meta));
  return Obj({{"schemas", std::move(schemas)}});
}

Json Parameter(const char* name, const char* in, const char* type) {
  Json parameter =
      Obj({{"name", Json(name)}, {"in", Json(in)}, {"schema", Obj({{"type", Json(type)}})}});
  if (std::string_view(in) == "path") parameter.Set("required", Json(true));
  return parameter;
}

struct Operation {
  const char* method;
  const char* action;
  const char* media_type;  // Of the body; null where there is none.
};

// kubectl looks here for which kinds take fieldValidation and dryRun.
Json OperationOf(const Operation& operation, Kind kind) {
  const bool lists = std::string_view(operation.action) == "list";
  const std::string name = SchemaName(kind) + (lists ? "List" : "");
  const Json content = Obj({{"application/json", Obj({{"schema", Ref(name)}})}});
  Json json =
      Obj({{"operationId", Json(std::string(operation.action) + NameOf(kind))},
           {"responses", Obj({{"200", Obj({{"description", Json("OK")}, {"content", content}})}})},
           {"x-kubernetes-action", Json(operation.action)},
           {"x-kubernetes-group-version-kind", GroupVersionKind(NameOf(kind))}});
  if (operation.media_type == nullptr) return json;
  const bool patches = std::string_view(operation.action) == "patch";
  const Json body = patches ? Obj({{"type", Json("object")}}) : Ref(name);
  json.Set("parameters", Json(Json::Array{Parameter("dryRun", "query", "string"),
                                          Parameter("fieldManager", "query", "string"),
                                          Parameter("fieldValidation", "query", "string")}));
  json.Set("requestBody",
           Obj({{"required", Json(true)},
                {"content", Obj({{operation.media_type, Obj({{"schema", body}})}})}}));
  return json;
}

Json PathItem(Kind kind, const std::vector<Operation>& operations, bool namespaced, bool named) {
  Json item{Json::Object{}};
  for (const Operation& operation : operations) {
    item.Set(operation.method, OperationOf(operation, kind));
  }
  Json::Array parameters;
  if (namespaced) parameters.push_back(Parameter("namespace", "path", "string"));
  if (named) parameters.push_back(Parameter("name", "path", "string"));
  if (!parameters.empty()) item.Set("parameters", Json(std::move(parameters)));
  return item;
}

void AddPaths(Json& paths, Kind kind) {
  constexpr const char* kJson = "application/json";
  constexpr const char* kMerge = "application/merge-patch+json";
  const std::vector<Operation> named = {{"get", "get", nullptr},
                                        {"put", "put", kJson},
                                        {"patch", "patch", kMerge},
                                        {"delete", "delete", nullptr}};
  const std::vector<Operation> status = {
      {"get", "get", nullptr}, {"put", "put", kJson}, {"patch", "patch", kMerge}};
  const std::string root = std::string("/apis/") + kGroupVersion;
  const std::string inside = root + "/namespaces/{namespace}/" + PluralOf(kind);
  paths.Set(root + "/" + PluralOf(kind), PathItem(kind, {{"get", "list", nullptr}}, false, false));
  paths.Set(inside,
            PathItem(kind, {{"get", "list", nullptr}, {"post", "post", kJson}}, true, false));
  paths.Set(inside + "/{name}", PathItem(kind, named, true, true));
  paths.Set(inside + "/{name}/status", PathItem(kind, status, true, true));
}

}  // namespace

Json OpenApiV3(const Schemas& executor_schemas) {
  Json paths{Json::Object{}};
  for (const Kind kind : kKinds) AddPaths(paths, kind);
  return Obj({{"openapi", Json("3.0.0")},
              {"info", Obj({{"title", Json("Detent")}, {"version", Json(kApiVersion)}})},
              {"paths", std::move(paths)},
              {"components", Components(executor_schemas)}});
}

}  // namespace detent
