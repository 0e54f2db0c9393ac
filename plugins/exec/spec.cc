#include "plugins/exec/spec.h"

#include <sys/resource.h>

#include <optional>

#include "plugins/exec/quantity.h"

namespace detent::exec {
namespace {

using sdk::Fields;
using sdk::Json;

// One argument of a process may be no longer (MAX_ARG_STRLEN of the kernel, with its NUL).
constexpr size_t kArgumentMax = 128 * 1024 - 1;
constexpr size_t kListMax = 4096;
constexpr int64_t kSecondsMax = 10LL * 365 * 86400;

void RefuseNul(Fields& fields, const std::string& pointer, std::string_view text) {
  if (text.find('\0') == std::string_view::npos) return;
  fields.diag().Error(pointer, "HasNul", "must not contain a NUL character");
}

void CheckArguments(Fields& fields, std::string_view name, const std::vector<std::string>& list) {
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string pointer = fields.PointerTo(name) + "/" + std::to_string(i);
    RefuseNul(fields, pointer, list[i]);
    if (list[i].size() > kArgumentMax) {
      fields.diag().Error(pointer, "TooLong",
                          "must have at most " + std::to_string(kArgumentMax) + " bytes",
                          "long input goes into `stdin` or a file");
    }
  }
}

// `command` + `args`, or `shell` -c `script` + `args`.
void ReadCommand(Fields& fields, ExecSpec& spec) {
  const bool has_command = static_cast<bool>(fields.Raw("command"));
  const bool has_script = static_cast<bool>(fields.Raw("script"));
  const auto command = fields.Texts("command", {.min_items = 1, .max_items = kListMax});
  const std::string script = fields.Text("script", {.max_bytes = kArgumentMax});
  const bool has_shell = static_cast<bool>(fields.Raw("shell"));
  const std::string shell = fields.Text("shell", {.fallback = "/bin/sh"});
  const auto args = fields.Texts("args", {.max_items = kListMax});
  CheckArguments(fields, "command", command);
  CheckArguments(fields, "args", args);
  RefuseNul(fields, fields.PointerTo("script"), script);
  RefuseNul(fields, fields.PointerTo("shell"), shell);
  if (has_command == has_script) {
    fields.diag().Error("", has_command ? "Conflict" : "Required",
                        has_command ? "`command` and `script` must not both be given"
                                    : "one of `command` and `script` must be given");
  }
  if (!command.empty() && command[0].empty()) {
    fields.diag().Error("/command/0", "Empty", "the program's name must not be empty");
  }
  if (has_script && script.empty()) {
    fields.diag().Error("/script", "Empty", "the script must not be empty");
  }
  if (has_shell && shell.empty()) {
    fields.diag().Error("/shell", "Empty", "the shell's name must not be empty");
  }
  if (has_shell && !has_script) {
    fields.diag().Error("/shell", "Conflict", "`shell` is for `script` only");
  }
  spec.argv = has_script ? std::vector<std::string>{shell, "-c", script, "script"} : command;
  spec.argv.insert(spec.argv.end(), args.begin(), args.end());
}

void ReadVariable(Fields& variable, ExecSpec& spec) {
  const std::string name = variable.Text("name", {.required = true});
  const std::string value = variable.Text("value", {.max_bytes = kArgumentMax});
  if (variable.Raw("valueFrom")) {
    variable.diag().Error(variable.PointerTo("valueFrom"), "Unsupported",
                          "a local process has no ConfigMaps, Secrets or Pod fields to take a "
                          "value from",
                          "give a `value`");
  }
  if (name.find('=') != std::string::npos) {
    variable.diag().Error(variable.PointerTo("name"), "BadName", "must not contain `=`");
  }
  RefuseNul(variable, variable.PointerTo("name"), name);
  RefuseNul(variable, variable.PointerTo("value"), value);
  spec.env.emplace_back(name, value);
}

// A number, or a text that `parse` understands; 0 where there is none.
int64_t ReadQuantity(Fields& fields, std::string_view name,
                     std::optional<int64_t> (*parse)(std::string_view)) {
  const Json value = fields.Raw(name);
  if (!value || fields.IsTemplate(value)) return 0;
  std::optional<int64_t> quantity;
  if (const auto text = value.Text()) quantity = parse(*text);
  // The digits of a number are a quantity too.
  if (const auto number = value.Double()) quantity = parse(std::to_string(*number));
  if (const auto whole = value.Int()) quantity = parse(std::to_string(*whole));
  if (!quantity || *quantity <= 0) {
    fields.diag().Error(fields.PointerTo(name), "BadQuantity",
                        "must be a quantity above 0, such as 2, \"500m\" or \"512Mi\"");
  }
  return quantity.value_or(0);
}

void ReadProcessLimits(Fields limits, ExecSpec& spec) {
  const auto add = [&](int resource, std::optional<int64_t> value) {
    if (value) spec.rlimits.push_back({resource, *value});
  };
  const auto number = [&](std::string_view name, int64_t min) -> std::optional<int64_t> {
    const int64_t value = limits.Int(name, {.fallback = -1, .min = min});
    return value < 0 ? std::nullopt : std::optional(value);
  };
  const auto bytes = [&](std::string_view name) -> std::optional<int64_t> {
    const int64_t value = ReadQuantity(limits, name, &ParseBytes);
    return value <= 0 ? std::nullopt : std::optional(value);
  };
  add(RLIMIT_CPU, number("cpuSeconds", 1));
  add(RLIMIT_AS, bytes("addressSpaceBytes"));
  add(RLIMIT_NOFILE, number("openFiles", 3));
  add(RLIMIT_NPROC, number("processes", 1));
  add(RLIMIT_FSIZE, bytes("fileSizeBytes"));
  // 0 is the usual value here: no core files.
  const Json core = limits.Raw("coreBytes");
  add(RLIMIT_CORE, core.Int() == 0 ? std::optional<int64_t>(0) : bytes("coreBytes"));
}

void ReadResources(Fields resources, ExecSpec& spec) {
  Fields limits = resources.Object("limits");
  spec.memory_bytes = ReadQuantity(limits, "memory", &ParseBytes);
  spec.milli_cpu = ReadQuantity(limits, "cpu", &ParseMilliCpu);
  spec.pids = limits.Int("pids", {.min = 1});
}

void ReadExitCodes(Fields& fields, ExecSpec& spec) {
  const Json list = fields.Raw("successExitCodes");
  if (!list || fields.IsTemplate(list)) return;
  const std::string pointer = fields.PointerTo("successExitCodes");
  if (!list.IsArray() || list.size() == 0 || list.size() > 256) {
    fields.diag().Error(pointer, "WrongType", "must be a list of 1 to 256 exit codes");
    return;
  }
  spec.success_exit_codes.clear();
  for (uint64_t i = 0; i < list.size(); ++i) {
    const auto code = list[i].Int();
    if (code && *code >= 0 && *code <= 255) {
      spec.success_exit_codes.push_back(*code);
    } else if (!fields.IsTemplate(list[i])) {
      fields.diag().Error(pointer + "/" + std::to_string(i), "OutOfRange",
                          "must be an exit code, 0 to 255");
    }
  }
}

// A user or group: a name, or a number as YAML likes to read it.
std::string ReadIdentity(Fields& fields, std::string_view name) {
  const Json value = fields.Raw(name);
  if (!value) return {};
  const auto number = value.Uint();
  const std::string text =
      number ? std::to_string(*number) : std::string(value.Text().value_or(""));
  if (text.empty()) {
    fields.diag().Error(fields.PointerTo(name), "WrongType", "must be a name or a number");
  }
  return text;
}

}  // namespace

