#include "core/kube/tracking.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/api/labels.h"
#include "core/base/json_scan.h"
#include "core/base/json_writer.h"
#include "core/base/names.h"

namespace detent {
namespace {

// The object is taken apart and put together as texts: a tree of values would cost ten times as
// much, and every task's object comes through here.

Error BadObject(const std::string& field, const std::string& why) {
  return Error(Code::kInvalid, field + ": " + why);
}

std::string FieldOf(const char* list, size_t index, const char* member) {
  return std::string("metadata.") + list + "[" + std::to_string(index) + "]" + member;
}

// The parts that stay, as they are written, and the first mistake.
struct Parts {
  std::string_view metadata;             // The value in its place; empty: there is none.
  std::vector<std::string_view> kept;    // Members of the metadata.
  std::vector<std::string_view> labels;  // Members too.
  std::vector<std::string_view> finalizers, owners;
  bool has_name = false;
  std::string ns;
  std::vector<std::string_view> seen;  // Names of those members that are looked into.
  std::optional<Error> mistake;
};

class ObjectReader {
 public:
  explicit ObjectReader(const TrackingMarks& marks) : marks_(marks) {}

  Result<Parts> Read(std::string_view object_json) {
    JsonScan scan;
    auto read = scan.Read(object_json, [&](std::string_view name, JsonScan::Value& value) {
      return name != "metadata" || ReadMetadata(value);
    });
    if (parts_.mistake) return *std::move(parts_.mistake);
    if (!read) return std::move(read).error().While("read the object");
    return std::move(parts_);
  }

 private:
  bool Fail(const std::string& field, const std::string& why) {
    if (!parts_.mistake) parts_.mistake = BadObject(field, why);
    return false;
  }

  bool ReadMetadata(JsonScan::Value& metadata) {
    if (!parts_.metadata.empty()) return Fail("metadata", "is given twice");
    parts_.metadata = metadata.Raw();
    if (!metadata.IsObject() && !metadata.IsNull()) return Fail("metadata", "must be an object");
    metadata.Members([&](std::string_view name, JsonScan::Value& value) {
      if (name == "name") return ReadName(value);
      if (name == "labels") return ReadLabels(value);
      if (name == "finalizers") return ReadFinalizers(value);
      if (name == "ownerReferences" && !marks_.job_api_version.empty()) return ReadOwners(value);
      if (name == "namespace") parts_.ns = std::string(value.Text().value_or(""));
      parts_.kept.push_back(value.RawMember());
      return true;
    });
    return !parts_.mistake;
  }

  // False, with a mistake, for one that was there already, or is of another type.
  bool IsFirst(const char* name, bool right_type, const char* type) {
    const std::string field = std::string("metadata.") + name;
    const auto& seen = parts_.seen;
    if (std::find(seen.begin(), seen.end(), name) != seen.end()) {
      return Fail(field, "is given twice");
    }
    parts_.seen.push_back(name);
    return right_type || Fail(field, std::string("must be ") + type);
  }

  bool ReadName(JsonScan::Value& value) {
    const std::string_view member = value.RawMember();
    const auto name = value.Text();
    if (!IsFirst("name", name || value.IsNull(), "a string")) return false;
    parts_.has_name = name && !name->empty();
    if (parts_.has_name) parts_.kept.push_back(member);
    return true;
  }

  bool ReadLabels(JsonScan::Value& value) {
    if (!IsFirst("labels", value.IsObject() || value.IsNull(), "an object")) return false;
    value.Members([&](std::string_view name, JsonScan::Value& label) {
      constexpr const char* kOurs[] = {labels::kTaskKey, labels::kTrackedBy, labels::kJobName,
                                       labels::kJobUid,  labels::kIndex,     labels::kAttempt};
      const bool ours = std::find(std::begin(kOurs), std::end(kOurs), name) != std::end(kOurs);
      if (!ours) parts_.labels.push_back(label.RawMember());
      return true;
    });
    return true;
  }

  bool ReadFinalizers(JsonScan::Value& value) {
    if (!IsFirst("finalizers", value.IsArray() || value.IsNull(), "an array")) return false;
    size_t index = 0;
    value.Items([&](JsonScan::Value& item) {
      const std::string_view raw = item.Raw();
      const auto finalizer = item.Text();
      if (!finalizer) return Fail(FieldOf("finalizers", index, ""), "must be a string");
      if (finalizer != labels::kTaskTracking) parts_.finalizers.push_back(raw);
      ++index;
      return true;
    });
    return !parts_.mistake;
  }

  bool ReadOwners(JsonScan::Value& value) {
    if (!IsFirst("ownerReferences", value.IsArray() || value.IsNull(), "an array")) return false;
    size_t index = 0;
    value.Items([&](JsonScan::Value& item) { return ReadOwner(item, index++); });
    return !parts_.mistake;
  }

  bool ReadOwner(JsonScan::Value& owner, size_t index) {
    if (!owner.IsObject()) return Fail(FieldOf("ownerReferences", index, ""), "must be an object");
    const std::string_view raw = owner.Raw();
    bool is_jobs = false, controls = false;
    owner.Members([&](std::string_view name, JsonScan::Value& value) {
      if (name == "uid") is_jobs = value.Text() == marks_.task.job_uid;
      if (name == "controller") controls = value.IsTrue();
      return true;
    });
    if (is_jobs) return true;  // It is made anew.
    if (controls) {
      return Fail(FieldOf("ownerReferences", index, ".controller"),
                  "an object has one controller, and it must be the Job; take this one out");
    }
    parts_.owners.push_back(raw);
    return true;
  }

