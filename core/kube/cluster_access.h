// How to reach one Kubernetes API server and as whom: what a client needs, chosen out of a
// kubeconfig or found in the pod that the host runs in.
//
// Plain values that own all they hold; pure but for the FileReader that is handed in. Any thread.
// They hold secrets: do not print or log them. No error here contains one.
//
// Source: client-go's rules for kubeconfigs and for pods; exec plugins: KEP-541.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"
#include "core/kube/kubeconfig.h"
#include "core/kube/local_file.h"

namespace detent {

// Certificates or a key as PEM. At most one is set. A file may be replaced while the host runs:
// read it again for a new connection.
struct PemSource {
  std::string data;
  std::string file;

  bool empty() const { return data.empty() && file.empty(); }
};

struct ClientCertificate {
  PemSource certificate;
  PemSource key;
};

struct TlsAccess {
  PemSource authority;                // Trust these; empty: the system's.
  bool insecure_skip_verify = false;  // Never together with `authority`.
  std::string server_name;            // To ask for and to check; empty: the host of the URL.
  // Who is asking, said in the handshake: it goes with any of the Credentials, or alone.
  std::optional<ClientCertificate> client;
};

// What goes into the header Authorization.
struct NoCredentials {};

struct BearerToken {
  std::string token;
};

// Read it again every minute at most, without white space around it: the kubelet replaces it.
struct BearerTokenFile {
  std::string path;
  std::string fallback;  // A token for as long as the file cannot be read; empty: none.
};

struct BasicLogin {
  std::string username, password;
};

enum class ExecInput { kNever, kIfAvailable, kAlways };  // What the plugin does with our stdin.

// A program that prints an ExecCredential.
struct ExecPlugin {
  std::string command;  // An absolute path, or a name for PATH.
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;  // Added to the host's environment.
  std::string api_version;   // "client.authentication.k8s.io/v1" or ".../v1beta1"
  std::string install_hint;  // For people, when the program is missing; safe for a terminal.
  ExecInput input = ExecInput::kNever;
  bool provide_cluster_info = false;
  Json cluster_config;  // spec.cluster.config of what the plugin is given; null: none.
};

using Credentials =
    std::variant<NoCredentials, BearerToken, BearerTokenFile, BasicLogin, ExecPlugin>;

// The user to act as. Groups, uid and extra are empty unless `user` is set.
struct Impersonation {
  std::string user, uid;
  std::vector<std::string> groups;
  std::map<std::string, std::vector<std::string>> extra;
};

struct ClusterAccess {
  std::string server;  // "https://host:6443/prefix": no '/' at the end, no query.
  TlsAccess tls;
  std::string proxy_url;  // http, https or socks5; may hold a password. Empty: as the host is set.
  Credentials credentials;
  // True if the user has credentials that stay here, because the server is plain http.
  bool credentials_withheld = false;
  Impersonation impersonation;
  std::string namespace_name = "default";
  bool disable_compression = false;
};

// Flags of kubectl's names; empty: not given.
struct AccessOverrides {
  std::string context;
  std::string cluster;
  std::string user;
  std::string namespace_name;
};

// The access that the named, or else the current, context describes. Only the entries it uses are
// held to be complete. Files that it names are not opened. kNotFound: the config is empty().
// kUnsupported: the user has an auth-provider. kInvalid: a missing context, cluster or user, and
// every mistake in them, one to a line ("FILE:12: users[0].user.exec.command: ...").
Result<ClusterAccess> Resolve(const KubeConfig& config, const AccessOverrides& overrides = {});

// The access of the pod's ServiceAccount. Its token and certificates stay files. kNotFound: the
// host is in no pod, or no token is mounted; kInvalid: a variable or a file that cannot be right.
// Without ca.crt the system's certificates are trusted.
Result<ClusterAccess> InClusterAccess(const KubeEnvironment& environment,
                                      const FileReader& read_file = ReadLocalFile);

// The whole way: the kubeconfig that ChooseKubeConfigFiles finds, or, when it is empty and was not
// asked for by a flag, the cluster around us. Of the overrides only a namespace can hold there.
Result<ClusterAccess> FindClusterAccess(const KubeEnvironment& environment,
                                        const AccessOverrides& overrides = {},
                                        const FileReader& read_file = ReadLocalFile);

}  // namespace detent
