// The JSON Schemas of the plugin's documents, for editors and for people. What they cannot say
// (unknown users, a directory that is not there) is said by spec.cc and when a task starts.

#include "plugins/exec/executor.h"

namespace detent::exec {

constinit const std::string_view ExecExecutor::kSpecSchema = R"json({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "exec",
  "description": "A local process. It outlives the host, and nothing of it outlives the task.",
  "type": "object",
  "additionalProperties": false,
  "oneOf": [{"required": ["command"]}, {"required": ["script"]}],
  "properties": {
    "command": {
      "description": "The program and its arguments. A name without a slash is looked for in PATH.",
      "type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 4096
    },
    "script": {
      "description": "Text for a shell, instead of a command; args are $1, $2, ...",
      "type": "string", "minLength": 1, "maxLength": 131071
    },
    "shell": {
      "description": "What runs the script, as: shell -c script.",
      "type": "string", "default": "/bin/sh"
    },
    "args": {
      "description": "Further arguments of the command or the script.",
      "type": "array", "items": {"type": "string"}, "maxItems": 4096
    },
    "workingDirectory": {
      "description": "Where it runs. A relative path counts from the plugin's, the default.",
      "type": "string"
    },
    "env": {
      "description": "Environment variables, as in a Pod. The last of a name counts.",
      "type": "array", "maxItems": 4096,
      "items": {
        "type": "object", "additionalProperties": false, "required": ["name"],
        "properties": {
          "name": {"type": "string", "pattern": "^[^=]+$"},
          "value": {"type": "string", "default": ""}
        }
      }
    },
    "inheritEnvironment": {
      "description": "Pass on the host's whole environment, not only PATH, HOME, LANG and TZ.",
      "type": "boolean", "default": false
    },
    "stdin": {
      "description": "Text for its standard input.",
      "type": "string", "maxLength": 1048576
    },
    "user": {
      "description": "Who it runs as, by name or number; must be in the plugin's allowUsers.",
      "type": ["string", "integer"]
    },
    "group": {
      "description": "One of the user's groups, by name or number.",
      "type": ["string", "integer"]
    },
    "rlimits": {
      "description": "Limits of each process, as setrlimit(2) has them.",
      "type": "object", "additionalProperties": false,
      "properties": {
        "cpuSeconds": {"description": "CPU time.", "type": "integer", "minimum": 1},
        "addressSpaceBytes": {"description": "Virtual memory.", "type": ["integer", "string"]},
        "openFiles": {"description": "Open descriptors.", "type": "integer", "minimum": 3},
        "processes": {"description": "Processes of its user.", "type": "integer", "minimum": 1},
        "fileSizeBytes": {
          "description": "Size of a file it writes.",
          "type": ["integer", "string"]
        },
        "coreBytes": {"description": "Size of a core file.", "type": ["integer", "string"]}
      }
    },
    "resources": {
      "description": "Limits of the task as a whole; needs the plugin's cgroupRoot.",
      "type": "object", "additionalProperties": false,
      "properties": {
        "limits": {
          "type": "object", "additionalProperties": false,
          "properties": {
            "memory": {"description": "Bytes, such as 512Mi.", "type": ["integer", "string"]},
            "cpu": {"description": "Cpus, such as 2 or 500m.", "type": ["number", "string"]},
            "pids": {"description": "Processes and threads.", "type": "integer", "minimum": 1}
          }
        }
      }
    },
    "timeoutSeconds": {
      "description": "After this it is ended, and has failed with reason Timeout. Default: never.",
      "type": "integer", "minimum": 1, "maximum": 315360000
    },
    "gracePeriodSeconds": {
      "description": "Between SIGTERM and SIGKILL, however it comes to its end.",
      "type": "integer", "minimum": 0, "maximum": 315360000, "default": 30
    },
    "successExitCodes": {
      "description": "Exit codes that mean success.",
      "type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 255},
      "minItems": 1, "maxItems": 256, "default": [0]
    },
    "outputLimit": {
      "description": "Bytes of one log file, such as 10Mi; the newest two are kept.",
      "type": ["integer", "string"], "default": "10Mi"
    },
    "idempotent": {
      "description": "Running it twice does no harm: it is run again when its outcome was lost.",
      "type": "boolean", "default": false
    }
  }
})json";

constinit const std::string_view ExecExecutor::kConfigSchema = R"json({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "exec plugin",
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "allowUsers": {
      "description": "Users, by name or number, that a task may run as besides the host's own.",
      "type": "array", "items": {"type": ["string", "integer"]}, "default": []
    },
    "cgroupRoot": {
      "description": "A cgroup v2 directory that is delegated to the host; tasks get leaves in it.",
      "type": "string", "pattern": "^/"
    },
    "workingDirectory": {
      "description": "Where tasks run by default; where the host was started, if not given.",
      "type": "string", "pattern": "^/"
    }
  }
})json";

}  // namespace detent::exec
