#include "core/http/write.h"

#include <algorithm>

#include "core/api/admission.h"
#include "core/api/furiko.h"
#include "core/api/job_from_config.h"
#include "core/api/live_review.h"
#include "core/api/scale.h"
#include "core/base/limits.h"
#include "core/base/names.h"
#include "core/base/yaml.h"
#include "core/http/media_type.h"
#include "core/http/view.h"

namespace detent {
namespace {

constexpr int kTries = 5;
constexpr size_t kSuffixLength = 5;  // RandomSuffix().
constexpr std::chrono::seconds kLivePatience{2};

std::string StringAt(const Json& document, std::string_view pointer) {
  const Json* value = document.At(pointer);
  return value != nullptr && value->is_string() ? value->as_string() : std::string();
}

// How much of a generateName is kept, so that the name still fits.
size_t GeneratedBase(Kind kind) {
  if (kind == Kind::kJobConfig) return limits::kJobConfigNameLength - kSuffixLength;
  return (kind == Kind::kJob ? limits::kJobNameLength : 63) - kSuffixLength;
}

// Quotes a text for a Warning header, where only visible ASCII can stand.
std::string WarningHeader(std::string_view text) {
  std::string header = "299 - \"";
  for (const char c : text.substr(0, 1000)) {
    const bool visible = c >= ' ' && c <= '~';
    if (c == '"' || c == '\\') header += '\\';
    header += visible ? c : '?';
  }
  return header + '"';
}

void AddWarnings(Response& response, const std::vector<std::string>& warnings,
                 const WriteOptions& options) {
  for (const std::string& warning : warnings) {
    const bool of_validation = warning.find(": unknown field") != warning.npos;
    if (of_validation && options.validation == WriteOptions::Validation::kIgnore) continue;
    response.headers.emplace_back("Warning", WarningHeader(warning));
  }
}

// Unknown fields are a 400 of the decoder in Kubernetes, all other mistakes a 422 of validation.
std::optional<ApiStatus> Refusal(Kind kind, const std::string& name, const Diagnostics& mistakes) {
  if (mistakes.empty()) return std::nullopt;
  std::string unknown;
  for (const Diagnostic& mistake : mistakes) {
    if (mistake.reason != Diagnostic::Reason::kUnknownField) continue;
    unknown += unknown.empty() ? "" : ", ";
    unknown += "unknown field \"" + FieldPath(mistake.pointer) + "\"";
    if (!mistake.hint.empty()) unknown += " (" + mistake.hint + ")";
  }
  ApiStatus status = Invalid(kind, name, mistakes);
  if (unknown.empty()) return status;
  status.code = 400;
  status.reason = "BadRequest";
  status.message = std::string(NameOf(kind)) + " in version \"" + kApiVersion +
                   "\" cannot be handled as a " + NameOf(kind) +
                   ": strict decoding error: " + unknown;
  return status;
}

// Whether the document is of the kind and the namespace that the URL names.
std::optional<ApiStatus> CheckAddress(const Json& document, const Target& target) {
  const bool scale = target.part == Part::kScale;
  const std::string wanted_kind = scale ? kScaleKind : NameOf(target.kind);
  const std::string wanted_version = scale ? kScaleGroupVersion : kGroupVersion;
  const std::string kind = StringAt(document, "/kind");
  const std::string version = StringAt(document, "/apiVersion");
  if (kind.empty()) return BadRequest("Object 'Kind' is missing in the request's body");
  if (kind != wanted_kind) {
    return BadRequest("the kind in the data (" + kind + ") does not match the expected kind (" +
                      wanted_kind + ")");
  }
  if (version != wanted_version && (scale || version != kFurikoGroupVersion)) {
    return BadRequest("the API version in the data (" + version +
                      ") does not match the expected API version (" + wanted_version + ")");
  }
  const std::string ns = StringAt(document, "/metadata/namespace");
  if (!ns.empty() && ns != target.ns) {
    return BadRequest(
        "the namespace of the provided object does not match the namespace sent on the request");
  }
  const std::string name = StringAt(document, "/metadata/name");
  if (!target.name.empty() && !name.empty() && name != target.name) {
    return BadRequest("the name of the object (" + name + ") does not match the name on the URL (" +
                      target.name + ")");
  }
  return std::nullopt;
}

// The metadata of the document as an object, so that names can be set in it; admission reports
// what else is wrong with it.
void SetMetadata(Json& document, std::string_view member, const std::string& value) {
  Json* metadata = document.Find("metadata");
  if (metadata == nullptr || metadata->is_null()) metadata = &document.Set("metadata", Json());
  metadata = document.Find("metadata");
  if (metadata->is_null() || metadata->is_object()) metadata->Set(member, value);
}

// A Job that names a JobConfig gets what that gives to its Jobs.
Outcome<Json> Resolve(const ApiContext& context, const Target& target, Json document) {
  const std::string config = StringAt(document, "/spec/configName");
  if (target.kind != Kind::kJob || config.empty()) return document;
  const Result<ObjectPtr> found = context.store->Read({Kind::kJobConfig, target.ns, config});
  if (!found) {
    return Invalid(
        target.kind, StringAt(document, "/metadata/name"),
        {{"/spec/configName", Diagnostic::Reason::kNotFound,
          "there is no JobConfig \"" + config + "\" in namespace \"" + target.ns + "\"", ""}});
  }
  Result<Json> resolved = ResolveConfigName(std::move(document), **found);
  if (!resolved) return FromError(resolved.error(), Kind::kJobConfig, config);
  return std::move(resolved).value();
}

Outcome<Admission> AdmitNewObject(const ApiContext& context, const Target& target,
                                  const Json& document, const WriteOptions& options) {
  const bool strict = options.validation == WriteOptions::Validation::kStrict;
  Admission admission = AdmitNew(target.kind, document, context.Admission(), strict);
  const std::string name = StringAt(document, "/metadata/name");
  if (const auto refusal = Refusal(target.kind, name, admission.mistakes)) return *refusal;
  ObjectMeta& meta = admission.object.meta;
  meta.ns = target.ns;
  meta.uid = RandomUid(*context.random);
  meta.created = std::chrono::floor<std::chrono::seconds>(context.clock->Now());
  meta.generation = 1;
  meta.resource_version = 0;
  meta.deleted.reset();
  meta.deletion_grace_seconds.reset();
  return admission;
}

struct Update {
  ObjectPtr object;
  std::vector<std::string> warnings;
};

struct UpdateRequest {
  const Target& target;
  const WriteOptions& options;
  LiveReview& live;
};

Admission AdmitPart(const ApiContext& context, const UpdateRequest& request, const Object& old,
                    Json& document) {
  const bool strict = request.options.validation == WriteOptions::Validation::kStrict;
  switch (request.target.part) {
    case Part::kStatus:
      return AdmitStatus(old, document);
    case Part::kScale:
      return AdmitScale(old, document, context.Admission(), strict);
    case Part::kAll:
      break;
  }
  // The status has its own path; what this one says of it is not even looked at.
  document.Remove("status");
  Admission admission = AdmitUpdate(old, document, context.Admission(), strict);
  request.live.Judge(&old, document, admission);
  return admission;
}

Outcome<Admission> AdmitChange(const ApiContext& context, const UpdateRequest& request,
                               const Object& old, Json document) {
  const std::string version = StringAt(document, "/metadata/resourceVersion");
  if (!version.empty() && version != std::to_string(old.meta.resource_version)) {
    return Modified(old.kind, old.meta.name);
  }
  const std::string uid = StringAt(document, "/metadata/uid");
  if (!uid.empty() && uid != old.meta.uid) {
    return Conflict(old.kind, old.meta.name,
                    "Precondition failed: UID in precondition: " + uid +
                        ", UID in object meta: " + old.meta.uid);
  }
  SetMetadata(document, "name", old.meta.name);
  SetMetadata(document, "namespace", old.meta.ns);
  Admission admission = AdmitPart(context, request, old, document);
  if (const auto refusal = Refusal(old.kind, old.meta.name, admission.mistakes)) return *refusal;
  Object& object = admission.object;
  object.meta.generation = old.meta.generation + (object.spec == old.spec ? 0 : 1);
  object.meta.resource_version = old.meta.resource_version;
  return admission;
}

Outcome<Update> StoreChange(const ApiContext& context, const UpdateRequest& request,
                            const ObjectPtr& old, Json document) {
  if (const auto refusal = CheckAddress(document, request.target)) return *refusal;
  Admission admission = TRY(AdmitChange(context, request, *old, std::move(document)));
  // As in Kubernetes, a write that changes nothing makes no new version.
  if (admission.object == *old) return Update{old, std::move(admission.warnings)};
  Write write;
  write.op = WriteOp::kUpdate;
  write.expected_version = old->meta.resource_version;
  const ObjectMeta& meta = admission.object.meta;
  if (old->meta.deleted && meta.finalizers.empty()) write.op = WriteOp::kDelete;
  if (meta.labels != old->meta.labels || admission.object.status != old->status) {
    write.previous = old;
  }
  write.object = std::make_shared<Object>(std::move(admission.object));
  ObjectPtr stored = TRY(Commit(context, std::move(write), request.options.dry_run));
  return Update{std::move(stored), std::move(admission.warnings)};
}

}  // namespace

Outcome<WriteOptions> ReadWriteOptions(const Request& request) {
  WriteOptions options;
  for (const auto& [name, value] : request.query) {
    if (name != "dryRun" || value.empty()) continue;
    if (value != "All") {
      return InvalidOptions("CreateOptions", "dryRun",
                            "Unsupported value: \"" + value + "\": supported values: \"All\"");
    }
    options.dry_run = true;
  }
  const std::string_view validation = request.ParameterOr("fieldValidation", "Warn");
  if (validation == "Strict") {
    options.validation = WriteOptions::Validation::kStrict;
  } else if (validation == "Ignore") {
    options.validation = WriteOptions::Validation::kIgnore;
  } else if (validation != "Warn" && !validation.empty()) {
    return InvalidOptions("CreateOptions", "fieldValidation",
                          "Unsupported value: \"" + std::string(validation) +
                              "\": supported values: \"Ignore\", \"Strict\", \"Warn\"");
  }
  return options;
}

Outcome<Json> ReadBody(const Request& request) {
  const std::string type = ParseMediaType(request.Header("content-type")).type;
  if (type == "application/yaml") {
    Result<std::vector<YamlDocument>> documents = ParseYaml(request.body);
    if (!documents) return BadRequest("error decoding YAML: " + documents.error().message());
    if (documents->size() != 1 || !documents->front().value.is_object()) {
      return BadRequest("error decoding YAML: the body must be one object");
    }
    return std::move(documents->front().value);
  }
  if (!type.empty() && type != "application/json") {
    return UnsupportedMediaType("application/json, application/yaml");
  }
  if (request.body.empty()) return BadRequest("the request has no body");
  Result<Json> document = ParseJson(request.body, limits::kDocumentDepth);
  if (!document) return BadRequest("error decoding JSON: " + document.error().message());
  if (!document->is_object()) {
    return BadRequest(std::string("error decoding JSON: the body must be an object, not ") +
                      document->type_name());
  }
  return std::move(document).value();
}

Outcome<ObjectPtr> Commit(const ApiContext& context, Write write, bool dry_run) {
  const Kind kind = write.object->kind;
  const std::string name = write.object->meta.name;
  if (dry_run) {
    if (write.op == WriteOp::kCreate && context.store->Read(write.object->key())) {
      return AlreadyExists(kind, name);
    }
    return ObjectPtr(std::move(write.object));
  }
  Transaction transaction;
  transaction.push_back(std::move(write));
  Result<Committed> committed = SubmitAndWait(*context.store, std::move(transaction));
  if (!committed) return FromError(committed.error(), kind, name);
  return std::move(committed->objects.front());
}

Response Create(const ApiContext& context, const Request& request, const Target& target) {
  const View view = TRY(View::Of(target.kind, request, context.clock->Now()));
  const WriteOptions options = TRY(ReadWriteOptions(request));
  Json document = TRY(ReadBody(request));
  if (const auto refusal = CheckAddress(document, target)) return *refusal;
  if (!StringAt(document, "/metadata/resourceVersion").empty()) {
    return BadRequest("resourceVersion should not be set on objects to be created");
  }
  if (const Result<void> valid = CheckDns1123Label(target.ns); !valid) {
    return Invalid(
        target.kind, StringAt(document, "/metadata/name"),
        {{"/metadata/namespace", Diagnostic::Reason::kInvalid, valid.error().message(), ""}});
  }
  document.Remove("status");
  document = TRY(Resolve(context, target, std::move(document)));
  SetMetadata(document, "namespace", target.ns);
  const std::string base = StringAt(document, "/metadata/generateName");
  const bool generated = StringAt(document, "/metadata/name").empty() && !base.empty();
  LiveReview live(context.live, kLivePatience);
  for (int attempt = 1;; ++attempt) {
    if (generated) {
      const std::string suffix = RandomSuffix(*context.random);
      SetMetadata(document, "name", base.substr(0, GeneratedBase(target.kind)) + suffix);
    }
    Admission admission = TRY(AdmitNewObject(context, target, document, options));
    live.Judge(nullptr, document, admission);
    const std::string& name = admission.object.meta.name;
    if (const auto refusal = Refusal(target.kind, name, admission.mistakes)) return *refusal;
    Write write;
    write.op = WriteOp::kCreate;
    write.object = std::make_shared<Object>(std::move(admission.object));
    Outcome<ObjectPtr> stored = Commit(context, std::move(write), options.dry_run);
    if (stored) {
      Response response = JsonResponse(view.One(**stored), 201);
      AddWarnings(response, admission.warnings, options);
      return response;
    }
    const bool taken = stored.error().reason == "AlreadyExists";
    if (!taken || !generated || attempt == kTries) return std::move(stored).error();
  }
}

Response Change(const ApiContext& context, const Request& request, const Target& target,
                const Revise& revise) {
  const View view = TRY(View::Of(target.kind, request, context.clock->Now()));
  const WriteOptions options = TRY(ReadWriteOptions(request));
  LiveReview live(context.live, kLivePatience);
  for (int attempt = 1;; ++attempt) {
    const Result<ObjectPtr> old = context.store->Read(target.key());
    if (!old) return FromError(old.error(), target.kind, target.name);
    Json document = TRY(revise(**old));
    Outcome<Update> update =
        StoreChange(context, {target, options, live}, *old, std::move(document));
    if (update) {
      const Object& object = *update->object;
      Response response =
          target.part == Part::kScale ? ScaleResponse(object) : JsonResponse(view.One(object));
      AddWarnings(response, update->warnings, options);
      return response;
    }
    // A conflict of the document's own version stays one; another writer's is tried again.
    const bool conflict = update.error().reason == "Conflict";
    if (!conflict || attempt == kTries) return std::move(update).error();
  }
}

Response Replace(const ApiContext& context, const Request& request, const Target& target) {
  const Json body = TRY(ReadBody(request));
  return Change(context, request, target, [&](const Object&) { return Outcome<Json>(body); });
}

}  // namespace detent
