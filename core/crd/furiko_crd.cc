#include "core/crd/furiko_crd.h"

#include <algorithm>

#include "core/api/furiko.h"
#include "core/api/labels.h"
#include "core/crd/structural_schema.h"

namespace detent {
namespace {

Json FurikoColumn(const char* name, const char* type, const char* path) {
  return Json::Object{{"name", name}, {"type", type}, {"jsonPath", path}};
}

// Those of Furiko, and the expressions where there are several.
Json::Array FurikoColumns(Kind kind) {
  const Json age = FurikoColumn("Age", "date", ".metadata.creationTimestamp");
  if (kind == Kind::kJobConfig) {
    return {
        FurikoColumn("State", "string", ".status.state"),
        FurikoColumn("Active", "integer", ".status.active"),
        FurikoColumn("Queued", "integer", ".status.queued"),
        FurikoColumn("Last Executed", "date", ".status.lastExecuted"),
        FurikoColumn("Last Scheduled", "date", ".status.lastScheduled"),
        FurikoColumn("Cron Schedule", "string", ".spec.schedule.cron['expression','expressions']"),
        FurikoColumn("Timezone", "string", ".spec.schedule.cron.timezone"),
        age};
  }
  return {FurikoColumn("Phase", "string", ".status.phase"),
          FurikoColumn("Created Tasks", "integer", ".status.createdTasks"),
          FurikoColumn("Running Tasks", "integer", ".status.runningTasks"),
          FurikoColumn("Start Time", "date", ".status.startTime"),
          FurikoColumn("Finish Time", "date", ".status.condition.finished.finishTime"),
          age};
}

Json* Property(Json* schema, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    Json* properties = schema == nullptr ? nullptr : schema->Find("properties");
    schema = properties == nullptr ? nullptr : properties->Find(name);
  }
  return schema;
}

// What an executor is to do may stand in the older place, too, as a whole.
void AllowOlderForm(Json& job_template) {
  if (Json* required = job_template.Find("required")) {
    std::erase(required->as_array(), Json("taskTemplate"));
    if (required->as_array().empty()) job_template.Remove("required");
  }
  constexpr const char* kPreserve = "x-kubernetes-preserve-unknown-fields";
  Json inner(Json::Object{{"description", "As taskTemplate."},
                          {"type", "object"},
                          {"minProperties", 1},
                          {"maxProperties", 1},
                          {kPreserve, true}});
  Json task(Json::Object{{"description", "The older form of taskTemplate."},
                         {"type", "object"},
                         {"required", Json::Array{"template"}},
                         {"properties", Json::Object{{"template", std::move(inner)}}}});
  job_template.Find("properties")->Set("task", std::move(task));
  Json one(Json::Object{{"rule", "has(self.taskTemplate) != has(self.task)"},
                        {"message", "must have taskTemplate, or the older form of it, task"},
                        {"reason", "FieldValueRequired"},
                        {"fieldPath", ".taskTemplate"}});
  Json* rules = job_template.Find("x-kubernetes-validations");
  if (rules == nullptr) {
    job_template.Set("x-kubernetes-validations", Json::Array{std::move(one)});
  } else {
    rules->Append(std::move(one));
  }
}

Json FurikoSchema(Kind kind) {
  Json schema = StructuralSchema(kind);
  Json* job_template = kind == Kind::kJobConfig ? Property(&schema, {"spec", "template", "spec"})
                                                : Property(&schema, {"spec", "template"});
  AllowOlderForm(*job_template);
  Field status;
  status.name = "status";
  status.type = FieldType::kObject;
  status.description = "How it stands; written by the host.";
  status.fields = FurikoStatusFieldsOf(kind);
  schema.Find("properties")->Set("status", StructuralSchemaOf(status));
  return schema;
}

}  // namespace

std::string FurikoCrdNameOf(Kind kind) {
  return std::string(PluralOf(kind)) + "." + kFurikoGroup;
}

Json FurikoCrdOf(Kind kind, std::string_view version) {
  const std::string singular = SingularOf(kind);
  Json::Object names = {
      {"kind", NameOf(kind)},
      {"listKind", std::string(NameOf(kind)) + "List"},
      {"plural", PluralOf(kind)},
      {"singular", singular},
      {"shortNames", Json::Array{"furiko" + singular, "furiko" + singular + "s"}}};
  Json::Object metadata = {{"name", FurikoCrdNameOf(kind)},
                           {"labels", Json::Object{{labels::kAppName, "detent"}}},
                           {"annotations", Json::Object{{labels::kVersion, version}}}};
  Json served(Json::Object{{"name", kFurikoVersion},
                           {"served", true},
                           {"storage", true},
                           {"schema", Json::Object{{"openAPIV3Schema", FurikoSchema(kind)}}},
                           {"subresources", Json::Object{{"status", Json::Object{}}}},
                           {"additionalPrinterColumns", FurikoColumns(kind)}});
  Json::Object spec = {{"group", kFurikoGroup},
                       {"scope", "Namespaced"},
                       {"names", std::move(names)},
                       {"versions", Json::Array{std::move(served)}}};
  return Json::Object{{"apiVersion", "apiextensions.k8s.io/v1"},
                      {"kind", "CustomResourceDefinition"},
                      {"metadata", std::move(metadata)},
                      {"spec", std::move(spec)}};
}

}  // namespace detent
