// One host's webhook, without the rest of the host. It says where it serves, and then serves until
// SIGTERM:
//
//   webhook_server KUBECONFIG CERTIFICATE_LIFE_SECONDS RECHECK_MS SETTLE_MS
//
//   https://127.0.0.1:41233
//
// It knows one kind of executor, exec, and of its specs as much as the tests spoil.

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "core/base/json.h"
#include "core/kube/cluster_access.h"
#include "core/webhook/webhook.h"

namespace detent {
namespace {

class OnlyExec final : public SpecValidator {
 public:
  std::vector<std::string> Kinds() const override { return {"exec"}; }
  Diagnostics Validate(std::string_view, std::string_view spec_json) const override {
    Diagnostics mistakes;
    const auto spec = ParseJson(spec_json);
    if (!spec || spec->Find("command") == nullptr) {
      mistakes.push_back({"/command", Diagnostic::Reason::kRequired, "is required", ""});
    }
    const Json* timeout = spec ? spec->Find("timeoutSeconds") : nullptr;
    if (timeout != nullptr && timeout->is_int() && timeout->as_int() < 0) {
      mistakes.push_back(
          {"/timeoutSeconds", Diagnostic::Reason::kInvalid, "must not be negative", ""});
    }
    return mistakes;
  }
};

int ServeWebhook(char** args) {
  const SystemClock clock;
  Logger log(LogLevel::kInfo, StandardErrorSink());
  KubeEnvironment environment;
  environment.kubeconfig_flag = args[1];
  auto access = FindClusterAccess(environment);
  if (!access) {
    log.Error(access.error().message());
    return 1;
  }
  KubeClient client(*std::move(access), {}, clock, log);
  const OnlyExec validator;
  WebhookOptions options;
  options.listen = "127.0.0.1:0";
  options.certificate_life = std::chrono::seconds(std::atoi(args[2]));
  options.recheck = std::chrono::milliseconds(std::atoi(args[3]));
  options.settle = std::chrono::milliseconds(std::atoi(args[4]));
  auto webhook = Webhook::Start(options, {client, &validator, clock, log});
  if (!webhook) {
    log.Error(webhook.error().message());
    return 1;
  }
  std::printf("%s\n", (*webhook)->url().c_str());
  std::fflush(stdout);
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  int signal = 0;
  sigwait(&ends, &signal);
  (*webhook)->Stop();
  return 0;
}

}  // namespace
}  // namespace detent

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  std::signal(SIGPIPE, SIG_IGN);
  // Before any thread is made, so that all of them leave it to the wait.
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  return detent::ServeWebhook(argv);
}
