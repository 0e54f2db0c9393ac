#include <algorithm>
#include <ostream>

#include "core/api/admission.h"
#include "core/cli/apply_patch.h"
#include "core/cli/command.h"
#include "core/cli/input_files.h"
#include "core/cli/job_wait.h"
#include "core/cli/mistakes.h"
#include "core/cli/object_args.h"
#include "core/cli/progress.h"

namespace detent {
namespace {

constexpr int64_t kMostAtOnce = 1000;

// "name=value" of each --set, as spec.substitutions. kInvalid: no '='.
Result<Json> Substitutions(const CommandContext& context) {
  Json substitutions;
  for (const std::string& text : context.flags.Texts("set")) {
    const size_t equals = text.find('=');
    if (equals == text.npos || equals == 0) {
      return Error(Code::kInvalid, "--set: must be NAME=VALUE, not '" + text + "'");
    }
    substitutions.Set(text.substr(0, equals), text.substr(equals + 1));
  }
  return substitutions;
}

Json JobOfConfig(const std::string& config) {
  Json metadata;
  metadata.Set("generateName", config + "-");
  Json spec;
  spec.Set("configName", config);
  Json job;
  job.Set("apiVersion", kGroupVersion).Set("kind", NameOf(Kind::kJob));
  job.Set("metadata", std::move(metadata)).Set("spec", std::move(spec));
  return job;
}

Json& MemberObject(Json& parent, const char* name) {
  if (parent.Find(name) == nullptr || !parent.Find(name)->is_object()) {
    parent.Set(name, Json::Object());
  }
  return *parent.Find(name);
}

// What the flags say in place of the document.
void Override(const CommandContext& context, const Json& substitutions, Json& job) {
  if (context.flags.Has("name")) {
    Json& metadata = MemberObject(job, "metadata");
    metadata.Remove("generateName");
    metadata.Set("name", context.flags.Text("name"));
  }
  if (!substitutions.is_null()) {
    Json& all = MemberObject(MemberObject(job, "spec"), "substitutions");
    for (const auto& [name, value] : substitutions.as_object()) all.Set(name, value);
  }
  if (const auto delay = context.flags.Duration("after")) {
    MemberObject(MemberObject(job, "spec"), "startPolicy")
        .Set("startAfter", FormatTime(context.clock.Now() + *delay));
  }
}

// Creates the Jobs that a document asks for, and prints their names.
Result<void> CreateJobs(CommandContext& context, const Json& job, std::vector<ObjectKey>& created) {
  std::string ns = TextAt(job, "/metadata/namespace");
  if (ns.empty()) ns = context.ns();
  const int64_t count = context.flags.Number("count").value_or(1);
  for (int64_t i = 0; i < count; ++i) {
    const Json stored = TRY(context.api->Create(Kind::kJob, ns, job, false));
    created.push_back({Kind::kJob, ns, TextAt(stored, "/metadata/name")});
    std::ostream& out = context.flags.IsOn("follow") ? context.err() : context.out();
    out << ShownName(Kind::kJob, created.back().name) << " created\n";
    out.flush();
  }
  return {};
}

Error WrongPlace(const Manifest& manifest, const std::string& pointer, std::string message) {
  Diagnostic mistake;
  mistake.pointer = pointer;
  mistake.message = std::move(message);
  return Error(Code::kInvalid, Locate(manifest, mistake));
}

// The Job of a JobConfig that stands in a file. The host makes Jobs of what it holds, so the file
// must say the same: a run of anything else would be no run of this JobConfig.
Result<Json> JobOfFile(CommandContext& context, const Manifest& manifest) {
  const std::string name = TextAt(manifest.document, "/metadata/name");
  std::string ns = TextAt(manifest.document, "/metadata/namespace");
  if (ns.empty()) ns = context.ns();
  if (name.empty()) return WrongPlace(manifest, "/metadata/name", "is required to run it");
  const ObjectKey key{Kind::kJobConfig, ns, name};
  const std::string apply = "; 'detent apply -f " + manifest.file + "' first, then run it";
  const char* holder = context.api->Holder();
  const Result<Json> stored = context.api->Read(key);
  if (!stored && stored.error().code() == Code::kNotFound) {
    return WrongPlace(manifest, "/metadata/name",
                      std::string("the ") + holder + " has no " + ToString(key) + apply);
  }
  if (!stored) return stored.error();
  Json document = manifest.document;
  Modernize(manifest.kind, document);
  const Json patch = ThreeWayPatch(Json(), document, *stored);
  if (!patch.as_object().empty()) {
    // What a default means is admission's to judge.
    const Json patched = TRY(context.api->Patch(key, patch, true));
    if (NumberAt(patched, "/metadata/generation") != NumberAt(*stored, "/metadata/generation")) {
      return WrongPlace(
          manifest, "/spec",
          std::string("is not what the ") + holder + " has for " + ToString(key) + apply);
    }
  }
  Json job = JobOfConfig(name);
  job.Find("metadata")->Set("namespace", ns);
  return job;
}

// Exit code and nothing else: mistakes in files are printed where they are found.
Result<int> CreateFromFiles(CommandContext& context, const Json& substitutions,
                            std::vector<ObjectKey>& created) {
  const auto manifests = TRY(ReadInputManifests(context.flags.Texts("filename"), *context.io.in));
  if (manifests.size() > 1 && context.flags.Has("name")) {
    return context.Usage("--name: there are " + std::to_string(manifests.size()) +
                         " objects in what --filename names, and names are unique");
  }
  for (const Manifest& manifest : manifests) {
    if (manifest.kind != Kind::kTask) continue;
    return WrongPlace(manifest, "/kind", "must be Job or JobConfig, not Task; a Job makes Tasks");
  }
  for (const Manifest& manifest : manifests) {
    const bool config = manifest.kind == Kind::kJobConfig;
    Result<Json> job = config ? JobOfFile(context, manifest) : manifest.document;
    if (job) Override(context, substitutions, *job);
    const Result<void> done = job ? CreateJobs(context, *job, created) : job.error();
    if (done) continue;
    const std::string& said = done.error().message();
    if (done.error().code() == Code::kUnavailable || said.starts_with(manifest.file + ":")) {
      return done.error();
    }
    for (const std::string& sentence :
         ExplainRefusal(manifest, done.error(), context.api->mistakes(), context.clock.Now())) {
      context.err() << "error: " << sentence << '\n';
    }
    return kExitFailure;
  }
  return kExitOk;
}

Result<int> Await(CommandContext& context, const std::vector<ObjectKey>& jobs) {
  int code = kExitOk;
  const bool follow = context.flags.IsOn("follow");
  for (const ObjectKey& job : jobs) {
    Progress progress(context.io, follow);
    Json last;
    if (follow) {
      LogReader reader(*context.api, context.out(), context.err(), {});
      last = TRY(FollowOutput(context, job, reader));
      progress.Show(JobProgress(last));
    } else {
      last =
          TRY(WaitForJob(context, job, [&](const Json& now) { progress.Show(JobProgress(now)); }));
    }
    progress.Finish();
    code = std::max(code, ExitCodeOf(last));
  }
  return code;
}

// Whether the server refused a Job since there is no JobConfig of that name.
bool IsNoConfig(const ApiClient& api) {
  return api.mistakes().size() == 1 && api.mistakes()[0].field == "spec.configName";
}

Error NoConfig(const CommandContext& context, const std::string& name) {
  return Error(Code::kNotFound, "there is no JobConfig '" + name + "' in namespace " +
                                    context.ns() +
                                    "; 'detent get jobconfigs' lists those that are");
}

Result<int> Run(CommandContext& context) {
  const bool files = context.flags.Has("filename");
  if (context.words.empty() != files) {
    return context.Usage(files ? "--filename: cannot be combined with the name of a JobConfig"
                               : "needs the name of a JobConfig, or --filename");
  }
  const int64_t count = context.flags.Number("count").value_or(1);
  if (count < 1 || count > kMostAtOnce) return context.Usage("--count: must be 1 to 1000");
  if (count > 1 && context.flags.Has("name")) {
    return context.Usage("--name: cannot be combined with --count, since names are unique");
  }
  const Result<Json> substitutions = Substitutions(context);
  if (!substitutions) return context.Usage(substitutions.error().message());
  std::vector<ObjectKey> created;
  if (files) {
    const int code = TRY(CreateFromFiles(context, *substitutions, created));
    if (code != kExitOk) return code;
  } else {
    std::string config = context.words[0];
    if (const size_t slash = config.find('/'); slash != config.npos) {
      const Result<ObjectArg> object = ParseObject(context.words);
      if (!object) return context.Usage(object.error().message());
      if (object->kind != Kind::kJobConfig) {
        return context.Usage("'" + config + "' is no JobConfig; only those can be run");
      }
      config = object->name;
    }
    Json job = JobOfConfig(config);
    Override(context, *substitutions, job);
    const auto done = CreateJobs(context, job, created);
    if (!done) return IsNoConfig(*context.api) ? NoConfig(context, config) : done.error();
  }
  if (!context.flags.IsOn("wait") && !context.flags.IsOn("follow")) return kExitOk;
  return Await(context, created);
}

}  // namespace

Command RunCommand() {
  return {.name = "run",
          .arguments = "JOBCONFIG | -f FILE",
          .summary = "start a Job now, and see how it ends",
          .description =
              "Creates a Job from a JobConfig, whatever its schedule says, or from a file: of\n"
              "a Job, or of a JobConfig that is stored as the file says it. With --wait or\n"
              "--follow the exit code is 4 if the Job failed.",
          .examples = {"detent run nightly --wait --timeout 10m",
                       "# See the output, with a variable of its own.",
                       "detent run report --follow --set option.day=2026-11-21",
                       "detent run -f job.yaml --name trial"},
          .flags = {FileFlag(),
                    {"name", 0, FlagType::kText, "NAME", "Name of the Job. Default: made up."},
                    {"set", 0, FlagType::kTexts, "NAME=VALUE",
                     "Value of a variable by its full name. May be repeated."},
                    {"after", 0, FlagType::kDuration, "TIME", "Do not start before so long."},
                    {"count", 0, FlagType::kNumber, "N", "Start so many Jobs. Default: 1."},
                    {"wait", 0, FlagType::kSwitch, "", "Wait until the Job has ended."},
                    {"follow", 0, FlagType::kSwitch, "",
                     "Wait, and print the output of its tasks as it comes."},
                    TimeoutFlag()},
          .words_max = 1,
          .run = Run};
}

}  // namespace detent
