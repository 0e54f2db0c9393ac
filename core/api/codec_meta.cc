// metadata, and the whole object around spec and status.

#include "core/api/codec.h"
#include "core/api/field_reader.h"
#include "core/base/json_writer.h"

namespace detent {
namespace {

void WriteMap(JsonWriter& writer, std::string_view name, const StringMap& map) {
  if (map.empty()) return;
  writer.Key(name).BeginObject();
  for (const auto& [key, value] : map) writer.Member(key, value);
  writer.EndObject();
}

void WriteOwners(JsonWriter& writer, const std::vector<OwnerReference>& owners) {
  if (owners.empty()) return;
  writer.Key("ownerReferences").BeginArray();
  for (const OwnerReference& owner : owners) {
    writer.BeginObject()
        .Member("apiVersion", owner.api_version)
        .Member("kind", owner.kind)
        .Member("name", owner.name)
        .Member("uid", owner.uid);
    if (owner.controller) writer.Member("controller", true);
    if (owner.block_owner_deletion) writer.Member("blockOwnerDeletion", true);
    writer.EndObject();
  }
  writer.EndArray();
}

void WriteMeta(JsonWriter& writer, const ObjectMeta& meta) {
  writer.BeginObject()
      .MemberIfSet("name", meta.name)
      .MemberIfSet("generateName", meta.generate_name)
      .MemberIfSet("namespace", meta.ns)
      .MemberIfSet("uid", meta.uid);
  // A string, since clients must treat it as opaque.
  if (meta.resource_version != 0) {
    writer.Member("resourceVersion", std::to_string(meta.resource_version));
  }
  if (meta.generation != 0) writer.Member("generation", meta.generation);
  if (meta.created != WallTime{}) writer.Member("creationTimestamp", TimeText(meta.created));
  if (meta.deleted) writer.Member("deletionTimestamp", TimeText(*meta.deleted));
  if (meta.deletion_grace_seconds) {
    writer.Member("deletionGracePeriodSeconds", *meta.deletion_grace_seconds);
  }
  WriteMap(writer, "labels", meta.labels);
  WriteMap(writer, "annotations", meta.annotations);
  WriteOwners(writer, meta.owners);
  if (!meta.finalizers.empty()) {
    writer.Key("finalizers").BeginArray();
    for (const std::string& finalizer : meta.finalizers) writer.Value(finalizer);
    writer.EndArray();
  }
  writer.EndObject();
}

void ReadVersion(FieldReader& reader, ObjectMeta& meta) {
  std::string text;
  reader.Read("resourceVersion", text);
  if (text.empty()) return;
  const bool digits = text.find_first_not_of("0123456789") == std::string::npos;
  if (!digits || text.size() > 18) {
    reader.Fail("resourceVersion", "'" + text + "' is not a version that this host gave out");
    return;
  }
  meta.resource_version = std::stoll(text);
}

void ReadOwners(FieldReader& reader, ObjectMeta& meta) {
  const Json* owners = reader.Array("ownerReferences");
  if (owners == nullptr) return;
  for (const Json& entry : owners->as_array()) {
    OwnerReference owner;
    FieldReader inner(entry, reader.Path("ownerReferences"));
    inner.Read("apiVersion", owner.api_version)
        .Read("kind", owner.kind)
        .Read("name", owner.name)
        .Read("uid", owner.uid)
        .Read("controller", owner.controller)
        .Read("blockOwnerDeletion", owner.block_owner_deletion);
    reader.Merge(inner);
    meta.owners.push_back(std::move(owner));
  }
}

void ReadFinalizers(FieldReader& reader, ObjectMeta& meta) {
  const Json* finalizers = reader.Array("finalizers");
  if (finalizers == nullptr) return;
  for (const Json& entry : finalizers->as_array()) {
    if (entry.is_string()) {
      meta.finalizers.push_back(entry.as_string());
    } else {
      reader.Fail("finalizers", std::string("must hold strings, not ") + entry.type_name());
    }
  }
}

}  // namespace

void AppendMeta(std::string& out, const ObjectMeta& meta) {
  JsonWriter writer(out);
  WriteMeta(writer, meta);
}

Result<ObjectMeta> DecodeMeta(const Json& metadata) {
  ObjectMeta meta;
  FieldReader reader(metadata, "metadata");
  reader.Read("name", meta.name)
      .Read("generateName", meta.generate_name)
      .Read("namespace", meta.ns)
      .Read("uid", meta.uid)
      .Read("generation", meta.generation)
      .Read("creationTimestamp", meta.created)
      .Read("deletionTimestamp", meta.deleted)
      .Read("deletionGracePeriodSeconds", meta.deletion_grace_seconds)
      .Read("labels", meta.labels)
      .Read("annotations", meta.annotations);
  ReadVersion(reader, meta);
  ReadOwners(reader, meta);
  ReadFinalizers(reader, meta);
  if (auto result = reader.Finish(); !result) return result.error();
  return meta;
}

void AppendObject(std::string& out, const Object& object) {
  JsonWriter writer(out);
  writer.BeginObject().Member("apiVersion", kGroupVersion).Member("kind", NameOf(object.kind));
  writer.Key("metadata");
  WriteMeta(writer, object.meta);
  writer.Key("spec").Raw(object.spec.empty() ? std::string_view("{}") : object.spec);
  if (!object.status.empty()) writer.Key("status").Raw(object.status);
  writer.EndObject();
}

std::string EncodeObject(const Object& object) {
  std::string out;
  out.reserve(512 + object.spec.size() + object.status.size());
  AppendObject(out, object);
  return out;
}

}  // namespace detent
