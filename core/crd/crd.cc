#include "core/crd/crd.h"

#include "core/api/labels.h"
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

// No kind has a scale subresource. What it would set must be a number that may change while the
// object lives: a Job's withCount is immutable, as each index is one piece of its work, and a
// JobConfig's maxConcurrency is a limit, not a number of things to keep running.
Json Version(Kind kind) {
  return Json::Object{{"name", kApiVersion},
                      {"served", true},
                      {"storage", true},
                      {"schema", Json::Object{{"openAPIV3Schema", StructuralSchema(kind)}}},
                      {"subresources", Json::Object{{"status", Json::Object{}}}},
                      {"additionalPrinterColumns", Columns(kind)}};
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
