// Fields of a job template: the part that a JobConfig and a Job share.

#include "core/api/schema_fields.h"

namespace detent {
namespace {

Fields ParallelismFields() {
  Field strategy = OneOf("completionStrategy",
                         "When the Job as a whole has succeeded. AllSuccessful (default): when "
                         "every index has.",
                         {"AllSuccessful"});
  strategy.values_not_offered = {"AnySuccessful"};
  return {
      Number("withCount", "So many indexes, 0 to withCount - 1. 1 to 100,000."),
      std::move(strategy),
      NotOffered(Texts("withKeys", "One index for each key.")),
      NotOffered(Struct("withMatrix", "One index for each combination of values.", {})),
      NotOffered(Number("maxParallel", "The most indexes that run at the same time.")),
      NotOffered(Text("onFailure", "What becomes of the other indexes when one has failed.")),
  };
}

}  // namespace

Fields ExecutorFields() {
  return {
      Struct("exec", "Runs a local process on the machine of the host.", {}),
      Struct("http", "Sends an HTTP request and judges the response.", {}),
      Struct("pod", "Runs a Pod in Kubernetes.", {}),
      Struct("workflow", "Runs an Argo Workflow.", {}),
      Struct("customResource", "Creates any Kubernetes resource and follows its status.", {}),
      Struct("podGroup", "Runs a gang of Pods: all start, or none does.", {}),
      Struct("knative", "Calls a function with a CloudEvent.", {}),
      Struct("*", "The spec of the executor of that kind, which its plugin describes.", {}),
  };
}

Fields JobTemplateFields() {
  return {
      Required(Struct("taskTemplate",
                      "What each task does: exactly one member, named after the kind of executor "
                      "that carries it out.",
                      ExecutorFields())),
      Struct("parallelism", "Splits the Job into indexes. Default: one index.",
             ParallelismFields()),
      Number("maxAttempts", "The most attempts at each index, 1 to 50. Default: 1."),
      Number("retryDelaySeconds",
             "Seconds from the end of a failed attempt to the next one at the same index. "
             "Default: 0."),
      Number("taskPendingTimeoutSeconds",
             "Seconds after which a task that has not begun to run is killed; 0 is never. "
             "Default: the host's jobs.defaultPendingTimeoutSeconds."),
      Truth("forbidTaskForceDeletion",
            "Never take a task for ended unless its executor says so, even if that executor does "
            "not answer any more. Default: false."),
      NotOffered(Struct("backoff", "Growing delays between attempts.", {})),
      NotOffered(Number("activeDeadlineSeconds", "Seconds after which the Job is ended.")),
      NotOffered(Structs("failureRules", "What failures of a certain kind mean for an index.", {})),
  };
}

Field ConcurrencyPolicyField(std::string_view name, std::string_view description) {
  Field field = OneOf(name, description, {"Allow", "Forbid"});
  field.values_not_offered = {"Enqueue"};
  return field;
}

}  // namespace detent