  const TrackingMarks& marks_;
  Parts parts_;
};

Result<void> WriteLabels(const std::vector<std::string_view>& kept, const TrackingMarks& marks,
                         JsonWriter& writer) {
  const TrackedTask& task = marks.task;
  const std::pair<const char*, std::string> all[] = {
      {labels::kTaskKey, task.key},
      {labels::kTrackedBy, marks.host_id},
      {labels::kJobName, JobLabelValue(task.job_name)},
      {labels::kJobUid, task.job_uid},
      {labels::kIndex, std::to_string(task.index)},
      {labels::kAttempt, std::to_string(task.attempt)}};
  writer.Key("labels").BeginObject();
  for (const std::string_view label : kept) writer.Raw(label);
  for (const auto& [key, value] : all) {
    if (const auto good = CheckLabelValue(value); !good) {
      return BadObject("metadata.labels[" + std::string(key) + "]",
                       "'" + value + "' " + good.error().message());
    }
    writer.Member(key, value);
  }
  writer.EndObject();
  return {};
}

void WriteOwners(const Parts& parts, const TrackingMarks& marks, JsonWriter& writer) {
  const bool same_place = parts.ns.empty() || parts.ns == marks.task.ns;
  if (marks.job_api_version.empty() || (!same_place && parts.owners.empty())) return;
  writer.Key("ownerReferences").BeginArray();
  for (const std::string_view owner : parts.owners) writer.Raw(owner);
  if (same_place) {
    writer.BeginObject()
        .Member("apiVersion", marks.job_api_version)
        .Member("kind", "Job")
        .Member("name", marks.task.job_name)
        .Member("uid", marks.task.job_uid)
        .Member("controller", true)
        .Member("blockOwnerDeletion", true)
        .EndObject();
  }
  writer.EndArray();
}

}  // namespace

Result<std::string> WithTracking(std::string_view object_json, const TrackingMarks& marks) {
  const Parts parts = TRY(ObjectReader(marks).Read(object_json));
  std::string metadata;
  metadata.reserve(parts.metadata.size() + 512);
  JsonWriter writer(metadata);
  writer.BeginObject();
  for (const std::string_view member : parts.kept) writer.Raw(member);
  if (!parts.has_name) writer.Member("name", marks.task.name);
  TRY(WriteLabels(parts.labels, marks, writer));
  writer.Key("finalizers").BeginArray();
  for (const std::string_view finalizer : parts.finalizers) writer.Raw(finalizer);
  writer.Value(labels::kTaskTracking).EndArray();
  WriteOwners(parts, marks, writer);
  writer.EndObject();

  std::string marked(object_json);
  if (!parts.metadata.empty()) {
    const auto at = static_cast<size_t>(parts.metadata.data() - object_json.data());
    return marked.replace(at, parts.metadata.size(), metadata);
  }
  const size_t begin = marked.find('{') + 1;
  const bool alone = marked[marked.find_first_not_of(" \t\n\r", begin)] == '}';
  return marked.insert(begin, "\"metadata\":" + metadata + (alone ? "" : ","));
}

Result<TrackedObject> ReadTracked(std::string_view object_json) {
  TrackedObject object;
  bool has_metadata = false;
  const auto text = [](JsonScan::Value& value) { return std::string(value.Text().value_or("")); };
  const auto in_labels = [&](std::string_view name, JsonScan::Value& value) {
    if (name == labels::kTaskKey) object.task_key = text(value);
    if (name == labels::kTrackedBy) object.tracked_by = text(value);
    return true;
  };
  const auto in_finalizers = [&](JsonScan::Value& value) {
    object.finalizers.push_back(text(value));
    return true;
  };
  const auto in_metadata = [&](std::string_view name, JsonScan::Value& value) {
    if (name == "name") object.name = text(value);
    if (name == "namespace") object.ns = text(value);
    if (name == "uid") object.uid = text(value);
    if (name == "resourceVersion") object.resource_version = text(value);
    if (name == "deletionTimestamp") object.deleting = !value.IsNull();
    if (name == "labels") value.Members(in_labels);
    if (name == "finalizers") value.Items(in_finalizers);
    return true;
  };
  JsonScan scan;
  auto read = scan.Read(object_json, [&](std::string_view name, JsonScan::Value& value) {
    if (name != "metadata") return true;
    has_metadata = value.IsObject();
    value.Members(in_metadata);
    return false;
  });
  if (!read) return std::move(read).error().While("read the object");
  if (!has_metadata) return BadObject("metadata", "is missing, or no object");
  return object;
}

std::string LetGoPatch(const TrackedObject& object, bool ended) {
  std::string patch;
  JsonWriter writer(patch);
  writer.BeginObject().Key("metadata").BeginObject();
  writer.MemberIfSet("uid", object.uid).MemberIfSet("resourceVersion", object.resource_version);
  writer.Key("labels").BeginObject().Key(labels::kTrackedBy).Raw("null").EndObject();
  writer.Key("finalizers").BeginArray();
  for (const std::string& finalizer : object.finalizers) {
    if (finalizer != labels::kTaskTracking) writer.Value(finalizer);
  }
  writer.EndArray();
  // An empty list would change nothing.
  if (ended) writer.Key("managedFields").Raw("[{}]");
  writer.EndObject().EndObject();
  return patch;
}

}  // namespace detent
