#include "core/webhook/certificate.h"

#include <gtest/gtest.h>

#include "core/base/json.h"
#include "core/webhook/certificate_records.h"

namespace detent {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

const std::vector<std::string> kNames = {"detent-webhook.detent.svc", "detent-webhook.detent"};
const WallTime kStart = FromUnixSeconds(1'800'000'000);

ServingCertificate Made(const std::vector<std::string>& names = kNames) {
  auto made = MakeCertificate(names, kStart);
  EXPECT_TRUE(made) << made.error().message();
  return made ? *made : ServingCertificate{};
}

TEST(Certificate, IsForItsNamesAndLivesAYear) {
  const auto times = CheckCertificate(Made(), kNames);
  ASSERT_TRUE(times) << times.error().message();
  EXPECT_EQ(times->ends, kStart + hours(365 * 24));
  EXPECT_EQ(times->begins, kStart - minutes(5)) << "clocks that are behind believe it, too";
  EXPECT_GT(times->renewed(), kStart + hours(243 * 24));
  EXPECT_LT(times->renewed(), kStart + hours(244 * 24));
}

TEST(Certificate, AShortLifeIsNotSpentBeforeItBegins) {
  const auto made = MakeCertificate(kNames, kStart, seconds(20));
  ASSERT_TRUE(made);
  const auto times = TimesOf(made->certificate);
  ASSERT_TRUE(times);
  EXPECT_EQ(times->begins, kStart - seconds(2));
  EXPECT_GT(times->renewed(), kStart + seconds(10));
}

TEST(Certificate, TwoHaveNothingInCommon) {
  const ServingCertificate a = Made();
  const ServingCertificate b = Made();
  EXPECT_NE(a.authority, b.authority);
  EXPECT_NE(a.certificate, b.certificate);
  EXPECT_NE(a.key, b.key);
  EXPECT_EQ(a.authority.find("PRIVATE KEY"), std::string::npos);
}

TEST(Certificate, SaysWhyItCannotBeUsed) {
  const ServingCertificate good = Made();
  const ServingCertificate other = Made();
  struct Row {
    ServingCertificate serving;
    const char* part;
    const char* because;
  };
  const Row rows[] = {
      {{other.authority, good.certificate, good.key}, "not signed by the authority", "a stranger"},
      {{good.authority, good.certificate, other.key}, "the key is not the certificate's", "a key"},
      {{"", good.certificate, ""}, "the key is no PEM private key", "no key"},
      {{good.authority, "garbage", good.key}, "the certificate is no PEM certificate", "garbage"},
      {{"garbage", good.certificate, good.key}, "the authority is no PEM certificate", "garbage"},
      {Made({"detent-webhook.other.svc"}), "is not for detent-webhook.detent.svc", "another name"},
  };
  for (const Row& row : rows) {
    const auto checked = CheckCertificate(row.serving, kNames);
    ASSERT_FALSE(checked) << row.because;
    EXPECT_EQ(checked.error().code(), Code::kInvalid);
    EXPECT_NE(checked.error().message().find(row.part), std::string::npos)
        << row.because << ": " << checked.error().message();
  }
}

TEST(CertificateSecret, IsReadAsItWasWritten) {
  const StoredCertificate stored{Made(), Made().authority, "7"};
  Json secret = *ParseJson(NewCertificateSecret("home", "detent-webhook", stored));
  EXPECT_EQ(*secret.Find("type"), Json("kubernetes.io/tls"));
  EXPECT_EQ(*secret.At("/metadata/namespace"), Json("home"));
  secret.Find("metadata")->Set("resourceVersion", "7");
  const auto read = ReadCertificateSecret(DumpJson(secret));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->serving, stored.serving);
  EXPECT_EQ(read->previous_authority, stored.previous_authority);
  EXPECT_EQ(read->resource_version, "7");
  const Json patch = *ParseJson(CertificateSecretPatch(*read));
  EXPECT_EQ(*patch.At("/metadata/resourceVersion"), Json("7"));
  EXPECT_EQ(*patch.Find("data"), *secret.Find("data"));
}

TEST(CertificateSecret, WhatIsNoSecretIsAnErrorAndWhatItLacksIsEmpty) {
  EXPECT_FALSE(ReadCertificateSecret("{}"));
  EXPECT_FALSE(ReadCertificateSecret(""));
  const auto read = ReadCertificateSecret(R"({"kind":"Secret","data":{"tls.key":"?"}})");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->serving, ServingCertificate{});
}

TEST(TrustedBundle, IsOfOurEntryAndOwnsNothingElse) {
  const std::string text =
      R"({"kind":"ValidatingWebhookConfiguration","metadata":{"resourceVersion":"9"},"webhooks":[)"
      R"({"name":"other","clientConfig":{"caBundle":"b3RoZXI="}},)"
      R"({"name":"validate.execution.detent.dev","clientConfig":{"caBundle":"b3Vycw=="}}]})";
  const auto bundle = ReadTrustedBundle(text);
  ASSERT_TRUE(bundle) << bundle.error().message();
  EXPECT_EQ(bundle->pem, "ours");
  EXPECT_EQ(
      TrustedBundleApply(*bundle),
      R"({"apiVersion":"admissionregistration.k8s.io/v1","kind":)"
      R"("ValidatingWebhookConfiguration","metadata":{"name":"detent","resourceVersion":"9"},)"
      R"("webhooks":[{"name":"validate.execution.detent.dev","clientConfig":)"
      R"({"caBundle":"b3Vycw=="}}]})");
}

TEST(TrustedBundle, AConfigurationOfAnOlderVersionIsAnErrorThatSaysWhatToDo) {
  const auto bundle = ReadTrustedBundle(R"({"kind":"ValidatingWebhookConfiguration"})");
  ASSERT_FALSE(bundle);
  EXPECT_NE(bundle.error().message().find("`detent install`"), std::string::npos);
}

}  // namespace
}  // namespace detent
