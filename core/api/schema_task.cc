// Fields of a Task.

#include <iterator>

#include "core/api/schema_fields.h"

namespace detent {
namespace {

Fields TaskSpecFields() {
  Fields fields = {
      Text("jobName", "Name of the Job."),
      Text("jobUID", "UID of the Job."),
      Number("index", "Index of the Job that this is an attempt at, from 0."),
      Number("attempt", "Which attempt at the index it is, from 1."),
      Moment("killTimestamp", "Kill the task at this time."),
      NotOffered(Text("clusterName", "Pool of executor replicas that the task runs on.")),
      NotOffered(Structs("inputs", "Values that the task reads.", {})),
      NotOffered(Text("output", "Value that the task writes.")),
      NotOffered(Truth("waitForChildren", "End only after all tasks that this one made.")),
  };
  Fields executors = ExecutorFields();
  std::move(executors.begin(), executors.end(), std::back_inserter(fields));
  return fields;
}

Fields TaskStatusFields() {
  return {
      OneOf("state",
            "Held: not yet given to an executor. Starting, Running, Killing, Terminated: what the "
            "executor last said.",
            {"Held", "Starting", "Running", "Killing", "Terminated"}),
      OneOf("result", "How it ended.", {"Succeeded", "Failed", "Killed", "Lost"}),
      Text("reason", "One word for the state or result."),
      Text("message", "The same for a person."),
      Number("exitCode", "Exit code, where the executor has one."),
      Number("signal", "Signal that ended it, where the executor has one."),
      Moment("startTime", "When the executor took it."),
      Moment("runningTime", "When it was first seen running."),
      Moment("finishTime", "When it ended."),
      Text("objectRef", "The executor's own name for it: a process id, an object's name."),
      Anything("extra", "Details that the executor gives, at most 4 KiB."),
      Anything("output", "What it gave back, at most 64 KiB."),
      Truth("rerunSafe", "The attempt may be repeated without harm."),
      Truth("neverRetry", "Another attempt cannot help."),
      Text("handle", "What the plugin asked to keep, in base64."),
      Number("handleVersion", "Version of the form of handle."),
  };
}

}  // namespace

Fields TaskFields() {
  return ObjectFields("What this attempt does.", TaskSpecFields(), TaskStatusFields());
}

}  // namespace detent
