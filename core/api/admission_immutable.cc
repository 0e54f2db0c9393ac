// What may not change once an object exists: a run must stay the run that was asked for.

#include <optional>

#include "core/api/admission_steps.h"
#include "core/api/labels.h"
#include "core/api/task.h"

namespace detent {
namespace {

using Reason = Diagnostic::Reason;

// Absent, null and `absent` are the same.
bool SameAt(const Json& a, const Json& b, std::string_view pointer, const Json& absent = {}) {
  const Json* left = a.At(pointer);
  const Json* right = b.At(pointer);
  if (left == nullptr || left->is_null()) left = &absent;
  if (right == nullptr || right->is_null()) right = &absent;
  return *left == *right;
}

void CheckSame(Review& review, const Json& old_spec, const Json& spec, std::string_view pointer) {
  const bool delay = pointer == "/template/retryDelaySeconds";
  if (delay ? SameAt(old_spec, spec, pointer, Json(0)) : SameAt(old_spec, spec, pointer)) return;
  review.Add("/spec" + std::string(pointer), Reason::kInvalid,
             std::string("is immutable; to change it delete the ") + NameOf(review.kind) +
                 " and create it again");
}

void CheckKillTimestamp(Review& review, const Json& old_spec, const Json& spec) {
  const std::string* text = TextIn(&old_spec, "killTimestamp");
  const auto before = text == nullptr ? std::nullopt : ParseTime(*text);
  if (!before || *before > review.context.now) return;
  const std::string* now_text = TextIn(&spec, "killTimestamp");
  const auto after = now_text == nullptr ? std::nullopt : ParseTime(*now_text);
  if (after == before) return;
  review.Add("/spec/killTimestamp", Reason::kInvalid,
             "is immutable once it has passed, and " + Quoted(*text) + " has");
}

void CheckJob(Review& review, const Json& old_spec, const Json& document) {
  const Json* spec = ObjectIn(&document, "spec");
  if (spec == nullptr) return;
  for (const char* pointer :
       {"/configName", "/type", "/substitutions", "/template/taskTemplate", "/template/parallelism",
        "/template/maxAttempts", "/template/retryDelaySeconds"}) {
    CheckSame(review, old_spec, *spec, pointer);
  }
  CheckKillTimestamp(review, old_spec, *spec);
  const auto old_status = ParseJson(review.old->status);
  const bool started = old_status && TextIn(&*old_status, "startTime") != nullptr;
  if (started && !SameAt(old_spec, *spec, "/startPolicy")) {
    review.Add("/spec/startPolicy", Reason::kInvalid, "is immutable once the Job has started");
  }
  const auto old_uid = review.old->meta.labels.find(labels::kJobConfigUid);
  const std::string* uid =
      TextIn(ObjectIn(ObjectIn(&document, "metadata"), "labels"), labels::kJobConfigUid);
  const bool had = old_uid != review.old->meta.labels.end();
  if (had == (uid != nullptr) && (!had || old_uid->second == *uid)) return;
  review.Add("/metadata/labels" + PointerToken(labels::kJobConfigUid), Reason::kInvalid,
             "is immutable; it says which JobConfig made the Job");
}

void CheckTask(Review& review, const Json& old_spec, const Json& document) {
  const Json* spec = ObjectIn(&document, "spec");
  if (spec == nullptr) return;
  Json before = old_spec;
  Json after = *spec;
  before.Remove("killTimestamp");
  after.Remove("killTimestamp");
  if (before != after) {
    review.Add("/spec", Reason::kInvalid, "is immutable but for killTimestamp");
  }
}

void CheckIdentity(Review& review, const Json* metadata) {
  const ObjectMeta& old = review.old->meta;
  const std::pair<const char*, const std::string*> fields[] = {
      {"name", &old.name}, {"namespace", &old.ns}, {"uid", &old.uid}};
  for (const auto& [field, value] : fields) {
    const std::string* given = TextIn(metadata, field);
    if (given == nullptr || given->empty() || *given == *value) continue;
    review.Add(std::string("/metadata/") + field, Reason::kInvalid,
               "is immutable: must be " + Quoted(*value) + ", not " + Quoted(*given));
  }
}

}  // namespace

void CheckImmutable(Review& review, const Json& document) {
  CheckIdentity(review, ObjectIn(&document, "metadata"));
  if (review.kind == Kind::kJobConfig) return;
  const auto old_spec = ParseJson(review.old->spec);
  if (!old_spec) {
    review.Add("/spec", Reason::kInvalid,
               "cannot be compared with what is stored: " + old_spec.error().message());
    return;
  }
  if (review.kind == Kind::kJob) CheckJob(review, *old_spec, document);
  if (review.kind == Kind::kTask) CheckTask(review, *old_spec, document);
}

}  // namespace detent