ExecSpec ReadSpec(Fields& fields) {
  ExecSpec spec;
  ReadCommand(fields, spec);
  spec.working_directory = fields.Text("workingDirectory", {.max_bytes = 4095});
  RefuseNul(fields, "/workingDirectory", spec.working_directory);
  fields.Each("env", [&](Fields& variable) { ReadVariable(variable, spec); },
              {.max_items = kListMax});
  spec.inherit_environment = fields.Bool("inheritEnvironment");
  spec.has_stdin = static_cast<bool>(fields.Raw("stdin"));
  spec.stdin_text = fields.Text("stdin", {.max_bytes = 1024 * 1024});
  spec.user = ReadIdentity(fields, "user");
  spec.group = ReadIdentity(fields, "group");
  ReadProcessLimits(fields.Object("rlimits"), spec);
  ReadResources(fields.Object("resources"), spec);
  spec.timeout_ns =
      fields.Int("timeoutSeconds", {.min = 1, .max = kSecondsMax}) * kNanosecondsPerSecond;
  spec.grace_ns = fields.Int("gracePeriodSeconds", {.fallback = 30, .min = 0, .max = kSecondsMax}) *
                  kNanosecondsPerSecond;
  ReadExitCodes(fields, spec);
  const int64_t limit = ReadQuantity(fields, "outputLimit", &ParseBytes);
  if (limit > 0 && limit < 4096) {
    fields.diag().Error("/outputLimit", "OutOfRange", "must be at least 4096 bytes");
  }
  if (limit > 0) spec.output_limit = static_cast<uint64_t>(limit);
  spec.idempotent = fields.Bool("idempotent");
  return spec;
}

ExecConfig ReadConfig(Fields& fields) {
  ExecConfig config;
  const Json users = fields.Raw("allowUsers");
  if (users && !users.IsArray()) {
    fields.diag().Error("/allowUsers", "WrongType", "must be a list of names or numbers");
  }
  for (uint64_t i = 0; i < users.size(); ++i) {
    const auto number = users[i].Uint();
    const std::string user =
        number ? std::to_string(*number) : std::string(users[i].Text().value_or(""));
    if (user.empty()) {
      fields.diag().Error("/allowUsers/" + std::to_string(i), "WrongType",
                          "must be a name or a number");
    }
    config.allow_users.push_back(user);
  }
  config.cgroup_root = fields.Text("cgroupRoot", {.max_bytes = 255});
  config.working_directory = fields.Text("workingDirectory", {.max_bytes = 4095});
  for (const auto& [name, path] : {std::pair("cgroupRoot", &config.cgroup_root),
                                   std::pair("workingDirectory", &config.working_directory)}) {
    if (path->empty() || path->front() == '/') continue;
    fields.diag().Error(fields.PointerTo(name), "NotAbsolute", "must be an absolute path");
  }
  return config;
}

}  // namespace detent::exec
