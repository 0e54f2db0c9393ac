// The JSON Schemas of the plugin's documents, for editors and for people. The PodSpec is that of
// the cluster's own version, so only what a task needs of it is said.

#include "plugins/pod/executor.h"

namespace detent::pod {

constinit const std::string_view PodExecutor::kSpecSchema = R"json({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "pod",
  "description": "One Kubernetes Pod. It succeeds when the Pod does.",
  "type": "object",
  "additionalProperties": false,
  "required": ["spec"],
  "properties": {
    "metadata": {
      "description": "Of the Pod. Its name, namespace and owner are the host's to say.",
      "type": "object",
      "properties": {
        "labels": {
          "description": "None of detent.dev/ and execution.detent.dev/: those are the host's.",
          "type": "object", "additionalProperties": {"type": "string", "maxLength": 63}
        },
        "annotations": {
          "description": "Any texts; none of detent.dev/ and execution.detent.dev/.",
          "type": "object", "additionalProperties": {"type": "string"}
        },
        "finalizers": {
          "description": "Besides the host's own.",
          "type": "array", "items": {"type": "string"}
        }
      }
    },
    "spec": {
      "description": "A PodSpec of any version of Kubernetes; the API server judges it.",
      "type": "object",
      "required": ["containers"],
      "properties": {
        "containers": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/container"}},
        "initContainers": {"type": "array", "items": {"$ref": "#/$defs/container"}},
        "restartPolicy": {
          "description": "OnFailure starts failed containers again, in the same Pod.",
          "enum": ["Never", "OnFailure"], "default": "Never"
        }
      }
    },
    "deletePods": {
      "description": "Whether the Pod is deleted as soon as its outcome is recorded.",
      "enum": ["Never", "OnSuccess", "Always"], "default": "Never"
    },
    "resultJsonPath": {
      "description": "Selects the output of a termination message that is JSON.",
      "type": "string", "maxLength": 4096
    }
  },
  "$defs": {
    "container": {
      "type": "object",
      "required": ["name", "image"],
      "properties": {
        "name": {"type": "string", "maxLength": 63},
        "image": {"type": "string"},
        "env": {
          "type": "array",
          "items": {
            "type": "object", "required": ["name"],
            "properties": {"name": {"type": "string"}, "value": {"type": "string"}}
          }
        }
      }
    }
  }
})json";

constinit const std::string_view PodExecutor::kConfigSchema = R"json({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "pod, the executor",
  "description": "The cluster is the host's.",
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "dryRunAtAdmission": {
      "description": "Who hears what the API server says of the Pod of a new spec.",
      "enum": ["Never", "Warn", "Refuse"], "default": "Never"
    }
  }
})json";

}  // namespace detent::pod
