#include "core/http/patch.h"

#include "core/api/codec.h"
#include "core/api/scale.h"
#include "core/base/json_patch.h"
#include "core/base/limits.h"
#include "core/http/media_type.h"
#include "core/http/write.h"

namespace detent {
namespace {

constexpr const char* kMergePatch = "application/merge-patch+json";
constexpr const char* kJsonPatch = "application/json-patch+json";
// RFC 6902 has no limit of its own; Kubernetes stops here too.
constexpr size_t kJsonPatchOperations = 10'000;

ApiStatus RefusedPatch(const std::string& why) {
  ApiStatus status;
  status.code = 422;
  status.reason = "Invalid";
  status.message = "the server rejected our request due to an error in our request: " + why;
  return status;
}

ApiStatus RefusedType(const std::string& type) {
  ApiStatus status = UnsupportedMediaType(std::string(kJsonPatch) + ", " + kMergePatch);
  if (type.starts_with("application/apply-patch")) {
    status.message += " (server-side apply is not offered; use kubectl apply --server-side=false)";
  }
  return status;
}

Outcome<Json> Revised(const Object& old, Part part, const Json& patch, bool merge) {
  Result<Json> document = part == Part::kScale ? ScaleOf(old) : ParseJson(EncodeObject(old));
  if (!document) return Internal(document.error().message());
  if (merge) return MergePatch(std::move(document).value(), patch);
  Result<Json> patched = ApplyJsonPatch(std::move(document).value(), patch);
  if (!patched) return RefusedPatch(patched.error().message());
  if (!patched->is_object()) return RefusedPatch("what is left is no object");
  return std::move(patched).value();
}

}  // namespace

Response Patch(const ApiContext& context, const Request& request, const Target& target) {
  const std::string type = ParseMediaType(request.Header("content-type")).type;
  const bool merge = type == kMergePatch;
  if (!merge && type != kJsonPatch) return RefusedType(type);
  const Result<Json> patch = ParseJson(request.body, limits::kDocumentDepth);
  if (!patch) return BadRequest("error decoding patch: " + patch.error().message());
  if (merge && !patch->is_object()) {
    return BadRequest(std::string("error decoding patch: a merge patch is an object, not ") +
                      patch->type_name());
  }
  if (!merge && !patch->is_array()) {
    return BadRequest(std::string("error decoding patch: a JSON patch is an array, not ") +
                      patch->type_name());
  }
  if (!merge && patch->as_array().size() > kJsonPatchOperations) {
    return RequestTooLarge(kJsonPatchOperations);
  }
  return Change(context, request, target,
                [&](const Object& old) { return Revised(old, target.part, *patch, merge); });
}

}  // namespace detent
