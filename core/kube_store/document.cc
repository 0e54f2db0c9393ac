#include "core/kube_store/document.h"

#include <utility>

#include "core/api/codec.h"
#include "core/base/json.h"

namespace detent {
namespace {

template <typename Status, typename Encode>
std::string Canonical(Result<Status> status, const std::string& text, Encode encode) {
  return status ? encode(*status) : text;
}

// The server has the members in another order: what is compared as text must be ours.
std::string StatusText(Kind kind, const Json* status) {
  if (status == nullptr || status->is_null()) return {};
  const std::string text = DumpJson(*status);
  switch (kind) {
    case Kind::kJobConfig:
      return Canonical(DecodeJobConfigStatus(text), text, EncodeJobConfigStatus);
    case Kind::kJob:
      return Canonical(DecodeJobStatus(text), text, EncodeJobStatus);
    case Kind::kTask:
      return Canonical(DecodeTaskStatus(text), text, EncodeTaskStatus);
  }
  return text;
}

}  // namespace

Result<std::shared_ptr<Object>> ObjectFromDocument(Kind kind, std::string_view document) {
  const Json json = TRY(ParseJson(document));
  const Json* metadata = json.Find("metadata");
  if (metadata == nullptr) return Error(Code::kInvalid, "it has no metadata");
  auto object = std::make_shared<Object>();
  object->kind = kind;
  object->meta = TRY(DecodeMeta(*metadata));
  if (const Json* spec = json.Find("spec")) object->spec = DumpJson(*spec);
  object->status = StatusText(kind, json.Find("status"));
  return object;
}

std::string CreationDocument(const Object& object) {
  Object body;
  body.kind = object.kind;
  body.meta.name = object.meta.name;
  body.meta.ns = object.meta.ns;
  body.meta.labels = object.meta.labels;
  body.meta.annotations = object.meta.annotations;
  body.meta.finalizers = object.meta.finalizers;
  body.meta.owners = object.meta.owners;
  body.spec = object.spec;
  return EncodeObject(body);
}

}  // namespace detent
