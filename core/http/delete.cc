#include "core/http/delete.h"

#include <algorithm>
#include <optional>

#include "core/api/labels.h"
#include "core/base/json.h"
#include "core/http/list_options.h"
#include "core/http/view.h"
#include "core/http/write.h"

namespace detent {
namespace {

constexpr int kTries = 5;
constexpr size_t kDeletedAtOnce = 200;

struct DeleteOptions {
  std::string policy;  // propagationPolicy, or what orphanDependents stands for; may be empty.
  std::optional<bool> orphan;
  std::string uid;  // Preconditions; empty: none.
  std::string version;
  bool dry_run = false;
};

std::string StringOf(const Json* value) {
  return value != nullptr && value->is_string() ? value->as_string() : std::string();
}

Outcome<DeleteOptions> Check(DeleteOptions options, bool has_policy) {
  if (options.orphan) {
    if (has_policy) {
      return InvalidOptions("DeleteOptions", "propagationPolicy",
                            "Invalid value: orphanDependents and deletionPropagation cannot be "
                            "both set");
    }
    options.policy = *options.orphan ? "Orphan" : "Background";
  }
  for (const char* known : {"", "Background", "Foreground", "Orphan"}) {
    if (options.policy == known) return options;
  }
  return InvalidOptions("DeleteOptions", "propagationPolicy",
                        "Unsupported value: \"" + options.policy +
                            "\": supported values: \"Background\", \"Foreground\", \"Orphan\"");
}

Outcome<DeleteOptions> ReadDeleteOptions(const Request& request) {
  DeleteOptions options;
  options.dry_run = TRY(ReadWriteOptions(request)).dry_run;
  options.policy = request.ParameterOr("propagationPolicy");
  if (request.Parameter("orphanDependents")) options.orphan = IsTrue(request, "orphanDependents");
  if (!request.body.empty()) {
    const Json body = TRY(ReadBody(request));
    if (const Json* policy = body.Find("propagationPolicy")) options.policy = StringOf(policy);
    const Json* orphan = body.Find("orphanDependents");
    if (orphan != nullptr && orphan->is_bool()) options.orphan = orphan->as_bool();
    options.uid = StringOf(body.At("/preconditions/uid"));
    options.version = StringOf(body.At("/preconditions/resourceVersion"));
    if (const Json* dry_run = body.Find("dryRun"); dry_run != nullptr && dry_run->is_array()) {
      options.dry_run = options.dry_run || !dry_run->as_array().empty();
    }
  }
  const bool has_policy = !options.policy.empty();
  return Check(std::move(options), has_policy);
}

std::optional<ApiStatus> CheckPreconditions(const Object& object, const DeleteOptions& options) {
  const ObjectMeta& meta = object.meta;
  if (!options.uid.empty() && options.uid != meta.uid) {
    return Conflict(object.kind, meta.name,
                    "Precondition failed: UID in precondition: " + options.uid +
                        ", UID in object meta: " + meta.uid);
  }
  const std::string version = std::to_string(meta.resource_version);
  if (!options.version.empty() && options.version != version) {
    return Conflict(object.kind, meta.name,
                    "Precondition failed: ResourceVersion in precondition: " + options.version +
                        ", ResourceVersion in object meta: " + version);
  }
  return std::nullopt;
}

// Kubernetes' garbage collection reads the policy from finalizers.
void SetPolicy(ObjectMeta& meta, const std::string& policy) {
  if (policy.empty()) return;
  RemoveFinalizer(meta, labels::kForegroundDeletion);
  RemoveFinalizer(meta, labels::kOrphan);
  if (policy == "Foreground") meta.finalizers.emplace_back(labels::kForegroundDeletion);
  if (policy == "Orphan") meta.finalizers.emplace_back(labels::kOrphan);
}

// The write that deletes `old`, or nothing where it is on its way already.
std::optional<Write> DeletionOf(const ObjectPtr& old, const DeleteOptions& options, WallTime now) {
  Write write;
  write.object = std::make_shared<Object>(*old);
  write.expected_version = old->meta.resource_version;
  ObjectMeta& meta = write.object->meta;
  SetPolicy(meta, options.policy);
  if (meta.finalizers.empty()) {
    write.op = WriteOp::kDelete;
    return write;
  }
  if (!meta.deleted) {
    // metav1.Time has whole seconds.
    meta.deleted = std::chrono::floor<std::chrono::seconds>(now);
    meta.deletion_grace_seconds = 0;
    ++meta.generation;
  }
  if (meta == old->meta) return std::nullopt;
  return write;
}

struct Deletion {
  ObjectPtr object;
  bool gone = false;
};

Outcome<Deletion> DeleteOne(const ApiContext& context, const Target& target,
                            const DeleteOptions& options) {
  for (int attempt = 1;; ++attempt) {
    const Result<ObjectPtr> old = context.store->Read(target.key());
    if (!old) return FromError(old.error(), target.kind, target.name);
    if (const auto refusal = CheckPreconditions(**old, options)) return *refusal;
    std::optional<Write> write = DeletionOf(*old, options, context.clock->Now());
    if (!write) return Deletion{*old, false};
    const bool gone = write->op == WriteOp::kDelete;
    Outcome<ObjectPtr> done = Commit(context, std::move(*write), options.dry_run);
    if (done) return Deletion{*done, gone};
    if (done.error().reason != "Conflict" || attempt == kTries) return std::move(done).error();
  }
}

// Deletes as many as one page has, together where nobody interferes, else one by one.
void DeletePage(const ApiContext& context, const std::vector<ObjectPtr>& page,
                const DeleteOptions& options, std::vector<ObjectPtr>& deleted) {
  Transaction transaction;
  for (const ObjectPtr& object : page) {
    auto write = DeletionOf(object, options, context.clock->Now());
    if (write) transaction.push_back(std::move(*write));
  }
  deleted.insert(deleted.end(), page.begin(), page.end());
  if (options.dry_run || transaction.empty()) return;
  if (SubmitAndWait(*context.store, std::move(transaction))) return;
  for (const ObjectPtr& object : page) {
    // One that another client took away meanwhile is as good as deleted.
    (void)DeleteOne(context, {object->kind, object->meta.ns, object->meta.name}, options);
  }
}

}  // namespace

Response Delete(const ApiContext& context, const Request& request, const Target& target) {
  const View view = TRY(View::Of(target.kind, request, context.clock->Now()));
  const DeleteOptions options = TRY(ReadDeleteOptions(request));
  const Deletion deletion = TRY(DeleteOne(context, target, options));
  if (deletion.gone) return JsonResponse(DeletedStatus(*deletion.object));
  // 202 for this one spelling only, which is what Kubernetes kept for its old clients.
  const bool accepted = options.orphan && !*options.orphan;
  return JsonResponse(view.One(*deletion.object), accepted ? 202 : 200);
}

Response DeleteCollection(const ApiContext& context, const Request& request, const Target& target) {
  const View view = TRY(View::Of(target.kind, request, context.clock->Now()));
  const ListOptions list = TRY(ReadListOptions(target.kind, request));
  const DeleteOptions options = TRY(ReadDeleteOptions(request));
  ListQuery query;
  query.kind = target.kind;
  query.ns = target.ns;
  query.keep = [&](const Object& object) { return list.selectors.Matches(object); };
  std::vector<ObjectPtr> deleted;
  int64_t version = 0;
  for (bool more = true; more;) {
    query.limit = kDeletedAtOnce;
    if (list.limit > 0) query.limit = std::min(kDeletedAtOnce, list.limit - deleted.size());
    const Result<Page> page = context.store->List(query);
    if (!page) return FromError(page.error(), target.kind, "");
    version = page->version;
    if (page->objects.empty()) break;
    const ObjectMeta& last = page->objects.back()->meta;
    query.after.emplace(last.ns, last.name);
    DeletePage(context, page->objects, options, deleted);
    more = page->more && (list.limit == 0 || deleted.size() < list.limit);
  }
  std::string text;
  view.OpenList(text, {version, ""});
  for (size_t i = 0; i < deleted.size(); ++i) {
    if (i > 0) text += ',';
    view.Item(text, *deleted[i]);
  }
  view.CloseList(text);
  return JsonResponse(std::move(text));
}

}  // namespace detent
