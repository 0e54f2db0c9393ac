#include "core/crd/crd.h"

#include "core/api/labels.h"
#include "core/api/selectable_fields.h"
#include "core/crd/printer_columns.h"
#include "core/crd/structural_schema.h"

namespace detent {
namespace {

Json::Object Names(Kind kind) {
  // As discovery has them where the host itself serves the API, and a category of our own, since
  // "all" is crowded in a cluster.
  return {{"kind", NameOf(kind)},
          {"listKind", std::string(NameOf(kind)) + "List"},
          {"plural", PluralOf(kind)},
          {"singular", SingularOf(kind)},
          {"shortNames", Json::Array{ShortNameOf(kind)}},
          {"categories", Json::Array{"all", "detent"}}};
}

Json::Array Columns(Kind kind) {
  Json::Array columns;
  for (const PrinterColumn& column : PrinterColumnsOf(kind)) {
    Json json(Json::Object{{"name", column.name},
                           {"type", column.type},
                           {"description", column.description},
                           {"jsonPath", column.path}});
    if (column.priority != 0) json.Set("priority", column.priority);
    columns.push_back(std::move(json));
  }
  return columns;
}

// What scale sets must be a number that may change while the object lives. A JobConfig has one: how
// many Jobs of it may be active. A Job has none: its withCount is immutable, as each index is one
// piece of its work. There is no selector: the Jobs that count are counted in status.active.
Json::Object Subresources(Kind kind) {
  Json::Object all = {{"status", Json::Object{}}};
  if (kind == Kind::kJobConfig) {
    all.emplace_back("scale", Json::Object{{"specReplicasPath", ".spec.concurrency.maxConcurrency"},
                                           {"statusReplicasPath", ".status.active"}});
  }
  return all;
}

Json::Object Version(Kind kind) {
  Json::Object version = {{"name", kApiVersion},
                          {"served", true},
                          {"storage", true},
                          {"schema", Json::Object{{"openAPIV3Schema", StructuralSchema(kind)}}},
                          {"subresources", Subresources(kind)},
                          {"additionalPrinterColumns", Columns(kind)}};
  // A server before 1.30 leaves them out.
  Json::Array selectable;
  for (const std::string_view field : SelectableFieldsOf(kind)) {
    selectable.push_back(Json::Object{{"jsonPath", "." + std::string(field)}});
  }
  if (!selectable.empty()) version.emplace_back("selectableFields", std::move(selectable));
  return version;
}

}  // namespace

std::string CrdNameOf(Kind kind) {
  return std::string(PluralOf(kind)) + "." + kApiGroup;
}

Json CrdOf(Kind kind, std::string_view version) {
  Json::Object metadata = {{"name", CrdNameOf(kind)},
                           {"labels", Json::Object{{labels::kAppName, "detent"}}},
                           {"annotations", Json::Object{{labels::kVersion, version}}}};
  Json::Object spec = {{"group", kApiGroup},
                       {"scope", "Namespaced"},
                       {"names", Names(kind)},
                       {"versions", Json::Array{Version(kind)}}};
  return Json::Object{{"apiVersion", "apiextensions.k8s.io/v1"},
                      {"kind", "CustomResourceDefinition"},
                      {"metadata", std::move(metadata)},
                      {"spec", std::move(spec)}};
}

}  // namespace detent
