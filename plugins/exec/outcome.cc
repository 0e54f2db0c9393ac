#include "plugins/exec/outcome.h"

#include <cerrno>
#include <cstring>

#include <algorithm>

namespace detent::exec {
namespace {

using sdk::TaskStatus;

void Fail(TaskStatus& status, std::string reason, std::string message) {
  status.result = DETENT_RESULT_FAILED;
  status.reason = std::move(reason);
  status.message = std::move(message);
}

std::string SignalText(int signal) {
  const char* const name = sigabbrev_np(signal);
  std::string text = "signal " + std::to_string(signal);
  if (name != nullptr) text.append(" (SIG").append(name).append(")");
  return text;
}

std::string CommandText(const ExecSpec& spec) {
  return "`" + (spec.argv.empty() ? std::string() : spec.argv[0].substr(0, 200)) + "`";
}

void DescribeCommandError(TaskStatus& status, int error, const ExecSpec& spec) {
  if (error == ENOENT || error == ENOTDIR) {
    return Fail(status, "CommandNotFound", "there is no program " + CommandText(spec));
  }
  if (error == EACCES || error == ENOEXEC) {
    return Fail(status, "CommandNotExecutable",
                CommandText(spec) + " is there, but cannot be executed: " + std::strerror(error));
  }
  if (error == E2BIG) {
    return Fail(status, "ArgumentsTooLong", "the arguments and the environment are too long");
  }
  Fail(status, "StartFailed",
       CommandText(spec) + " could not be executed: " + std::strerror(error));
}

// Nothing of the task ever ran.
void DescribeStartError(TaskStatus& status, const Ending& ending, const ExecSpec& spec) {
  status.flags |= DETENT_TASK_RERUN_SAFE;
  const std::string error = std::strerror(ending.error);
  switch (ending.stage) {
    case Stage::kCommand:
      return DescribeCommandError(status, ending.error, spec);
    case Stage::kWorkingDirectory:
      return Fail(status,
                  ending.error == ENOENT || ending.error == ENOTDIR ? "WorkingDirectoryMissing"
                                                                    : "WorkingDirectoryRefused",
                  "the working directory cannot be entered: " + error);
    case Stage::kUser:
      return Fail(status, "UserNotAllowed", "the host may not become that user: " + error);
    case Stage::kCgroup:
      return Fail(status, "CgroupUnavailable", "the cgroup could not be set up: " + error);
    case Stage::kResourceLimit:
      return Fail(status, "ResourceLimitRefused", "a limit could not be set: " + error);
    default:
      return Fail(status, "StartFailed", "the process could not be made: " + error);
  }
}

void DescribeExit(TaskStatus& status, const Ending& ending, const ExecSpec& spec) {
  if (ending.oom_killed && ending.signal == 9) {
    return Fail(status, "OOMKilled", "it used more memory than resources.limits.memory allows");
  }
  if (ending.signal != 0) {
    return Fail(status, "Signalled", "it was ended by " + SignalText(ending.signal));
  }
  const auto& codes = spec.success_exit_codes;
  if (std::find(codes.begin(), codes.end(), ending.exit_code) != codes.end()) {
    status.result = DETENT_RESULT_SUCCEEDED;
    return;
  }
  Fail(status, "ExitCode", "it ended with exit code " + std::to_string(ending.exit_code));
}

std::string OutputJson(const Ending& ending) {
  constexpr double kMicro = 1e-6;
  constexpr double kNano = 1e-9;
  sdk::JsonWriter json;
  json.BeginObject()
      .Key("exitCode")
      .Int(ending.exit_code)
      .Key("signal")
      .Int(ending.signal)
      .Key("durationSeconds")
      .Double(static_cast<double>(ending.ended_ns - ending.started_ns) * kNano)
      .Key("userCpuSeconds")
      .Double(static_cast<double>(ending.user_us) * kMicro)
      .Key("systemCpuSeconds")
      .Double(static_cast<double>(ending.system_us) * kMicro)
      .Key("peakMemoryBytes")
      .Int(ending.peak_bytes)
      .Key("logBytes")
      .Int(ending.log_bytes);
  if (ending.log_lost_bytes > 0) json.Key("logLostBytes").Int(ending.log_lost_bytes);
  return std::move(json.EndObject()).text();
}

}  // namespace

std::string ObjectRef(int64_t main_pid) {
  return main_pid > 0 ? "pid " + std::to_string(main_pid) : std::string();
}

TaskStatus DescribeEnding(const Ending& ending, const ExecSpec& spec) {
  TaskStatus status;
  status.phase = DETENT_PHASE_TERMINATED;
  status.running_ns = ending.started_ns;
  status.finished_ns = ending.ended_ns;
  status.object_ref = ObjectRef(ending.main_pid);
  if (ending.cause == kCauseNotStarted) {
    DescribeStartError(status, ending, spec);
    return status;
  }
  status.flags |= DETENT_TASK_EXITED;
  status.exit_code = ending.exit_code;
  status.signal = ending.signal;
  status.output = OutputJson(ending);
  if (ending.cause == kCauseTimeout) {
    Fail(status, "Timeout",
         "it did not end within " + std::to_string(spec.timeout_ns / kNanosecondsPerSecond) +
             " s, and was ended");
  } else if (ending.cause == kCauseKilled) {
    status.result = DETENT_RESULT_KILLED;
    status.reason = ending.kill_reason.empty() ? "Killed" : ending.kill_reason;
    status.message = ending.signal != 0 ? "it was ended by " + SignalText(ending.signal)
                                        : "asked to end, it did with exit code " +
                                              std::to_string(ending.exit_code);
  } else {
    DescribeExit(status, ending, spec);
  }
  return status;
}

TaskStatus DescribeLoss(const Started* started, const ExecSpec& spec) {
  TaskStatus status;
  status.phase = DETENT_PHASE_TERMINATED;
  status.result = DETENT_RESULT_LOST;
  status.flags = spec.idempotent ? DETENT_TASK_RERUN_SAFE : 0;
  status.reason = "SupervisorGone";
  status.message =
      "the process that followed it was killed, or the machine went down: whether it did its work "
      "is unknown";
  if (started != nullptr) {
    status.running_ns = started->started_ns;
    status.object_ref = ObjectRef(started->main_pid);
  }
  return status;
}

}  // namespace detent::exec
