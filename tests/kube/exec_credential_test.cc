#include "core/kube/exec_credential.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/kube/base64.h"

namespace detent {
namespace {

using std::chrono::milliseconds;

constexpr const char* kExecVersion = "client.authentication.k8s.io/v1beta1";
const std::string kAuthorityText = "-----BEGIN X-----\n";

std::string Printed(const std::string& status, const std::string& version = kExecVersion) {
  return R"({"kind":"ExecCredential","apiVersion":")" + version + R"(","status":)" + status + "}";
}

TEST(ExecCredential, HasATokenOrACertificateAndMayEnd) {
  auto token = ParseExecCredential(
      Printed(R"({"token":"t","expirationTimestamp":"2026-11-21T10:00:00Z"})"), kExecVersion);
  ASSERT_TRUE(token) << token.error().message();
  EXPECT_EQ(token->token, "t");
  EXPECT_EQ(token->expires, ParseTime("2026-11-21T10:00:00Z"));
  auto both = ParseExecCredential(
      Printed(R"({"token":"t","expirationTimestamp":null,"clientCertificateData":)"
              R"("-----BEGIN C-----","clientKeyData":"-----BEGIN K-----"})"),
      kExecVersion);
  ASSERT_TRUE(both) << both.error().message();
  EXPECT_EQ(both->certificate_pem, "-----BEGIN C-----");
  EXPECT_EQ(both->key_pem, "-----BEGIN K-----");
  EXPECT_FALSE(both->expires);
}

TEST(ExecCredential, SaysWhatIsWrongWithItAndShowsNoSecret) {
  struct Row {
    std::string text;
    const char* says;
  };
  const Row rows[] = {
      {"s3cret", "it is not JSON"},
      {"", "it is not JSON"},
      {R"({"kind":"Pod"})", "kind must be ExecCredential"},
      {Printed("{}", "client.authentication.k8s.io/v1"), "apiVersion must be client.auth"},
      {Printed("null"), "status is required"},
      {Printed("{}"), "neither a token nor"},
      {Printed(R"({"token":""})"), "neither a token nor"},
      {Printed(R"({"token":5})"), "status.token must be a string, not integer"},
      {Printed(R"({"token":"s3cret\nx"})"), "status.token contains a space"},
      {Printed(R"({"clientCertificateData":"-----BEGIN C"})"), "go together; one is missing"},
      {Printed(R"({"clientCertificateData":"s3cret","clientKeyData":"s3cret"})"), "must be PEM"},
      {Printed(R"({"token":"s3cret","expirationTimestamp":"soon"})"), "must be a time"},
  };
  for (const Row& row : rows) {
    const auto parsed = ParseExecCredential(row.text, kExecVersion);
    ASSERT_FALSE(parsed) << row.text;
    EXPECT_NE(parsed.error().message().find(row.says), std::string::npos)
        << parsed.error().message();
    EXPECT_EQ(parsed.error().message().find("s3cret"), std::string::npos);
  }
}

class ExecPluginTest : public ::testing::Test {
 protected:
  ExecPluginTest() {
    directory_ =
        std::filesystem::temp_directory_path() / ("detent-exec-" + std::to_string(getpid()));
    std::filesystem::create_directories(directory_);
    plugin_.api_version = kExecVersion;
  }
  ~ExecPluginTest() override { std::filesystem::remove_all(directory_); }

  std::string Script(const std::string& text) {
    const auto path = directory_ / ("script" + std::to_string(++scripts_));
    std::ofstream(path) << "#!/bin/sh\n" << text;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }

  Result<ExecCredential> Run() {
    access_.credentials = plugin_;
    return RunExecPlugin(access_, kAuthorityText, {timeout_, stop_, clock_});
  }

