#include "core/kube/kubeconfig.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace detent {
namespace {

void AddPath(std::string path, std::vector<std::string>& paths) {
  if (path.empty() || std::find(paths.begin(), paths.end(), path) != paths.end()) return;
  paths.push_back(std::move(path));
}

// Entries outlive a change of the working directory only with absolute paths.
std::string AbsolutePath(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::path absolute = std::filesystem::absolute(path, ignored);
  return absolute.empty() ? path : absolute.lexically_normal().string();
}

}  // namespace

void MergeKubeConfig(KubeConfig& config, KubeConfig other) {
  config.clusters.merge(other.clusters);
  config.users.merge(other.users);
  config.contexts.merge(other.contexts);
  if (config.current_context.empty()) {
    config.current_context = std::move(other.current_context);
    config.current_context_origin = std::move(other.current_context_origin);
  }
  config.missing_files.insert(config.missing_files.end(), other.missing_files.begin(),
                              other.missing_files.end());
}

KubeEnvironment ReadKubeEnvironment(const std::function<const char*(const char*)>& variable) {
  const auto text = [&](const char* name) {
    const char* value = variable(name);
    return std::string(value == nullptr ? "" : value);
  };
  KubeEnvironment environment;
  environment.kubeconfig = text("KUBECONFIG");
  environment.home = text("HOME");
  environment.service_host = text("KUBERNETES_SERVICE_HOST");
  environment.service_port = text("KUBERNETES_SERVICE_PORT");
  environment.pod_namespace = text("POD_NAMESPACE");
  return environment;
}

KubeConfigFiles ChooseKubeConfigFiles(const KubeEnvironment& environment) {
  if (!environment.kubeconfig_flag.empty()) return {{environment.kubeconfig_flag}, true};
  KubeConfigFiles files;
  if (!environment.kubeconfig.empty()) {
    const std::string& list = environment.kubeconfig;
    for (size_t begin = 0; begin <= list.size();) {
      const size_t end = std::min(list.find(':', begin), list.size());
      AddPath(list.substr(begin, end - begin), files.paths);
      begin = end + 1;
    }
  } else if (!environment.home.empty()) {
    AddPath((std::filesystem::path(environment.home) / ".kube" / "config").string(), files.paths);
  }
  return files;
}

Result<KubeConfig> LoadKubeConfig(const KubeConfigFiles& files, const FileReader& read_file) {
  KubeConfig config;
  std::optional<Error> mistakes;
  const auto note = [&mistakes](const Error& error) {
    mistakes =
        mistakes ? Error(mistakes->code(), mistakes->message() + "\n" + error.message()) : error;
  };
  for (const std::string& path : files.paths) {
    auto text = read_file(path);
    if (!text && text.error().code() == Code::kNotFound && !files.required) {
      config.missing_files.push_back(path);
      continue;
    }
    if (!text) {
      note(Error(text.error()).While("kubeconfig"));
      continue;
    }
    auto parsed = ParseKubeConfig(*text, AbsolutePath(path));
    if (parsed) {
      MergeKubeConfig(config, *std::move(parsed));
    } else {
      note(parsed.error());
    }
  }
  if (mistakes) return *std::move(mistakes);
  return config;
}

}  // namespace detent
