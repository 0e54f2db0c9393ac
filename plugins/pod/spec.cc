#include "plugins/pod/spec.h"

#include <algorithm>
#include <iterator>

#include "plugins/pod/output.h"
#include "plugins/pod/template_rules.h"

namespace detent::pod {
namespace {

using sdk::Fields;
using sdk::Json;

// Of ObjectMeta, but the host's or the server's to say.
bool IsLeftToTheHost(std::string_view field) {
  constexpr std::string_view kFields[] = {
      "name",     "generateName",  "namespace",         "ownerReferences",
      "uid",      "generation",    "resourceVersion",   "creationTimestamp",
      "selfLink", "managedFields", "deletionTimestamp", "deletionGracePeriodSeconds"};
  return std::find(std::begin(kFields), std::end(kFields), field) != std::end(kFields);
}

void ReadMetadata(Fields& fields, Fields::Mode mode, PodSpec& spec) {
  const Json json = fields.Raw("metadata");
  if (!json) return;
  Fields metadata(json, fields.PointerTo("metadata"), mode, fields.diag());
  spec.labels = metadata.Raw("labels");
  spec.annotations = metadata.Raw("annotations");
  spec.finalizers = metadata.Raw("finalizers");
  for (uint64_t i = 0; i < json.size(); ++i) {
    const std::string_view field = json.KeyAt(i);
    if (!IsLeftToTheHost(field) || !metadata.Raw(field)) continue;
    fields.diag().Warning(metadata.PointerTo(field), "FieldIgnored",
                          "is ignored: the Pod is named after its task, lives in its Job's "
                          "namespace, and belongs to its Job");
  }
  TemplateRules rules(mode, fields.diag());
  rules.CheckLabels(spec.labels, metadata.PointerTo("labels"));
  rules.CheckAnnotations(spec.annotations, metadata.PointerTo("annotations"));
  rules.CheckFinalizers(spec.finalizers, metadata.PointerTo("finalizers"));
}

DeletePods ReadDeletePods(Fields& fields) {
  const std::string text =
      fields.Text("deletePods", {.fallback = "Never", .one_of = {"Never", "OnSuccess", "Always"}});
  if (text == "OnSuccess") return DeletePods::kOnSuccess;
  return text == "Always" ? DeletePods::kAlways : DeletePods::kNever;
}

std::string ReadResultPath(Fields& fields, detent_instance instance) {
  const Json value = fields.Raw("resultJsonPath");
  if (!value) return {};
  const std::string pointer = fields.PointerTo("resultJsonPath");
  const auto text = value.Text();
  if (!text || text->empty()) {
    fields.diag().Error(pointer, "WrongType", "must be a text: a JSONPath",
                        "`.rows` selects the member `rows` of the termination message");
    return {};
  }
  if (fields.IsTemplate(value)) return std::string(*text);
  const sdk::Status status =
      CheckPath(*text, {fields.diag().host(), instance}, fields.diag().sink());
  if (status.ok()) return std::string(*text);
  const bool offered = status.code() != DETENT_E_UNSUPPORTED;
  fields.diag().Error(pointer, status.reason(), status.message(),
                      offered ? "" : "leave it out; the whole termination message is the output");
  return {};
}

}  // namespace

PodSpec ReadSpec(Fields& fields, Fields::Mode mode, detent_instance instance) {
  PodSpec spec;
  ReadMetadata(fields, mode, spec);
  spec.spec = fields.Raw("spec", true);
  TemplateRules(mode, fields.diag()).CheckSpec(spec.spec, fields.PointerTo("spec"));
  spec.delete_pods = ReadDeletePods(fields);
  spec.result_path = ReadResultPath(fields, instance);
  return spec;
}

}  // namespace detent::pod