  std::filesystem::path directory_;
  int scripts_ = 0;
  ExecPlugin plugin_;
  ClusterAccess access_;
  milliseconds timeout_{20'000};
  StopSignal stop_;
  SystemClock clock_;
};

TEST_F(ExecPluginTest, IsToldWhatItIsAskedInItsEnvironment) {
  access_.server = "https://1.2.3.4:6443";
  access_.tls.server_name = "api";
  plugin_.provide_cluster_info = true;
  plugin_.cluster_config.Set("audience", "x");
  plugin_.args = {"the token"};
  plugin_.env = {{"TOKEN_PREFIX", "p"}, {"HOME", "/nowhere"}};
  plugin_.command =
      Script("printf '%s' \"$KUBERNETES_EXEC_INFO\" > " + (directory_ / "info").string() +
             "\nread line && exit 9\ntoken=$(echo \"$TOKEN_PREFIX$HOME/$1\" | tr ' ' _)\n"
             "echo '" +
             Printed(R"({"token":"'$token'"})") + "'\n");
  const auto credential = Run();
  ASSERT_TRUE(credential) << credential.error().message();
  EXPECT_EQ(credential->token, "p/nowhere/the_token");
  const auto info = ParseJson(*ReadLocalFile(directory_ / "info"));
  ASSERT_TRUE(info) << info.error().message();
  const auto expected = ParseJson(
      R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1","spec":{)"
      R"("interactive":false,"cluster":{"server":"https://1.2.3.4:6443","tls-server-name":"api",)"
      R"("certificate-authority-data":")" +
      EncodeBase64(kAuthorityText) + R"(","config":{"audience":"x"}}}})");
  EXPECT_EQ(*info, *expected) << DumpJson(*info);
}

TEST_F(ExecPluginTest, IsToldNothingOfTheClusterThatItNeedNotKnow) {
  access_.server = "https://1.2.3.4:6443";
  access_.credentials = plugin_;
  EXPECT_EQ(ExecInfo(access_, kAuthorityText, false),
            std::string(R"({"kind":"ExecCredential","apiVersion":")") + kExecVersion +
                R"(","spec":{"interactive":false}})");
}

TEST_F(ExecPluginTest, FailsWithItsNameItsWordsAndHowToInstallIt) {
  struct Row {
    std::string command;
    const char* says;
  };
  const Row rows[] = {
      {"no-such-plugin-here",
       "run 'no-such-plugin-here': No such file or directory; apt install it"},
      {directory_ / "none", "No such file or directory; apt install it"},
      {directory_, "Permission denied"},
      {Script("echo one >&2; printf 'two \\033[31m' >&2; exit 7"), "exited with 7: one two [31m"},
      {Script("kill -TERM $$"), "exited with 143"},
      {Script("echo hello"), "printed is of no use: it is not JSON"},
      {Script("head -c 2000000 /dev/zero"), "printed more than 1048576 bytes"},
  };
  plugin_.install_hint = "apt install it";
  for (const Row& row : rows) {
    plugin_.command = row.command;
    const auto credential = Run();
    ASSERT_FALSE(credential);
    EXPECT_EQ(credential.error().code(), Code::kUnauthorized);
    EXPECT_NE(credential.error().message().find(row.says), std::string::npos)
        << credential.error().message();
  }
}

TEST_F(ExecPluginTest, IsEndedWithAllThatItBeganWhenItTakesTooLong) {
  timeout_ = milliseconds(300);
  plugin_.command =
      Script("tail -f /dev/null & echo $! > " + (directory_ / "pid").string() + "\nwait\n");
  const auto credential = Run();
  ASSERT_FALSE(credential);
  EXPECT_NE(credential.error().message().find("did not end within 300 ms"), std::string::npos);
  const auto pid = ReadLocalFile(directory_ / "pid");
  ASSERT_TRUE(pid);
  // It was killed, which may take it a moment.
  pollfd ended{static_cast<int>(syscall(SYS_pidfd_open, std::stoi(*pid), 0)), POLLIN, 0};
  if (ended.fd < 0) return;
  EXPECT_EQ(poll(&ended, 1, 20'000), 1);
  close(ended.fd);
}

TEST_F(ExecPluginTest, DoesNotMakeItsAnswerWaitForWhatItLeavesBehind) {
  plugin_.command = Script("tail -f /dev/null &\necho $! > " + (directory_ / "pid").string() +
                           "\necho '" + Printed(R"({"token":"t"})") + "'\n");
  const auto credential = Run();
  ASSERT_TRUE(credential) << credential.error().message();
  EXPECT_EQ(credential->token, "t");
  kill(std::stoi(*ReadLocalFile(directory_ / "pid")), SIGKILL);
}

TEST_F(ExecPluginTest, IsNotRunWhereItWouldAskAtATerminalThatIsNotThere) {
  const int input = dup(STDIN_FILENO);
  close(STDIN_FILENO);
  plugin_.input = ExecInput::kAlways;
  plugin_.command = Script("exit 1");
  const auto credential = Run();
  dup2(input, STDIN_FILENO);
  close(input);
  ASSERT_FALSE(credential);
  EXPECT_NE(credential.error().message().find("wants to ask at a terminal"), std::string::npos)
      << credential.error().message();
}

}  // namespace
}  // namespace detent
