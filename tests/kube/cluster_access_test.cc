#include "core/kube/cluster_access.h"

#include <gtest/gtest.h>

namespace detent {
namespace {

constexpr const char* kPemData = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==";
constexpr const char* kPemText = "-----BEGIN CERTIFICATE-----\n";

// A config whose one cluster and user hold these fields, in YAML's flow style.
KubeConfig ConfigOf(const std::string& cluster, const std::string& user) {
  auto config = ParseKubeConfig(
      "current-context: x\n"
      "contexts: [{name: x, context: {cluster: c, user: u}}]\n"
      "clusters: [{name: c, cluster: {" +
          cluster +
          "}}]\n"
          "users: [{name: u, user: {" +
          user + "}}]\n",
      "/k/f");
  EXPECT_TRUE(config) << (config ? "" : config.error().message());
  return config ? *std::move(config) : KubeConfig{};
}

Result<ClusterAccess> AccessOfUser(const std::string& user) {
  return Resolve(ConfigOf("server: 'https://h'", user));
}

// "token t", "exec aws" and so on: a variant as one text.
std::string CredentialsText(const ClusterAccess& access) {
  const Credentials& c = access.credentials;
  std::string text = "none";
  if (const auto* t = std::get_if<BearerToken>(&c)) text = "token " + t->token;
  if (const auto* f = std::get_if<BearerTokenFile>(&c))
    text = "file " + f->path + "|" + f->fallback;
  if (const auto* b = std::get_if<BasicLogin>(&c))
    text = "basic " + b->username + ":" + b->password;
  if (const auto* e = std::get_if<ExecPlugin>(&c)) text = "exec " + e->command;
  if (!access.tls.client) return text;
  const auto show = [](const PemSource& pem) { return pem.data + pem.file; };
  return text + " cert " + show(access.tls.client->certificate) + " key " +
         show(access.tls.client->key);
}

TEST(ClusterAccess, TakesEachFormOfCredentials) {
  const std::string pem = kPemText;
  const std::string data = kPemData;
  const std::string exec = "exec: {command: aws, apiVersion: client.authentication.k8s.io/v1beta1}";
  const struct {
    std::string user;
    std::string credentials;
    const char* because;
  } rows[] = {
      {"", "none", "nobody"},
      {"token: t", "token t", "a token"},
      {"tokenFile: t", "file /k/t|", "a file, read anew"},
      {"tokenFile: t, token: x", "file /k/t|x", "the token serves while the file cannot"},
      {"username: u, password: p", "basic u:p", "a password"},
      {"client-certificate: c, client-key: k", "none cert /k/c key /k/k", "files"},
      {"client-certificate: c, client-key: k, client-certificate-data: " + data +
           ", client-key-data: " + data,
       "none cert " + pem + " key " + pem, "data wins"},
      {"client-certificate: c, client-key-data: " + data, "none cert /k/c key " + pem, "one each"},
      {"client-certificate: c, client-key: k, client-key-data: ''", "none cert /k/c key /k/k",
       "empty data is no data"},
      {"client-certificate: c, client-key: k, token: t", "token t cert /k/c key /k/k", "both"},
      {exec, "exec aws", "a plugin"},
      {exec + ", token: t", "token t", "no plugin for what is there"},
      {exec + ", username: u", "basic u:", "likewise"},
      {exec + ", client-certificate: c, client-key: k", "none cert /k/c key /k/k", "likewise"},
  };
  for (const auto& row : rows) {
    auto access = AccessOfUser(row.user);
    ASSERT_TRUE(access) << row.because << ": " << access.error().message();
    EXPECT_EQ(CredentialsText(*access), row.credentials) << row.because;
  }
}

TEST(ClusterAccess, RefusesCredentialsThatCannotWork) {
  const std::string v1 = "apiVersion: client.authentication.k8s.io/v1";
  const struct {
    std::string user;
    const char* message;
    const char* because;
  } rows[] = {
      {"token: t, username: u", "token: excludes username", "two of a kind"},
      {"tokenFile: t, password: p", "tokenFile: excludes username", "two of a kind"},
      {"token: \"t\\nX: y\"", "token: contains", "it would end the header"},
      {"username: 'a:b'", "username: contains", "the colon ends a user's name"},
      {"password: \"a\\u0007\"", "password: contains", "a control character"},
      {"client-certificate: c", "client-key: is required", "no key"},
      {"client-key: k", "client-certificate: is required", "no certificate"},
      {"client-certificate: c, client-key-data: Zm9v", "client-key-data: holds no PEM", "no PEM"},
      {"client-certificate-data: Zm9v, client-key: k", "client-certificate-data: holds", "no PEM"},
      {"auth-provider: {name: gcp}", "auth-provider: is not supported; use exec", "gone"},
      {"exec: {}", "exec.command: is required", "no command"},
      {"exec: {command: a}", "exec.apiVersion: is required", "no version"},
      {"exec: {command: a, apiVersion: client.authentication.k8s.io/v1alpha1}",
       "exec.apiVersion: must be", "a version that is gone"},
      {"exec: {command: a, " + v1 + "}", "exec.interactiveMode: is required", "v1 wants it"},
      {"exec: {command: a, " + v1 + ", interactiveMode: never}", "interactiveMode: must", "case"},
      {"exec: {command: a, " + v1 + ", interactiveMode: Never, env: [{value: x}]}",
       "exec.env[0].name: is required", "a variable without a name"},
      {"as-groups: [g]", "as: is required by", "groups of nobody"},
      {"as-uid: '1'", "as: is required by", "a uid of nobody"},
      {"as: \"a\\r\\nb\"", "as: contains a control", "it would end the header"},
      {"as: a, as-user-extra: {k: [\"\\n\"]}", "as-user-extra: contains", "likewise"},
  };
  for (const auto& row : rows) {
    auto access = AccessOfUser(row.user);
    ASSERT_FALSE(access) << row.because;
    EXPECT_EQ(access.error().message().find("/k/f:4: users[0].user."), 0u) << row.because;
    EXPECT_NE(access.error().message().find(row.message), std::string::npos)
        << row.because << ": " << access.error().message();
  }
  EXPECT_EQ(AccessOfUser("auth-provider: {name: x}").error().code(), Code::kUnsupported);
}

TEST(ClusterAccess, HandsAPluginAllItNeeds) {
  const KubeConfig config = ConfigOf(
      "server: 'https://h', extensions: [{name: client.authentication.k8s.io/exec, "
      "extension: {a: 1}}]",
      "exec: {command: bin/x, args: [a], env: [{name: N, value: v}], provideClusterInfo: true, "
      "apiVersion: client.authentication.k8s.io/v1, interactiveMode: Always, "
      "installHint: \"a\\e[1mb\\u009bc\\td\\u00e9\"}");
  auto access = Resolve(config);
  ASSERT_TRUE(access) << access.error().message();
  const auto& plugin = std::get<ExecPlugin>(access->credentials);
  EXPECT_EQ(plugin.command, "/k/bin/x");
  EXPECT_EQ(plugin.args, std::vector<std::string>{"a"});
  EXPECT_EQ(plugin.env, (std::vector<std::pair<std::string, std::string>>{{"N", "v"}}));
  EXPECT_EQ(plugin.api_version, "client.authentication.k8s.io/v1");
  EXPECT_EQ(plugin.input, ExecInput::kAlways);
  EXPECT_EQ(plugin.install_hint, "a?[1mb?c\td\u00e9") << "it cannot steer a terminal";
  EXPECT_EQ(DumpJson(plugin.cluster_config), R"({"a":1})");
  auto old = AccessOfUser("exec: {command: x, apiVersion: client.authentication.k8s.io/v1beta1}");
  ASSERT_TRUE(old);
  EXPECT_EQ(std::get<ExecPlugin>(old->credentials).input, ExecInput::kIfAvailable);
}

TEST(ClusterAccess, TakesTheClustersFields) {
  const struct {
    std::string cluster;
    const char* server;
    const char* because;
  } rows[] = {
      {"server: 'https://h:6443'", "https://h:6443", "as it is"},
      {"server: 'https://h/k8s/c-1/'", "https://h/k8s/c-1", "a prefix, without its end"},
      {"server: 'https://h?a=b#c'", "https://h", "no query"},
      {"server: 'https://[fd00::1]:6443'", "https://[fd00::1]:6443", "IPv6"},
      {"server: 'localhost:8080'", "http://localhost:8080", "kubectl proxy, without a scheme"},
  };
  for (const auto& row : rows) {
    auto access = Resolve(ConfigOf(row.cluster, ""));
    ASSERT_TRUE(access) << row.because << ": " << access.error().message();
    EXPECT_EQ(access->server, row.server) << row.because;
  }
  auto access =
      Resolve(ConfigOf("server: 'https://h', tls-server-name: n, disable-compression: "
                       "true, proxy-url: 'socks5://u:p@h:1', certificate-authority: ca",
                       "as: a, as-uid: i, as-groups: [g], as-user-extra: {k: [v]}"));
  ASSERT_TRUE(access) << access.error().message();
  EXPECT_EQ(access->tls.server_name, "n");
  EXPECT_TRUE(access->disable_compression);
  EXPECT_EQ(access->proxy_url, "socks5://u:p@h:1");
  EXPECT_EQ(access->tls.authority.file, "/k/ca");
  EXPECT_EQ(access->impersonation.user + access->impersonation.uid, "ai");
  EXPECT_EQ(access->impersonation.groups, std::vector<std::string>{"g"});
  EXPECT_EQ(access->impersonation.extra.at("k"), std::vector<std::string>{"v"});
  EXPECT_EQ(access->namespace_name, "default");
}

TEST(ClusterAccess, PrefersDataOverAFileOfCertificates) {
  auto access =
      Resolve(ConfigOf("server: 'https://h', certificate-authority: ca, "
                       "certificate-authority-data: " +
                           std::string(kPemData),
                       ""));
  ASSERT_TRUE(access) << access.error().message();
  EXPECT_EQ(access->tls.authority.data, kPemText);
  EXPECT_EQ(access->tls.authority.file, "");
}

TEST(ClusterAccess, RefusesAClusterThatCannotWork) {
  const struct {
    const char* cluster;
    const char* message;
    const char* because;
  } rows[] = {
      {"", "server: is required", "no server"},
      {"server: 'ftp://h'", "server: the URL must begin with http", "another scheme"},
      {"server: 'https://'", "server: the URL has no host", "no host"},
      {"server: 'https://u:s3cret@h'", "server: the URL contains user info", "a password"},
      {"server: 'https://h h'", "server: the URL contains a space", "a space"},
      {"server: 'https://h', insecure-skip-tls-verify: true, certificate-authority: x",
       "insecure-skip-tls-verify: contradicts", "either or"},
      {"server: 'https://h', certificate-authority-data: Zm9v",
       "certificate-authority-data: holds no PEM", "no certificate"},
      {"server: 'https://h', proxy-url: 'ftp://u:s3cret@h'", "proxy-url: must begin", "a scheme"},
      {"server: 'https://h', proxy-url: 'h:1'", "proxy-url: must begin", "no scheme"},
      {"server: 'https://h', proxy-url: 'http://u:s3cret@'", "proxy-url: has no host", "no host"},
      {"server: 'https://h', tls-server-name: \"a\\nb\"", "tls-server-name: contains", "a line"},
  };
  for (const auto& row : rows) {
    auto access = Resolve(ConfigOf(row.cluster, "password: s3cret"));
    ASSERT_FALSE(access) << row.because;
    const std::string& message = access.error().message();
    EXPECT_EQ(message.find("/k/f:3: clusters[0].cluster."), 0u) << row.because << ": " << message;
    EXPECT_NE(message.find(row.message), std::string::npos) << row.because << ": " << message;
    EXPECT_EQ(message.find("s3cret"), std::string::npos) << row.because;
  }
}

TEST(ClusterAccess, KeepsCredentialsFromPlainHttp) {
  for (const char* user : {"token: t", "client-certificate: c, client-key: k"}) {
    auto plain = Resolve(ConfigOf("server: 'http://h'", user));
    ASSERT_TRUE(plain);
    EXPECT_EQ(CredentialsText(*plain), "none") << user;
    EXPECT_TRUE(plain->credentials_withheld) << user;
    auto secure = Resolve(ConfigOf("server: 'HTTPS://h'", user));
    ASSERT_TRUE(secure);
    EXPECT_NE(CredentialsText(*secure), "none") << user;
    EXPECT_FALSE(secure->credentials_withheld) << user;
  }
}

// Two of each, with a context for the first.
KubeConfig TwoOfEach(const std::string& current) {
  auto config =
      ParseKubeConfig("current-context: '" + current +
                          "'\n"
                          "contexts:\n"
                          "- {name: one, context: {cluster: c1, user: u1, namespace: n1}}\n"
                          "- {name: lost, context: {cluster: c3, user: u3}}\n"
                          "- {name: bare, context: {cluster: c1, namespace: Upper}}\n"
                          "- {name: hollow}\n"
                          "- {name: anyone, context: {cluster: c1}}\n"
                          "clusters: [{name: c1, cluster: {server: 'https://1'}}, "
                          "{name: c2, cluster: {server: 'https://2'}}]\n"
                          "users: [{name: u1, user: {token: t1}}, {name: u2, user: {token: t2}}]\n",
                      "/k/f");
  EXPECT_TRUE(config) << (config ? "" : config.error().message());
  return config ? *std::move(config) : KubeConfig{};
}

TEST(ClusterAccess, FollowsTheContextUnlessAFlagSaysOtherwise) {
  const struct {
    const char* current;
    AccessOverrides overrides;
    const char* found;
    const char* because;
  } rows[] = {
      {"one", {}, "https://1 token t1 n1", "the current context"},
      {"", {"one", "", "", ""}, "https://1 token t1 n1", "a context by flag"},
      {"gone", {"one", "", "", ""}, "https://1 token t1 n1", "the current one does not matter"},
      {"one", {"", "c2", "", ""}, "https://2 token t1 n1", "another cluster"},
      {"one", {"", "", "u2", ""}, "https://1 token t2 n1", "another user"},
      {"one", {"", "", "", "n2"}, "https://1 token t1 n2", "another namespace"},
      {"lost", {"", "c2", "u2", ""}, "https://2 token t2 default", "what is lost is not used"},
      {"", {"", "c2", "", ""}, "https://2 none default", "a cluster needs no context"},
      {"anyone", {}, "https://1 none default", "a context without a user"},
  };
  for (const auto& row : rows) {
    auto access = Resolve(TwoOfEach(row.current), row.overrides);
    ASSERT_TRUE(access) << row.because << ": " << access.error().message();
    EXPECT_EQ(access->server + " " + CredentialsText(*access) + " " + access->namespace_name,
              row.found)
        << row.because;
  }
}

TEST(ClusterAccess, SaysWhichNameLeadsNowhere) {
  const struct {
    const char* current;
    AccessOverrides overrides;
    const char* message;
    const char* because;
  } rows[] = {
      {"",
       {},
       "current-context: is not set; name a context with --context (there are 'any",
       "none"},
      {"onee",
       {},
       "/k/f:1: current-context: there is no context 'onee' (did you mean 'one'?)",
       "x"},
      {"one", {"zzzzz", "", "", ""}, "--context: there is no context 'zzzzz'", "by flag"},
      {"one", {"", "c9", "", ""}, "--cluster: there is no cluster 'c9' (", "by flag"},
      {"one", {"", "", "u9", ""}, "--user: there is no user 'u9' (", "by flag"},
      {"one", {"", "", "", "A/b"}, "--namespace: must", "by flag"},
      {"lost", {}, "/k/f:4: contexts[1].context.cluster: there is no cluster 'c3'", "dangling"},
      {"lost", {}, "\n/k/f:4: contexts[1].context.user: there is no user 'u3'", "both at once"},
      {"bare", {}, "/k/f:5: contexts[2].context.namespace: must", "no namespace's name"},
      {"hollow", {}, "/k/f:6: contexts[3].context.cluster: is required", "nothing in it"},
  };
  for (const auto& row : rows) {
    auto access = Resolve(TwoOfEach(row.current), row.overrides);
    ASSERT_FALSE(access) << row.because;
    EXPECT_EQ(access.error().code(), Code::kInvalid) << row.because;
    EXPECT_NE(access.error().message().find(row.message), std::string::npos)
        << row.because << ": " << access.error().message();
  }
}

TEST(ClusterAccess, SaysWhereAKubeconfigWasLookedFor) {
  KubeConfig config;
  config.missing_files = {"/a", "/b"};
  auto access = Resolve(config);
  ASSERT_FALSE(access);
  EXPECT_EQ(access.error().code(), Code::kNotFound);
  EXPECT_EQ(access.error().message(),
            "no kubeconfig says where a cluster is (not there: '/a', '/b'); name one with "
            "--kubeconfig or KUBECONFIG");
}

}  // namespace
}  // namespace detent
