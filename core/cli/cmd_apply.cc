#include <ostream>

#include "core/api/admission.h"
#include "core/api/labels.h"
#include "core/cli/apply_patch.h"
#include "core/cli/command.h"
#include "core/cli/input_files.h"
#include "core/cli/mistakes.h"
#include "core/cli/object_args.h"

namespace detent {
namespace {

// What the server uses up when it creates a Job: the stored object never has it, and to send it
// again would be a change.
void DropConsumed(Kind kind, const Json& last, Json& patch) {
  if (kind != Kind::kJob) return;
  Json* spec = patch.Find("spec");
  const Json* before = last.At("/spec/configName");
  const Json* now = spec != nullptr ? spec->Find("configName") : nullptr;
  if (now == nullptr || before == nullptr || !(*before == *now)) return;
  spec->Remove("configName");
  if (spec->as_object().empty()) patch.Remove("spec");
}

// The annotation alone is no change that anybody asked for.
bool ChangesNothing(Json patch) {
  if (Json* metadata = patch.Find("metadata")) {
    Json* annotations = metadata->Find("annotations");
    if (annotations != nullptr && annotations->is_object()) {
      annotations->Remove(labels::kLastApplied);
      if (annotations->as_object().empty()) metadata->Remove("annotations");
    }
    if (metadata->as_object().empty()) patch.Remove("metadata");
  }
  return patch.as_object().empty();
}

class Applier {
 public:
  explicit Applier(CommandContext& context)
      : api_(*context.api), dry_run_(context.flags.IsOn("dry-run")) {}

  // "created", "configured" or "unchanged".
  Result<const char*> Apply(const Manifest& manifest, const ObjectKey& key) {
    // The stored form has one spelling, whatever the file uses.
    Json document = manifest.document;
    Modernize(manifest.kind, document);
    // KeyOf has found a name in it.
    document.Find("metadata")->Set("namespace", key.ns);
    const Json wanted = WithLastApplied(std::move(document));
    const Result<Json> stored = api_.Read(key);
    if (!stored && stored.error().code() != Code::kNotFound) return stored.error();
    if (!stored) {
      TRY(api_.Create(key.kind, key.ns, wanted, dry_run_));
      return "created";
    }
    const Json last = TRY(LastApplied(*stored));
    Json patch = ThreeWayPatch(last, wanted, *stored);
    DropConsumed(key.kind, last, patch);
    const bool same = ChangesNothing(patch);
    if (same && !last.is_null() && patch.as_object().empty()) return "unchanged";
    const Json reply = TRY(api_.Patch(key, patch, dry_run_));
    return same || Same(*stored, reply) ? "unchanged" : "configured";
  }

 private:
  static bool Same(const Json& before, const Json& after) {
    const std::string version = TextAt(after, "/metadata/resourceVersion");
    return !version.empty() && version == TextAt(before, "/metadata/resourceVersion");
  }

  ApiClient& api_;
  const bool dry_run_;
};

Result<ObjectKey> KeyOf(const CommandContext& context, const Manifest& manifest) {
  const auto wrong = [&](const std::string& pointer, std::string message) {
    Diagnostic mistake;
    mistake.pointer = pointer;
    mistake.message = std::move(message);
    return Error(Code::kInvalid, Locate(manifest, mistake));
  };
  ObjectKey key{manifest.kind, TextAt(manifest.document, "/metadata/namespace"),
                TextAt(manifest.document, "/metadata/name")};
  if (key.name.empty()) {
    return wrong("/metadata/name",
                 "is required by apply; to create an object of a generateName "
                 "use 'detent run -f'");
  }
  if (key.ns.empty()) key.ns = context.ns();
  if (context.flags.Has("namespace") && key.ns != context.ns()) {
    return wrong("/metadata/namespace",
                 "is '" + key.ns + "', and --namespace says '" + context.ns() + "'; drop one");
  }
  return key;
}

Result<int> Apply(CommandContext& context) {
  const std::vector<std::string> paths = context.flags.Texts("filename");
  if (paths.empty()) return context.Usage("--filename: is required");
  const auto manifests = TRY(ReadInputManifests(paths, *context.io.in));
  Applier applier(context);
  int code = kExitOk;
  for (const Manifest& manifest : manifests) {
    const Result<ObjectKey> key = KeyOf(context, manifest);
    if (!key) {
      code = context.Fail(key.error());
      continue;
    }
    const auto done = applier.Apply(manifest, *key);
    if (done) {
      context.out() << ShownName(key->kind, key->name) << ' ' << *done
                    << (context.flags.IsOn("dry-run") ? " (dry run)" : "") << '\n';
      continue;
    }
    // A host that is not there will not be there for the next object either.
    if (done.error().code() == Code::kUnavailable) return done.error();
    code = kExitFailure;
    for (const std::string& sentence :
         ExplainRefusal(manifest, done.error(), context.api->mistakes(), context.clock.Now())) {
      context.err() << "error: " << sentence << '\n';
    }
  }
  return code;
}

}  // namespace

Command ApplyCommand() {
  return {.name = "apply",
          .arguments = "-f FILE",
          .summary = "create objects from files, or bring them to what the files say",
          .description =
              "Creates what is not there yet. Of what is, it changes only what differs from\n"
              "the file, and removes what the file has dropped since it was applied last.",
          .examples = {"# Apply a file, then a whole directory.", "detent apply -f nightly.yaml",
                       "detent apply -f jobs/", "# See what would be refused.",
                       "cat nightly.yaml | detent apply --dry-run -f -"},
          .flags = {FileFlag(), DryRunFlag()},
          .run = Apply};
}

}  // namespace detent
