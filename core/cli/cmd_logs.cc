#include <ostream>

#include "core/cli/command.h"
#include "core/cli/job_wait.h"
#include "core/cli/log_reader.h"
#include "core/cli/object_args.h"

namespace detent {
namespace {

Result<int> JobLogs(CommandContext& context, const ObjectKey& job, LogReader& reader) {
  TRY(context.api->Read(job));
  const size_t tasks = TRY(reader.ReadJob(job.ns, job.name));
  if (tasks == 0) {
    context.err() << "There are no such tasks of " << ToString(job) << "; 'detent why job/"
                  << job.name << "' says what it waits for.\n";
  }
  return kExitOk;
}

Result<int> Logs(CommandContext& context) {
  std::vector<std::string> words = context.words;
  // A bare name is a Job's: those are what people know by name.
  if (words.size() == 1 && words[0].find('/') == std::string::npos) words[0] = "job/" + words[0];
  const Result<ObjectArg> object = ParseObject(words);
  if (!object) return context.Usage(object.error().message());
  if (object->kind == Kind::kJobConfig) {
    return context.Usage("a JobConfig has no output; name one of its Jobs (detent get jobs)");
  }
  const bool selects = context.flags.Has("index") || context.flags.Has("attempt");
  if (object->kind == Kind::kTask && selects) {
    return context.Usage("--index and --attempt: are for Jobs; a task is one attempt");
  }
  LogChoice choice;
  choice.timestamps = context.flags.IsOn("timestamps");
  choice.index = context.flags.Number("index");
  choice.attempt = context.flags.Number("attempt");
  choice.tail = context.flags.Number("tail");
  LogReader reader(*context.api, context.out(), context.err(), choice);
  const ObjectKey key{object->kind, context.ns(), object->name};
  if (context.flags.IsOn("follow")) {
    TRY(FollowOutput(context, key, reader));
    return kExitOk;
  }
  if (key.kind == Kind::kJob) return JobLogs(context, key, reader);
  TRY(reader.ReadTask(key, true));
  return kExitOk;
}

}  // namespace

Command LogsCommand() {
  return {
      .name = "logs",
      .arguments = "job/NAME | task/NAME",
      .summary = "print the output of tasks",
      .description =
          "Of a Job: the output of all its tasks, each line behind [index/attempt] if\n"
          "there are several. A cluster has that of Pods; all other output the host keeps.",
      .examples = {"detent logs job/hello-x7k2p", "detent logs job/hello-x7k2p --context staging",
                   "detent logs job/shards --index 3 -f",
                   "detent logs task/hello-x7k2p-0-1 --tail 20 --timestamps"},
      .flags = {{"follow", 'f', FlagType::kSwitch, "", "Go on until the end."},
                {"index", 0, FlagType::kNumber, "N", "Of this index only."},
                {"attempt", 0, FlagType::kNumber, "N", "Of this attempt only, from 1."},
                {"timestamps", 0, FlagType::kSwitch, "", "Put its time before each line."},
                {"tail", 0, FlagType::kNumber, "N", "Only the last lines of each task."},
                TimeoutFlag()},
      .words_min = 1,
      .words_max = 2,
      .run = Logs};
}

}  // namespace detent
