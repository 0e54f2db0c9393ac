// The webhook over HTTPS, in front of an API server that is a fake.

#include "core/webhook/webhook.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <mutex>

#include "core/webhook/certificate_records.h"
#include "tests/api/examples.h"
#include "tests/kube/fake_api_server.h"
#include "tests/support/http_client.h"

namespace detent {
namespace {

using testing::HttpAnswer;
using testing::HttpCall;
using testing::HttpServerAddress;

constexpr const char* kSecretPath = "/api/v1/namespaces/localhost/secrets/hook";
constexpr const char* kConfigurationPath =
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/detent";
constexpr const char* kConfigurationText =
    R"({"kind":"ValidatingWebhookConfiguration","metadata":{"name":"detent"},"webhooks":)"
    R"([{"name":"validate.execution.detent.dev","clientConfig":{}}]})";

class WebhookTest : public ::testing::Test {
 protected:
  WebhookTest() {
    ca_file_ = std::filesystem::temp_directory_path() /
               ("detent-webhook-ca-" + std::to_string(getpid()) + ".pem");
    server_.Put(kConfigurationPath, kConfigurationText);
    ClusterAccess access;
    access.server = server_.Url();
    KubeClientOptions client;
    client.backoff_first = std::chrono::milliseconds(2);
    client_ = std::make_unique<KubeClient>(access, client, clock_, log_);
    options_.listen = "127.0.0.1:0";
    options_.ns = "localhost";
    options_.service = "hook";
  }
  ~WebhookTest() override { std::filesystem::remove(ca_file_); }

  void Start() {
    auto started = Webhook::Start(options_, {*client_, &validator_, clock_, log_});
    ASSERT_TRUE(started) << started.error().message();
    webhook_ = std::move(started).value();
  }
  std::string Bundle() {
    const auto bundle = ReadTrustedBundle(DumpJson(server_.Get(kConfigurationPath)));
    return bundle ? bundle->pem : "";
  }
  bool WaitUntilReady() {
    return server_.WaitFor([&] { return webhook_->ready().has_value(); });
  }
  HttpAnswer Call(const std::string& method, const std::string& path, const std::string& body) {
    std::ofstream(ca_file_) << Bundle();
    const std::string& url = webhook_->url();
    HttpServerAddress address;
    // The certificate is for this name; whoever asks for it is sent to loopback.
    address.url = "https://hook.localhost" + url.substr(url.rfind(':'));
    address.ca_file = ca_file_;
    HttpCall call;
    call.method = method;
    call.path = path;
    call.body = body;
    return testing::Send(address, call);
  }
  size_t Logged(const std::string& text) {
    const std::lock_guard lock(log_mutex_);
    size_t found = 0;
    for (const std::string& line : lines_) found += line.find(text) != line.npos ? 1 : 0;
    return found;
  }

