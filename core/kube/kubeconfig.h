// Kubeconfigs: the files that say where Kubernetes clusters are and who is asking. Read, merged and
// chosen by the rules that Kubernetes documents for kubectl, so that a file that serves one serves
// the other.
//
// Plain values; copies are deep. Everything but LoadKubeConfig's reading is pure; any thread.
// Users hold secrets: errors name the file, the line and the field, never a value of one.
//
// Source: client-go's tools/clientcmd (kubeconfig.v1, "Config") and its documented loading rules;
// exec plugins: KEP-541.

#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"
#include "core/kube/local_file.h"

namespace detent {

// Where an entry was read, for errors about it that come later.
struct KubeOrigin {
  std::string file;   // Empty: the text was no file.
  std::string field;  // "users[1].user"
  int line = 0;       // From 1; 0 = unknown.
};

// Empty texts and false stand for what is not given. Paths are resolved, see ParseKubeConfig.
struct KubeCluster {
  std::string server;
  std::string tls_server_name;
  bool insecure_skip_tls_verify = false;
  std::string certificate_authority;       // A path.
  std::string certificate_authority_data;  // Decoded; wins over the path.
  std::string proxy_url;
  bool disable_compression = false;
  Json exec_extension;  // "client.authentication.k8s.io/exec" of its extensions, for exec plugins.
  KubeOrigin origin;
};

struct KubeExec {
  std::string command;  // A path, or a name without '/' that PATH finds.
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;  // Name and value, beside our own.
  std::string api_version;
  std::string install_hint;  // Text for people; may hold control characters.
  std::string interactive_mode;
  bool provide_cluster_info = false;
};

struct KubeUser {
  std::string client_certificate, client_key;            // Paths.
  std::string client_certificate_data, client_key_data;  // Decoded; win over the paths.
  std::string token;
  std::string token_file;  // A path; wins over `token` while it can be read.
  std::string username, password;
  std::string as, as_uid;
  std::vector<std::string> as_groups;
  std::map<std::string, std::vector<std::string>> as_user_extra;
  std::optional<KubeExec> exec;
  bool has_auth_provider = false;  // What client-go had before exec; only its presence is kept.
  KubeOrigin origin;
};

struct KubeContext {
  std::string cluster, user;   // Names of entries.
  std::string namespace_name;  // Empty: "default".
  KubeOrigin origin;
};

struct KubeConfig {
  std::map<std::string, KubeCluster> clusters;
  std::map<std::string, KubeUser> users;
  std::map<std::string, KubeContext> contexts;
  std::string current_context;
  KubeOrigin current_context_origin;
  std::vector<std::string> missing_files;  // Looked for and not there, for errors.

  // True if it says nothing: no file was there, or all were empty.
  bool empty() const {
    return clusters.empty() && users.empty() && contexts.empty() && current_context.empty();
  }
};

// Reads one YAML or JSON document; an empty text is an empty config. Unknown fields are passed
// over. `file` names it in errors, and relative paths (certificates, keys, the token's file, an
// exec command with a '/') are taken as relative to the directory it stands in; empty: left as they
// are. kInvalid, with every mistake on a line of its own ("FILE:3:5: users[0].user.token: must be
// ..."): syntax, another kind or version, a wrong type, bad base64, an entry without a name or two
// of one name, more than one document. What is missing in an entry is no mistake until it is used.
Result<KubeConfig> ParseKubeConfig(std::string_view text, const std::string& file);

// Takes what `config` does not have from `other`, in whole entries: two users of one name are never
// mixed. A current context stays unless there is none.
void MergeKubeConfig(KubeConfig& config, KubeConfig other);

// What the host's surroundings say about clusters. The program fills it in from its flags and
// variables; empty: not set.
struct KubeEnvironment {
  std::string kubeconfig_flag;  // --kubeconfig
  std::string kubeconfig;       // KUBECONFIG: paths, separated by ':'.
  std::string home;             // HOME
  std::string service_host;     // KUBERNETES_SERVICE_HOST and _PORT, which every pod has.
  std::string service_port;
  std::string pod_namespace;  // POD_NAMESPACE, which a pod may set for itself.
};

// From the variables of a process: `variable` is as std::getenv, which it may be.
KubeEnvironment ReadKubeEnvironment(const std::function<const char*(const char*)>& variable);

struct KubeConfigFiles {
  std::vector<std::string> paths;  // The first that sets something wins.
  bool required = false;  // Named by a flag: each must be there, and nothing else is tried.
};

// --kubeconfig alone if it is given, else the files of KUBECONFIG, else ~/.kube/config. Empty and
// repeated paths are left out. A config that comes out empty() leads into the cluster that the host
// runs in, unless the files were required (see FindClusterAccess).
KubeConfigFiles ChooseKubeConfigFiles(const KubeEnvironment& environment);

// Reads and merges. A missing file is noted and skipped, or kNotFound if required. Other errors of
// reading and parsing are all reported, one to a line; the code is the first one's.
Result<KubeConfig> LoadKubeConfig(const KubeConfigFiles& files,
                                  const FileReader& read_file = ReadLocalFile);

}  // namespace detent
