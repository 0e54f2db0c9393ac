#include <ostream>

#include "core/cli/command.h"
#include "core/cli/object_args.h"

namespace detent {
namespace {

Result<int> Why(CommandContext& context) {
  const Result<ObjectArg> object = ParseObject(context.words);
  if (!object) return context.Usage(object.error().message());
  const auto lines = TRY(context.api->Why({object->kind, context.ns(), object->name}));
  for (const std::string& line : lines) context.out() << line << '\n';
  return kExitOk;
}

}  // namespace

Command WhyCommand() {
  return {.name = "why",
          .arguments = "TYPE/NAME",
          .summary = "say why an object is where it is",
          .description =
              "Prints the reasons from the outermost inwards: why a slot was skipped, a\n"
              "Job is queued, a task is held, or something failed. A cluster says what is\n"
              "stored; a host knows more.",
          .examples = {"detent why jobconfig/nightly", "detent why job/hello-x7k2p",
                       "detent why job/hello-x7k2p --context staging"},
          .words_min = 1,
          .words_max = 2,
          .run = Why};
}

}  // namespace detent