  SystemClock clock_;
  std::mutex log_mutex_;
  std::vector<std::string> lines_;  // Guarded by log_mutex_.
  Logger log_{LogLevel::kInfo, [this](std::string_view line) {
                const std::lock_guard lock(log_mutex_);
                lines_.emplace_back(line);
              }};
  std::filesystem::path ca_file_;
  testing::FakeApiServer server_;
  testing::TwoKinds validator_;
  WebhookOptions options_;
  std::unique_ptr<KubeClient> client_;
  std::unique_ptr<Webhook> webhook_;
};

TEST_F(WebhookTest, IsReadyWhenTheApiServerTrustsIt) {
  server_.Hold();
  Start();
  ASSERT_FALSE(webhook_->ready());
  server_.LetPass();
  ASSERT_TRUE(WaitUntilReady());
  EXPECT_NE(Bundle(), "");
  EXPECT_FALSE(server_.Get(kSecretPath).is_null());
  webhook_->Stop();
  EXPECT_FALSE(webhook_->ready());
}

// A review of a new Job that names a JobConfig.
std::string ReviewOf(const std::string& config) {
  const Json job(Json::Object{{"kind", "Job"},
                              {"metadata", Json::Object{{"name", "run"}}},
                              {"spec", Json::Object{{"configName", config}}}});
  const Json resource(Json::Object{{"group", kApiGroup}, {"resource", "jobs"}});
  const Json request(Json::Object{{"uid", "1"},
                                  {"operation", "CREATE"},
                                  {"resource", resource},
                                  {"namespace", "default"},
                                  {"object", job}});
  return DumpJson(Json::Object{
      {"apiVersion", "admission.k8s.io/v1"}, {"kind", "AdmissionReview"}, {"request", request}});
}

TEST_F(WebhookTest, AnswersReviewsToWhoeverTrustsTheCaBundle) {
  Start();
  ASSERT_TRUE(WaitUntilReady());
  server_.Put("/apis/execution.detent.dev/v1alpha1/namespaces/default/jobconfigs/nightly",
              DumpJson(testing::GoodJobConfig()));
  HttpAnswer answer = Call("POST", "/validate?timeout=3s", ReviewOf("nightly"));
  EXPECT_EQ(answer.status, 200) << answer.error;
  EXPECT_EQ(answer.body, R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview",)"
                         R"("response":{"uid":"1","allowed":true}})");
  answer = Call("POST", "/validate", ReviewOf("hourly"));
  EXPECT_EQ(answer.Text("/response/status/details/causes/0/field"), "spec.configName");
  answer = Call("POST", "/validate", "{}");
  EXPECT_EQ(answer.status, 400);
  EXPECT_NE(answer.Text("/message").find("no AdmissionReview"), std::string::npos);
  EXPECT_EQ(Call("GET", "/validate", "").status, 405);
  EXPECT_EQ(Call("POST", "/mutate", "{}").status, 404);
  EXPECT_EQ(Call("POST", "/validate", std::string(5 * 1024 * 1024, ' ')).status, 400)
      << "an update brings the object twice";
}

TEST_F(WebhookTest, PutsItsAuthorityBackAsSoonAsOthersTakeItAway) {
  Start();
  ASSERT_TRUE(WaitUntilReady());
  ASSERT_TRUE(server_.WaitFor([&] { return server_.watches() == 1; }));
  const std::string bundle = Bundle();
  server_.Put(kConfigurationPath, kConfigurationText);
  EXPECT_TRUE(server_.WaitFor([&] { return Bundle() == bundle; })) << "long before it is rechecked";
}

TEST_F(WebhookTest, SaysOnceWhatIsMissing) {
  server_.Remove(kConfigurationPath);
  Start();
  ASSERT_TRUE(server_.WaitFor([&] { return server_.Count("GET", kConfigurationPath) >= 3; }));
  EXPECT_EQ(Logged("the webhook is not in place"), 1u);
  ASSERT_FALSE(webhook_->ready());
  EXPECT_NE(webhook_->ready().error().message().find("`detent install`"), std::string::npos);
  server_.Put(kConfigurationPath, kConfigurationText);
  EXPECT_TRUE(WaitUntilReady());
}

TEST_F(WebhookTest, StopsWhileTheApiServerIsSilent) {
  server_.Hold();
  Start();
  const MonoTime begin = clock_.Mono();
  webhook_->Stop();
  EXPECT_LT(clock_.Mono() - begin, std::chrono::seconds(5));
  server_.LetPass();
}

TEST_F(WebhookTest, DoesNotStartWithWhatItCannotServe) {
  Start();
  options_.listen = webhook_->url().substr(std::string("https://").size());
  auto refused = Webhook::Start(options_, {*client_, &validator_, clock_, log_});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::kUnavailable);
  options_.listen = "127.0.0.1:0";
  options_.files = CertificateFiles{"/no/such/tls.crt", "/no/such/tls.key", ""};
  refused = Webhook::Start(options_, {*client_, &validator_, clock_, log_});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::kNotFound);
  EXPECT_NE(refused.error().message().find("/no/such/tls.crt"), std::string::npos);
}

}  // namespace
}  // namespace detent
