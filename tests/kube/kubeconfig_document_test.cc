// What one document says: ParseKubeConfig.

#include <gtest/gtest.h>

#include "core/kube/kubeconfig.h"

namespace detent {
namespace {

constexpr const char* kFull = R"(apiVersion: v1
kind: Config
preferences: {colors: true}
current-context: work
clusters:
- name: one
  cluster:
    server: https://one:6443
    tls-server-name: api.one
    certificate-authority: pki/ca.pem
    certificate-authority-data: Zm9v
    proxy-url: http://proxy:3128
    disable-compression: true
    unknown: [1, 2]
    extensions:
    - name: client.authentication.k8s.io/exec
      extension: {audience: x}
    - name: other
      extension: 1
- name: two
  cluster: {server: "https://two", insecure-skip-tls-verify: true}
contexts:
- name: work
  context: {cluster: one, user: alice, namespace: batch}
users:
- name: alice
  user:
    client-certificate: alice.pem
    client-key: /abs/alice.key
    client-certificate-data: Zm9v
    client-key-data: YmFy
    token: t
    tokenFile: ../token
    username: u
    password: p
    as: root
    as-uid: "0"
    as-groups: [a, b]
    as-user-extra: {acme.com/team: [x, y]}
- name: plugin
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: ./bin/login
      args: [--now]
      env: [{name: A, value: b}]
      installHint: get it
      interactiveMode: Never
      provideClusterInfo: true
- name: old
  user: {auth-provider: {name: gcp}}
)";

TEST(KubeConfigDocument, ReadsEveryFieldOfAClusterAndAContext) {
  auto config = ParseKubeConfig(kFull, "/etc/kube/config");
  ASSERT_TRUE(config) << config.error().message();
  EXPECT_EQ(config->current_context, "work");
  ASSERT_EQ(config->clusters.size(), 2u);
  const KubeCluster& one = config->clusters.at("one");
  EXPECT_EQ(one.server, "https://one:6443");
  EXPECT_EQ(one.tls_server_name, "api.one");
  EXPECT_EQ(one.certificate_authority, "/etc/kube/pki/ca.pem");
  EXPECT_EQ(one.certificate_authority_data, "foo");
  EXPECT_EQ(one.proxy_url, "http://proxy:3128");
  EXPECT_TRUE(one.disable_compression);
  EXPECT_FALSE(one.insecure_skip_tls_verify);
  EXPECT_EQ(DumpJson(one.exec_extension), R"({"audience":"x"})");
  EXPECT_TRUE(config->clusters.at("two").insecure_skip_tls_verify);
  EXPECT_EQ(one.origin.file, "/etc/kube/config");
  EXPECT_EQ(one.origin.field, "clusters[0].cluster");
  EXPECT_EQ(one.origin.line, 7);
  const KubeContext& work = config->contexts.at("work");
  EXPECT_EQ(work.cluster + "/" + work.user + "/" + work.namespace_name, "one/alice/batch");
}

TEST(KubeConfigDocument, ReadsEveryFieldOfAUser) {
  auto config = ParseKubeConfig(kFull, "/etc/kube/config");
  ASSERT_TRUE(config) << config.error().message();
  const KubeUser& alice = config->users.at("alice");
  EXPECT_EQ(alice.client_certificate, "/etc/kube/alice.pem");
  EXPECT_EQ(alice.client_key, "/abs/alice.key");
  EXPECT_EQ(alice.client_certificate_data + alice.client_key_data, "foobar");
  EXPECT_EQ(alice.token, "t");
  EXPECT_EQ(alice.token_file, "/etc/token");
  EXPECT_EQ(alice.username + alice.password, "up");
  EXPECT_EQ(alice.as + alice.as_uid, "root0");
  EXPECT_EQ(alice.as_groups, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(alice.as_user_extra.at("acme.com/team"), (std::vector<std::string>{"x", "y"}));
  EXPECT_FALSE(alice.exec || alice.has_auth_provider);
  ASSERT_TRUE(config->users.at("plugin").exec);
  const KubeExec& exec = *config->users.at("plugin").exec;
  EXPECT_EQ(exec.command, "/etc/kube/bin/login");
  EXPECT_EQ(exec.args, std::vector<std::string>{"--now"});
  ASSERT_EQ(exec.env.size(), 1u);
  EXPECT_EQ(exec.env[0].first + exec.env[0].second, "Ab");
  EXPECT_EQ(exec.api_version, "client.authentication.k8s.io/v1");
  EXPECT_EQ(exec.install_hint + exec.interactive_mode, "get itNever");
  EXPECT_TRUE(exec.provide_cluster_info);
  EXPECT_TRUE(config->users.at("old").has_auth_provider);
}

TEST(KubeConfigDocument, AcceptsWhatKubectlAccepts) {
  const struct {
    const char* text;
    size_t clusters;
    const char* because;
  } rows[] = {
      {"", 0, "an empty file"},
      {"# nothing\n---\n", 0, "a file of comments"},
      {"{}", 0, "an empty object"},
      {"clusters: null\nusers: []\ncontexts:\n", 0, "null is absent"},
      {"clusters: [{name: a}]", 1, "what is missing matters when it is used"},
      {"clusters: [{name: a, cluster: null}]", 1, "likewise"},
      {R"({"clusters":[{"name":"a","cluster":{"server":"https://\u0061"}}]})", 1, "JSON"},
      {"\t{\"clusters\":\n\t[{\"name\":\"\\ud83d\\ude00\"}]}", 1, "JSON that YAML does not read"},
      {"a: &x {name: a}\nclusters: [*x]", 1, "an alias"},
  };
  for (const auto& row : rows) {
    auto config = ParseKubeConfig(row.text, "f");
    ASSERT_TRUE(config) << row.because << ": " << config.error().message();
    EXPECT_EQ(config->clusters.size(), row.clusters) << row.because;
    EXPECT_EQ(config->empty(), row.clusters == 0) << row.because;
  }
}

TEST(KubeConfigDocument, NamesTheFileTheLineAndTheFieldOfAMistake) {
  const struct {
    const char* text;
    const char* message;
    const char* because;
  } rows[] = {
      {"- a", "f:1:1: must be an object, not array", "a list is no config"},
      {"kind: Pod", "f:1:1: kind: must be 'Config'", "another kind"},
      {"apiVersion: v2", "f:1:1: apiVersion: must be 'v1'", "another version"},
      {"users: {}", "f:1:1: users: must be a list, not object", "a map of users"},
      {"users:\n- user: {}", "f:2:3: users[0].name: is required", "no name"},
      {"users: [1]", "f:1:9: users[0]: must be an object, not integer", "no object"},
      {"users:\n- name: a\n- name: a", "f:3:3: users[1].name: 'a' is given twice", "twice"},
      {"users: [{name: a, user: {as-groups: x}}]", "as-groups: must be a list of strings",
       "a text"},
      {"users: [{name: a, user: {as-groups: [x, 1]}}]", "users[0].user.as-groups[1]: must be", "1"},
      {"users: [{name: a, user: {as-user-extra: {k: v}}}]", "as-user-extra.k: must be a", "a text"},
      {"users: [{name: a, user: {exec: run}}]", "users[0].user.exec: must be an object", "a text"},
      {"clusters: [{name: a, cluster: {insecure-skip-tls-verify: 'true'}}]",
       "insecure-skip-tls-verify: must be true or false, not string (write it without quotes)",
       "a string is no bool"},
      {"clusters: [{name: a, cluster: {certificate-authority-data: ca.pem}}]",
       "clusters[0].cluster.certificate-authority-data: is not base64", "a path instead of data"},
      {"a: 1\n---\nb: 2", "f must hold one document, not 2", "two documents"},
      {"a: [", "f:1:", "bad syntax"},
      {"a: \"\\q\"", "unknown escape character: (not shown)", "which may be of a password"},
      {"clusters: []\nclusters: []", "f:2:1: the key (not shown) is given twice", "a key twice"},
  };
  for (const auto& row : rows) {
    auto config = ParseKubeConfig(row.text, "f");
    ASSERT_FALSE(config) << row.because;
    EXPECT_EQ(config.error().code(), Code::kInvalid) << row.because;
    EXPECT_NE(config.error().message().find(row.message), std::string::npos)
        << row.because << ": " << config.error().message();
  }
}

TEST(KubeConfigDocument, ReportsAllMistakesAtOnce) {
  auto config = ParseKubeConfig("kind: 1\nusers:\n- name: a\n  user: {token: 5}\n", "");
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().message(),
            "line 1, column 1: kind: must be a string, not integer (put it in quotes)\n"
            "line 4, column 10: users[0].user.token: must be a string, not integer (put it in "
            "quotes)");
}

TEST(KubeConfigDocument, NeverShowsASecret) {
  const char* values[] = {"*s3cret",
                          "!s3cret",
                          "!!int s3cret",
                          "!<s3cret> x",
                          "!!s3cret x",
                          "[s3cret",
                          "{s3cret",
                          "\"s3cret",
                          "\"\\qs3cret\"",
                          "'s3cret",
                          "%s3cret: x: y",
                          "@s3cret",
                          "`s3cret",
                          "s3cret: s3cret",
                          "&s3cret *s3cret",
                          "| s3cret",
                          "|s3cret",
                          "- s3cret",
                          "[a]: s3cret\n  s3cret",
                          "[s3cret]",
                          "{s3cret: s3cret}",
                          "\n    ? s3cret\n    ? s3cret"};
  for (const char* field : {"token", "password", "client-key-data", "username"}) {
    for (const char* value : values) {
      const std::string text =
          std::string("users:\n- name: a\n  user:\n    ") + field + ": " + value + "\n";
      auto config = ParseKubeConfig(text, "f");
      ASSERT_FALSE(config) << value;
      EXPECT_EQ(config.error().message().find("s3cret"), std::string::npos)
          << config.error().message();
    }
  }
}

TEST(KubeConfigDocument, SurvivesHostileText) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 10; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last;
    for (int k = 0; k < 9; ++k) bomb += ", " + last;
    bomb += "]\n";
  }
  const struct {
    std::string text;
    const char* because;
  } rows[] = {
      {bomb, "aliases of aliases"},
      {"a: &a [*a]", "an alias within itself"},
      {std::string(100'000, '['), "deep nesting"},
      {"users: " + std::string(65, '[') + std::string(65, ']'), "a little too deep"},
      {"a: \xFF\xFE", "no UTF-8"},
      {std::string("a: \0", 4), "a NUL"},
      {"? [a]\n: b", "a key that is a list"},
  };
  for (const auto& row : rows) {
    auto config = ParseKubeConfig(row.text, "f");
    ASSERT_FALSE(config) << row.because;
    EXPECT_LT(config.error().message().size(), 300u) << row.because;
  }
}

TEST(KubeConfigDocument, ReadsThreeMebibytes) {
  std::string text = "clusters:\n";
  size_t count = 0;
  while (text.size() < 3u * 1024 * 1024) {
    text += "- name: c" + std::to_string(count++) + "\n  cluster:\n    server: https://host\n" +
            "    certificate-authority-data: " + std::string(2048, 'A') + "\n";
  }
  auto config = ParseKubeConfig(text, "f");
  ASSERT_TRUE(config) << config.error().message();
  EXPECT_EQ(config->clusters.size(), count);
}

TEST(KubeConfigDocument, TakesRelativePathsFromTheFilesDirectory) {
  const struct {
    const char* file;
    const char* path;
    const char* resolved;
    const char* because;
  } rows[] = {
      {"/etc/kube/config", "ca.pem", "/etc/kube/ca.pem", "beside the file"},
      {"/etc/kube/config", "./a/../ca.pem", "/etc/kube/ca.pem", "tidied up"},
      {"/etc/kube/config", "/ca.pem", "/ca.pem", "absolute already"},
      {"/etc/kube/config", "/a/../ca.pem", "/a/../ca.pem", "and kept: 'a' may be a link"},
      {"conf/kube", "ca.pem", "conf/ca.pem", "as relative as the file"},
      {"kube", "ca.pem", "ca.pem", "in the working directory"},
      {"", "ca.pem", "ca.pem", "the text came from no file"},
  };
  for (const auto& row : rows) {
    const std::string path = row.path;
    auto config = ParseKubeConfig("users: [{name: a, user: {tokenFile: " + path + "}}]", row.file);
    ASSERT_TRUE(config) << row.because;
    EXPECT_EQ(config->users.at("a").token_file, row.resolved) << row.because;
  }
  auto config = ParseKubeConfig("users: [{name: a, user: {exec: {command: aws}}}]", "/etc/config");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->users.at("a").exec->command, "aws") << "a bare name is for PATH";
}

}  // namespace
}  // namespace detent
