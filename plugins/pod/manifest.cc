#include "plugins/pod/manifest.h"

#include <algorithm>
#include <iterator>

#include "detent/sdk/json_writer.h"

namespace detent::pod {
namespace {

using sdk::Json;
using sdk::JsonWriter;

constexpr std::string_view kDryRunJob = "dry-run";
constexpr std::string_view kDryRunTask = "dry-run-0-1";
constexpr std::string_view kDryRunPrefix = "dry-run-";

bool Sets(const Json& env, std::string_view name) {
  for (uint64_t i = 0; i < env.size(); ++i) {
    if (env[i]["name"].Text() == name) return true;
  }
  return false;
}

// Of a task that nobody has made. Lives as long as the program.
sdk::TaskRef DryRunTask() {
  detent_task_ref raw{};
  raw.size = sizeof(raw);
  raw.attempt = 1;
  raw.name = sdk::Str(kDryRunTask);
  raw.job_name = sdk::Str(kDryRunJob);
  return sdk::TaskRef(raw);
}

// Copies a template into a Pod.
class ManifestWriter {
 public:
  ManifestWriter(const sdk::Host& host, const TaskVariables& variables)
      : host_(host), variables_(variables) {}

  // name_field: "name" or "generateName".
  std::string Write(const PodSpec& spec, std::string_view name_field, std::string_view name) {
    json_.BeginObject().Key("apiVersion").String("v1").Key("kind").String("Pod");
    json_.Key("metadata").BeginObject().Key(name_field).String(name);
    CopyMember("labels", spec.labels);
    CopyMember("annotations", spec.annotations);
    CopyMember("finalizers", spec.finalizers);
    json_.EndObject().Key("spec");
    WriteSpec(spec.spec);
    return std::move(json_.EndObject()).text();
  }

 private:
  void Copy(const Json& value) { json_.Raw(value.Serialise(host_.table(), host_.instance())); }

  void CopyMember(std::string_view name, const Json& value) {
    if (!value) return;
    json_.Key(name);
    Copy(value);
  }

  void WriteSpec(const Json& spec) {
    json_.BeginObject();
    for (uint64_t i = 0; i < spec.size(); ++i) {
      const std::string_view key = spec.KeyAt(i);
      const bool containers = key == "containers" || key == "initContainers";
      if (key == "restartPolicy") continue;
      json_.Key(key);
      if (containers && spec[i].IsArray()) {
        WriteContainers(spec[i]);
      } else {
        Copy(spec[i]);
      }
    }
    json_.Key("restartPolicy").String(spec["restartPolicy"].Text().value_or("Never"));
    json_.EndObject();
  }

  void WriteContainers(const Json& list) {
    json_.BeginArray();
    for (uint64_t i = 0; i < list.size(); ++i) WriteContainer(list[i]);
    json_.EndArray();
  }

  void WriteContainer(const Json& container) {
    json_.BeginObject();
    for (uint64_t i = 0; i < container.size(); ++i) {
      const std::string_view key = container.KeyAt(i);
      if (key != "env") CopyMember(key, container[i]);
    }
    WriteEnvironment(container["env"]);
    json_.EndObject();
  }

  // Ours come first, because $(NAME) sees what stands before it.
  void WriteEnvironment(const Json& env) {
    json_.Key("env").BeginArray();
    for (const TaskVariables::Variable& variable : variables_.all) {
      if (Sets(env, variable.name)) continue;
      json_.BeginObject().Key("name").String(variable.name);
      json_.Key("value").String(variable.value).EndObject();
    }
    for (uint64_t i = 0; i < env.size(); ++i) Copy(env[i]);
    json_.EndArray();
  }

  const sdk::Host& host_;
  const TaskVariables& variables_;
  JsonWriter json_;
};

}  // namespace

TaskVariables::TaskVariables(const sdk::TaskRef& ref)
    : all{{"DETENT_JOB_NAME", std::string(ref.job_name)},
          {"DETENT_TASK_NAME", std::string(ref.name)},
          {"DETENT_TASK_INDEX", std::to_string(ref.index)},
          {"DETENT_TASK_ATTEMPT", std::to_string(ref.attempt)}} {}

std::string ManifestOf(const PodSpec& spec, const sdk::TaskRef& ref, const sdk::Host& host) {
  const TaskVariables variables(ref);
  return ManifestWriter(host, variables).Write(spec, "name", ref.name);
}

std::string DryRunManifestOf(const PodSpec& spec, const sdk::Host& host) {
  const TaskVariables variables(DryRunTask());
  return ManifestWriter(host, variables).Write(spec, "generateName", kDryRunPrefix);
}

uint64_t AddedVariables(const Json& env) {
  const TaskVariables variables(DryRunTask());
  return static_cast<uint64_t>(
      std::count_if(std::begin(variables.all), std::end(variables.all),
                    [&](const TaskVariables::Variable& each) { return !Sets(env, each.name); }));
}

}  // namespace detent::pod
