#include <ostream>

#include "core/api/admission.h"
#include "core/cli/command.h"
#include "core/cli/input_files.h"
#include "core/cli/mistakes.h"
#include "core/cli/object_args.h"

namespace detent {
namespace {

std::string NameIn(const Manifest& manifest) {
  std::string name = TextAt(manifest.document, "/metadata/name");
  if (name.empty()) name = TextAt(manifest.document, "/metadata/generateName") + "...";
  return std::string(SingularOf(manifest.kind)) + "/" + name;
}

// What the host and its plugins have to say. An object that is there already is tried as a change.
Result<std::vector<std::string>> AskServer(CommandContext& context, ApiClient& api,
                                           const Manifest& manifest) {
  std::string ns = TextAt(manifest.document, "/metadata/namespace");
  if (ns.empty()) ns = context.ns();
  Result<Json> tried = api.Create(manifest.kind, ns, manifest.document, true);
  if (!tried && tried.error().code() == Code::kAlreadyExists) {
    const ObjectKey key{manifest.kind, ns, TextAt(manifest.document, "/metadata/name")};
    Json document = manifest.document;
    Modernize(manifest.kind, document);
    tried = api.Patch(key, document, true);
  }
  if (tried) return std::vector<std::string>();
  if (tried.error().code() == Code::kUnavailable) return tried.error();
  return ExplainRefusal(manifest, tried.error(), api.mistakes(), context.clock.Now());
}

Result<size_t> CheckOne(CommandContext& context, ApiClient* api, const Manifest& manifest) {
  Findings findings = CheckOffline(manifest, context.clock.Now());
  for (const std::string& warning : findings.warnings) {
    context.err() << "warning: " << manifest.file << ": " << warning << '\n';
  }
  if (findings.mistakes.empty() && api != nullptr) {
    findings.mistakes = TRY(AskServer(context, *api, manifest));
  }
  for (const std::string& mistake : findings.mistakes) context.err() << mistake << '\n';
  if (findings.mistakes.empty()) {
    context.out() << manifest.file << ": " << NameIn(manifest) << " is valid\n";
  }
  return findings.mistakes.size();
}

Result<int> Validate(CommandContext& context) {
  std::vector<std::string> paths = context.flags.Texts("filename");
  paths.insert(paths.end(), context.words.begin(), context.words.end());
  if (paths.empty()) return context.Usage("--filename: is required");
  ApiClient* api = context.flags.IsOn("server-side") ? TRY(context.connect()) : nullptr;
  const auto inputs = TRY(ReadInputFiles(paths, *context.io.in));
  size_t mistakes = 0;
  for (const InputFile& input : inputs) {
    // A file that cannot be read at all must not hide what is wrong in the others.
    const auto manifests = ReadManifests(input.text, input.name);
    if (!manifests) {
      context.err() << manifests.error().message() << '\n';
      ++mistakes;
      continue;
    }
    for (const Manifest& manifest : *manifests) {
      mistakes += TRY(CheckOne(context, api, manifest));
    }
  }
  if (mistakes == 0) return kExitOk;
  context.err() << mistakes << (mistakes == 1 ? " mistake\n" : " mistakes\n");
  return kExitFailure;
}

}  // namespace

Command ValidateCommand() {
  return {.name = "validate",
          .arguments = "-f FILE",
          .summary = "find all mistakes in files",
          .description =
              "Prints every mistake with file, line and column. What only a plugin knows,\n"
              "the spec of a task, is checked with --server-side.",
          .examples = {"detent validate -f jobs/", "detent validate -f nightly.yaml --server-side"},
          .flags = {FileFlag(),
                    {"server-side", 0, FlagType::kSwitch, "",
                     "Also ask the server, which changes nothing; a host asks its plugins."}},
          .words_max = 1000,
          .offline = true,
          .run = Validate};
}

}  // namespace detent
