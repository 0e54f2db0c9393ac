#include "core/cli/cluster_client.h"

#include <algorithm>

#include "core/api/codec.h"
#include "core/api/job_from_config.h"
#include "core/api/labels.h"
#include "core/base/json_patch.h"
#include "core/base/names.h"
#include "core/cli/apply_patch.h"
#include "core/cli/cluster_why.h"
#include "core/cli/local_fields.h"

namespace detent {
namespace {

constexpr int kChangeTries = 5;

// How to ask the host that runs in a cluster, as config/kubernetes deploys it.
constexpr const char* kAskTheHost =
    "; to ask it: kubectl -n detent port-forward service/detent 7420, then the same command with "
    "--server http://127.0.0.1:7420 --token-file FILE in place of the cluster's flags";

// What the API server keeps for itself is no field of ours.
Json Document(Json stored) {
  if (Json* metadata = stored.Find("metadata")) {
    for (const char* name : {"managedFields", "selfLink"}) metadata->Remove(name);
  }
  return stored;
}

Result<Object> ObjectOf(Kind kind, const Json& document) {
  Object object;
  object.kind = kind;
  if (const Json* metadata = document.Find("metadata")) {
    auto meta = DecodeMeta(*metadata);
    if (!meta) return std::move(meta).error().While("read what the cluster has");
    object.meta = std::move(*meta);
  }
  if (const Json* spec = document.Find("spec")) object.spec = DumpJson(*spec);
  if (const Json* status = document.Find("status")) object.status = DumpJson(*status);
  return object;
}

// What a user may write of an object.
Json Written(const Json& document) {
  Json metadata{Json::Object{}};
  for (const char* name :
       {"name", "generateName", "labels", "annotations", "finalizers", "ownerReferences"}) {
    const Json* found = document.At(std::string("/metadata/") + name);
    if (found != nullptr) metadata.Set(name, *found);
  }
  Json written;
  written.Set("apiVersion", kGroupVersion).Set("kind", TextAt(document, "/kind"));
  written.Set("metadata", std::move(metadata));
  if (const Json* spec = document.Find("spec")) written.Set("spec", *spec);
  return written;
}

Result<Json> Written(const Object& object) {
  const Json document = TRY(ParseJson(EncodeObject(object), 128));
  return Written(document);
}

}  // namespace

Result<Json> ClusterClient::List(const Selection& selection) {
  Selection asked = selection;
  const LocalFields fields = LocalFields::TakeFrom(asked);
  Json list = TRY(ApiClient::List(asked));
  fields.Filter(list);
  return list;
}

Result<Json> ClusterClient::ListTable(const Selection& selection) {
  Selection asked = selection;
  const LocalFields fields = LocalFields::TakeFrom(asked);
  asked.whole_rows = !fields.empty();
  Json table = TRY(ApiClient::ListTable(asked));
  fields.Filter(table);
  return table;
}

Result<void> ClusterClient::Watch(WatchRequest& request, const OnEvent& on_event) {
  WatchRequest asked = request;
  const LocalFields fields = LocalFields::TakeFrom(asked.selection);
  asked.selection.whole_rows = request.table && !fields.empty();
  const auto look = [&](const std::string& type, const Json& object) {
    const Json* whole = request.table ? object.At("/rows/0/object") : &object;
    const bool selected = fields.empty() || (whole != nullptr && fields.Match(*whole));
    return !selected || on_event(type, object);
  };
  const Result<void> watched = ApiClient::Watch(asked, look);
  request.version = asked.version;
  return watched;
}

// As a host does it: the Job gets what the JobConfig gives to its Jobs.
Result<Json> ClusterClient::Resolve(const std::string& ns, Json job) {
  const std::string name = TextAt(job, "/spec/configName");
  if (name.empty()) return job;
  const Result<Json> found = Read({Kind::kJobConfig, ns, name});
  if (!found && found.error().code() == Code::kNotFound) {
    return Refuse({{"/spec/configName", Diagnostic::Reason::kNotFound,
                    "there is no JobConfig \"" + name + "\" in namespace \"" + ns + "\"", ""}});
  }
  if (!found) return found.error();
  const Object config = TRY(ObjectOf(Kind::kJobConfig, *found));
  return ResolveConfigName(std::move(job), config);
}

Error ClusterClient::Refuse(const Diagnostics& mistakes) {
  std::vector<FieldMistake> fields;
  std::string text;
  for (const Diagnostic& mistake : mistakes) {
    const std::string hint = mistake.hint.empty() ? "" : " (" + mistake.hint + ")";
    fields.push_back({FieldPath(mistake.pointer), mistake.message + hint});
    text += (text.empty() ? "" : "; ") + Sentence(mistake);
  }
  set_mistakes(std::move(fields));
  return Error(Code::kInvalid, text);
}

Result<Json> ClusterClient::Create(Kind kind, const std::string& ns, const Json& document,
                                   bool dry_run) {
  Json draft = kind == Kind::kJob ? TRY(Resolve(ns, document)) : document;
  AdmissionContext context;
  context.now = clock_.Now();
  const Admission admission = AdmitNew(kind, draft, context);
  if (!admission.mistakes.empty()) return Refuse(admission.mistakes);
  for (const std::string& warning : admission.warnings) Warn(warning);
  Json wanted = TRY(Written(admission.object));
  wanted.Find("metadata")->Set("namespace", ns);
  return ApiClient::Create(kind, ns, wanted, dry_run);
}

Result<Json> ClusterClient::Patch(const ObjectKey& key, const Json& merge_patch, bool dry_run) {
  for (int attempt = 1;; ++attempt) {
    Json stored = Document(TRY(Read(key)));
    const Object old = TRY(ObjectOf(key.kind, stored));
    Json wanted = MergePatch(stored, merge_patch);
    wanted.Remove("status");
    AdmissionContext context;
    context.now = clock_.Now();
    const Admission admission = AdmitUpdate(old, wanted, context);
    if (!admission.mistakes.empty()) return Refuse(admission.mistakes);
    const Json before = Written(stored);
    const Json after = TRY(Written(admission.object));
    Json change = ThreeWayPatch(before, after, before);
    if (change.as_object().empty()) return stored;
    for (const std::string& warning : admission.warnings) Warn(warning);
    if (change.Find("metadata") == nullptr) change.Set("metadata", Json::Object());
    change.Find("metadata")->Set("resourceVersion", TextAt(stored, "/metadata/resourceVersion"));
    Result<Json> changed = ApiClient::Patch(key, change, dry_run);
    const bool overtaken = !changed && changed.error().code() == Code::kConflict;
    if (!overtaken || attempt == kChangeTries) return changed;
  }
}

Result<std::vector<std::string>> ClusterClient::Why(const ObjectKey& key) {
  return ExplainStored(*this, key, clock_.Now());
}

// Which Pod's output is meant, and whether more of it may come.
Result<PodLog::Source> ClusterClient::LogSource(const LogPlace& place) {
  const Json stored = TRY(Read(place.key));
  const Object object = TRY(ObjectOf(place.key.kind, stored));
  PodLog::Source source;
  source.ns = place.key.ns;
  source.shown = ToString(place.key);
  if (place.key.kind == Kind::kTask) {
    const TaskSpec spec = TRY(DecodeTaskSpec(object.spec));
    source.kind = spec.kind;
    source.task_key = TaskKey(spec.job_uid, spec.index, spec.attempt);
    source.ended = TextAt(stored, "/status/state") == NameOf(TaskState::kTerminated);
    return source;
  }
  const JobSpec spec = TRY(DecodeJobSpec(object.spec));
  source.kind = spec.job_template.task_template.kind;
  source.task_key = TaskKey(object.meta.uid, place.index, place.attempt);
  source.shown +=
      " (index " + std::to_string(place.index) + ", attempt " + std::to_string(place.attempt) + ")";
  source.ended = !TextAt(stored, "/status/finishTime").empty();
  return source;
}

Result<void> ClusterClient::Log(const LogPlace& place, int64_t offset,
                                const HttpClient::OnLine& on_line) {
  const PodLog::Source source = TRY(LogSource(place));
  if (source.kind != "pod") {
    return Error(Code::kUnsupported, "the output of '" + source.kind +
                                         "' tasks is kept by the host, not by the cluster" +
                                         kAskTheHost);
  }
  const PodLog::Fetcher fetch = [this](const std::string& path) {
    ClientRequest request;
    request.path = path;
    return Fetch(request);
  };
  PodLog& log = logs_[{place.key, place.index, place.attempt}];
  if (offset == 0) log = PodLog();
  const auto refusal = [this](const ClientReply& reply) { return Refusal(reply); };
  return log.Read(source, {fetch, refusal}, on_line);
}

// Each task is three requests here, and the API server is everybody's: so many a second at most.
std::chrono::milliseconds ClusterClient::LogPause(size_t tasks) const {
  constexpr std::chrono::milliseconds kOneTask{150}, kLeast{500}, kMost{10'000};
  return std::clamp(kOneTask * static_cast<int64_t>(tasks), kLeast, kMost);
}

Result<Json> ClusterClient::Plugins() {
  return Error(Code::kUnsupported,
               std::string("plugins are loaded by the host, and the cluster does not know them") +
                   kAskTheHost);
}

Result<void> ClusterClient::ReloadPlugin(const std::string&) {
  return Plugins().error();
}

Result<ApiClient::CronDefaults> ClusterClient::ReadCronDefaults() {
  CronDefaults defaults;
  defaults.known = false;
  return defaults;
}

Error ClusterClient::Unreachable(const Error& error) const {
  switch (error.code()) {
    case Code::kDeadline:
      return Error(Code::kDeadline, Named() +
                                        " did not answer in time; try again, or allow more time "
                                        "by --request-timeout");
    case Code::kUnavailable:
      return Error(Code::kUnavailable, Named() + " cannot be reached (" + error.message() +
                                           "); see whether the cluster is up, or choose another "
                                           "by --kubeconfig and --context");
    case Code::kUnauthorized:
      return Error(error.code(),
                   "there are no credentials to show to " + Named() + ": " + error.message());
    default:
      return error;
  }
}

Error ClusterClient::Advised(const Json& status, Error error) const {
  const bool names_nothing =
      status.At("/details/name") == nullptr && status.At("/details/kind") == nullptr;
  if (error.code() == Code::kNotFound && names_nothing) return Unreadable({404, {}, ""});
  if (error.code() == Code::kUnauthorized) {
    return Error(error.code(), Named() + " does not take the kubeconfig's credentials (" +
                                   error.message() + "); log in to the cluster again");
  }
  if (error.code() == Code::kForbidden && TextAt(status, "/reason") == "Forbidden") {
    return Error(error.code(), error.message() +
                                   "; ask for a role that allows it, as the cluster's edit and "
                                   "view do after 'detent install'");
  }
  return error;
}

Error ClusterClient::Unreadable(const ClientReply& reply) const {
  if (reply.status == 404) {
    return Error(Code::kUnsupported, "Detent's kinds are not installed in the cluster at " +
                                         shown() +
                                         "; run 'detent install' with the same --kubeconfig and "
                                         "--context");
  }
  return Error(CodeFor(reply.status, ""), Named() + " answered with HTTP status " +
                                              std::to_string(reply.status) +
                                              ", and not as Kubernetes does; what answers there?");
}

}  // namespace detent
