// Hosts that keep a certificate in step, over a cluster that is a map.

#include "core/webhook/certificate_keeper.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "core/base/json.h"
#include "core/base/json_patch.h"

namespace detent {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr const char* kSecret = "/api/v1/namespaces/home/secrets/detent-webhook";
constexpr const char* kConfiguration =
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/detent";

class KeptClock final : public Clock {
 public:
  WallTime Now() const override { return FromUnixSeconds(1'800'000'000) + passed; }
  MonoTime Mono() const override { return MonoTime(passed); }
  milliseconds passed{0};
};

// Two objects with versions; answers as an API server does.
class TwoObjects {
 public:
  TwoObjects() { Install(); }

  void Install() {
    Put(kConfiguration, R"({"kind":"ValidatingWebhookConfiguration","metadata":{},"webhooks":)"
                        R"([{"name":"validate.execution.detent.dev","clientConfig":{}}]})");
  }
  void Remove(const std::string& path) { objects_.erase(path); }
  bool Has(const std::string& path) const { return objects_.count(path) > 0; }

  KubeReply Answer(const KubeRequest& request) {
    const std::string path = request.path.substr(0, request.path.find('?'));
    calls.push_back(request.method + " " + path);
    if (before) std::exchange(before, nullptr)();
    KubeReply reply;
    if (denied == path) return Refused(KubeOutcome::kDenied, "not allowed");
    if (request.method == "POST") {
      if (Has(kSecret)) return Refused(KubeOutcome::kAlreadyExists, "there");
      Put(kSecret, request.body);
      return reply;
    }
    const auto found = objects_.find(path);
    if (found == objects_.end()) return Refused(KubeOutcome::kNotFound, "nothing there");
    if (request.method == "PATCH") {
      const Json patch = *ParseJson(request.body);
      if (*patch.At("/metadata/resourceVersion") !=
          *found->second.At("/metadata/resourceVersion")) {
        return Refused(KubeOutcome::kConflict, "changed");
      }
      Put(path, DumpJson(MergePatch(found->second, patch)));
    }
    reply.body = DumpJson(objects_.at(path));
    return reply;
  }

  StoredCertificate Stored() const {
    return *ReadCertificateSecret(DumpJson(objects_.at(kSecret)));
  }
  std::string Bundle() const {
    return ReadTrustedBundle(DumpJson(objects_.at(kConfiguration)))->pem;
  }
  int Writes() const {
    return static_cast<int>(std::count_if(calls.begin(), calls.end(), [](const std::string& call) {
      return !call.starts_with("GET");
    }));
  }

  std::vector<std::string> calls;
  std::string denied;            // Requests to this path.
  std::function<void()> before;  // Called once, ahead of the next answer.

 private:
  void Put(const std::string& path, const std::string& text) {
    Json object = *ParseJson(text);
    object.Find("metadata")->Set("resourceVersion", std::to_string(++version_));
    objects_[path] = std::move(object);
  }
  static KubeReply Refused(KubeOutcome outcome, const std::string& message) {
    KubeReply reply;
    reply.outcome = outcome;
    reply.message = message;
    return reply;
  }

  std::map<std::string, Json> objects_;
  int version_ = 0;
};

class KeptHost {
 public:
  KeptHost(TwoObjects& cluster, const Clock& clock,
           std::optional<CertificateFiles> files = std::nullopt)
      : keeper_(
            Options(std::move(files)),
            {[&](const KubeRequest& request) { return cluster.Answer(request); }, clock, log_}) {
    const auto first = keeper_.First();
    EXPECT_TRUE(first) << first.error().message();
    if (first) shown = *first;
  }

  CertificateKeeper::Step Round() {
    auto step = keeper_.Round();
    if (step.show) shown = *step.show;
    return step;
  }

  ServingCertificate shown;

 private:
  static KeeperOptions Options(std::optional<CertificateFiles> files) {
    KeeperOptions options;
    options.ns = "home";
    options.service = "detent-webhook";
    options.files = std::move(files);
    return options;
  }

  Logger log_{LogLevel::kError, [](std::string_view) {}};
  CertificateKeeper keeper_;
};

class CertificateKeeperTest : public ::testing::Test {
 protected:
  KeptClock clock_;
  TwoObjects cluster_;
};

TEST_F(CertificateKeeperTest, TheFirstHostsCertificateBecomesTheSharedOne) {
  KeptHost host(cluster_, clock_);
  const auto step = host.Round();
  EXPECT_TRUE(step.trusted) << step.trusted.error().message();
  EXPECT_EQ(cluster_.Stored().serving, host.shown);
  EXPECT_EQ(cluster_.Bundle(), host.shown.authority);
  EXPECT_EQ(step.next, minutes(3));
  const int writes = cluster_.Writes();
  host.Round();
  EXPECT_EQ(cluster_.Writes(), writes) << "what is right is not written again";
}

TEST_F(CertificateKeeperTest, AnotherHostTakesTheSharedOneAtOnce) {
  KeptHost first(cluster_, clock_);
  first.Round();
  KeptHost second(cluster_, clock_);
  EXPECT_NE(second.shown, first.shown);
  EXPECT_TRUE(second.Round().trusted);
  EXPECT_EQ(second.shown, first.shown);
}

TEST_F(CertificateKeeperTest, OfTwoThatMakeOneAtATimeOneGivesWay) {
  KeptHost first(cluster_, clock_);
  KeptHost second(cluster_, clock_);
  // Between the second's look at the Secret and its creation.
  cluster_.before = [&] { cluster_.before = [&] { cluster_.before = [&] { first.Round(); }; }; };
  EXPECT_TRUE(second.Round().trusted || second.Round().trusted);
  EXPECT_EQ(second.shown, first.shown);
  EXPECT_EQ(cluster_.Bundle(), first.shown.authority);
}

TEST_F(CertificateKeeperTest, ARenewedCertificateIsTrustedBeforeItIsShown) {
  KeptHost first(cluster_, clock_);
  KeptHost second(cluster_, clock_);
  first.Round();
  second.Round();
  const ServingCertificate old = first.shown;
  clock_.passed += hours(240 * 24);
  first.Round();
  EXPECT_EQ(cluster_.Stored().serving, old) << "not yet two thirds of a year";
  clock_.passed += hours(5 * 24);
  auto step = first.Round();
  EXPECT_TRUE(step.trusted);
  EXPECT_EQ(step.next, seconds(30));
  const ServingCertificate renewed = cluster_.Stored().serving;
  EXPECT_NE(renewed, old);
  EXPECT_EQ(cluster_.Bundle(), renewed.authority + old.authority);
  EXPECT_EQ(first.shown, old);
  clock_.passed += seconds(20);
  second.Round();
  first.Round();
  EXPECT_EQ(first.shown, old) << "not every API server may know yet";
  clock_.passed += seconds(10);
  first.Round();
  second.Round();
  EXPECT_EQ(first.shown, renewed);
  EXPECT_EQ(second.shown, old) << "it has seen it later";
  clock_.passed += seconds(20);
  second.Round();
  EXPECT_EQ(second.shown, renewed);
  EXPECT_EQ(cluster_.Bundle(), renewed.authority + old.authority) << "until the next renewal";
}

TEST_F(CertificateKeeperTest, AHostThatSleptBeyondItsCertificatesEndTakesTheNewOneAtOnce) {
  KeptHost host(cluster_, clock_);
  host.Round();
  clock_.passed += hours(366 * 24);
  host.Round();
  EXPECT_EQ(host.shown, cluster_.Stored().serving);
  EXPECT_GT(TimesOf(host.shown.certificate)->ends, clock_.Now());
}

TEST_F(CertificateKeeperTest, ASecretThatIsDeletedIsAnOrderForAnotherCertificate) {
  KeptHost host(cluster_, clock_);
  host.Round();
  const ServingCertificate old = host.shown;
  cluster_.Remove(kSecret);
  host.Round();
  EXPECT_NE(cluster_.Stored().serving, old);
  EXPECT_EQ(cluster_.Stored().previous_authority, old.authority);
  EXPECT_EQ(host.shown, old);
  clock_.passed += seconds(30);
  host.Round();
  EXPECT_EQ(host.shown, cluster_.Stored().serving);
}

TEST_F(CertificateKeeperTest, ACaBundleThatOthersChangeIsPutRight) {
  KeptHost host(cluster_, clock_);
  host.Round();
  cluster_.Install();
  EXPECT_EQ(cluster_.Bundle(), "");
  EXPECT_TRUE(host.Round().trusted);
  EXPECT_EQ(cluster_.Bundle(), host.shown.authority);
}

TEST_F(CertificateKeeperTest, WithoutAConfigurationItSaysSoAndGoesOnTrying) {
  cluster_.Remove(kConfiguration);
  KeptHost host(cluster_, clock_);
  auto step = host.Round();
  ASSERT_FALSE(step.trusted);
  EXPECT_NE(step.trusted.error().message().find("`detent install`"), std::string::npos);
  EXPECT_TRUE(cluster_.Has(kSecret)) << "that is shared all the same";
  EXPECT_EQ(step.next, seconds(1));
  EXPECT_EQ(host.Round().next, seconds(2));
  for (int i = 0; i < 20; ++i) step = host.Round();
  EXPECT_EQ(step.next, seconds(64));
  cluster_.Install();
  step = host.Round();
  EXPECT_TRUE(step.trusted);
  EXPECT_EQ(step.next, minutes(3));
}

TEST_F(CertificateKeeperTest, WhatItMayNotDoIsTold) {
  KeptHost host(cluster_, clock_);
  cluster_.denied = kSecret;
  const auto step = host.Round();
  ASSERT_FALSE(step.trusted);
  EXPECT_EQ(step.trusted.error().code(), Code::kForbidden);
  EXPECT_NE(step.trusted.error().message().find("read Secret home/detent-webhook: not allowed"),
            std::string::npos);
}

class CertificateFilesTest : public CertificateKeeperTest {
 protected:
  CertificateFilesTest() {
    directory_ =
        std::filesystem::temp_directory_path() / ("detent-webhook-" + std::to_string(getpid()));
    std::filesystem::create_directories(directory_);
  }
  ~CertificateFilesTest() override { std::filesystem::remove_all(directory_); }

  std::string Path(const std::string& name) const { return directory_ / name; }
  ServingCertificate Write(const ServingCertificate& serving) const {
    std::ofstream(Path("tls.crt")) << serving.certificate;
    std::ofstream(Path("tls.key")) << serving.key;
    std::ofstream(Path("ca.crt")) << serving.authority;
    return serving;
  }
  ServingCertificate WriteNew() const {
    return Write(*MakeCertificate({"detent-webhook.home.svc"}, clock_.Now()));
  }

  std::filesystem::path directory_;
};

TEST_F(CertificateFilesTest, AreReadAgainAndTheCaBundleIsOthers) {
  ServingCertificate given = WriteNew();
  KeptHost host(cluster_, clock_, CertificateFiles{Path("tls.crt"), Path("tls.key"), ""});
  EXPECT_EQ(host.shown.certificate, given.certificate);
  EXPECT_TRUE(host.Round().trusted);
  given = WriteNew();
  EXPECT_TRUE(host.Round().trusted);
  EXPECT_EQ(host.shown.certificate, given.certificate);
  EXPECT_EQ(cluster_.Writes(), 0);
  EXPECT_FALSE(cluster_.Has(kSecret));
}

TEST_F(CertificateFilesTest, WithAnAuthorityThatGoesIntoTheCaBundle) {
  const ServingCertificate given = WriteNew();
  KeptHost host(cluster_, clock_,
                CertificateFiles{Path("tls.crt"), Path("tls.key"), Path("ca.crt")});
  EXPECT_TRUE(host.Round().trusted);
  EXPECT_EQ(cluster_.Bundle(), given.authority);
}

TEST_F(CertificateFilesTest, ThatDoNotFitOrHaveEndedAreToldAndNotShown) {
  const ServingCertificate given = WriteNew();
  KeptHost host(cluster_, clock_, CertificateFiles{Path("tls.crt"), Path("tls.key"), ""});
  std::ofstream(Path("tls.key")) << MakeCertificate({"x"}, clock_.Now())->key;
  auto step = host.Round();
  ASSERT_FALSE(step.trusted);
  EXPECT_NE(step.trusted.error().message().find("the key is not the certificate's"),
            std::string::npos)
      << step.trusted.error().message();
  EXPECT_EQ(host.shown.certificate, given.certificate);
  Write(given);
  EXPECT_TRUE(host.Round().trusted);
  clock_.passed += hours(366 * 24);
  step = host.Round();
  ASSERT_FALSE(step.trusted);
  EXPECT_NE(step.trusted.error().message().find("replace it"), std::string::npos);
}

}  // namespace
}  // namespace detent
