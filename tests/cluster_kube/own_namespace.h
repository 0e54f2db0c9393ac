// A test with a namespace of its own in front of a real API server.

#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>

#include "core/base/json.h"
#include "core/base/log.h"
#include "core/kube/client.h"
#include "tests/cluster_kube/real_server.h"

namespace detent::testing {

// Skipped where there is no server.
class OwnNamespace : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string path = FromEnvironment("DETENT_TEST_KUBECONFIG");
    if (path.empty()) GTEST_SKIP() << kNoCluster;
    const auto access = AccessOf(path);
    ASSERT_TRUE(access);
    access_ = *access;
    KubeClientOptions options;
    options.patience = std::chrono::seconds(5);  // Of writes while the server is away.
    client_ = std::make_unique<KubeClient>(access_, options, clock_, log_);
    ns_ = "test-" + std::to_string(getpid()) + "-" +
          std::to_string(clock_.Mono().time_since_epoch().count());
    path_ = "/api/v1/namespaces/" + ns_;
    const KubeReply made = client_->Fetch(
        Ask("POST", "/api/v1/namespaces", R"({"metadata":{"name":")" + ns_ + "\"}}"));
    ASSERT_EQ(made.outcome, KubeOutcome::kOk) << made.message;
  }
  void TearDown() override {
    if (client_ != nullptr) client_->Fetch(Ask("DELETE", path_));
  }

  // Name and version of each object of a collection, by a list of the test's own.
  std::map<std::string, std::string> VersionsOf(const std::string& collection) {
    std::map<std::string, std::string> versions;
    const KubeReply reply = client_->Fetch(Ask("GET", collection));
    EXPECT_EQ(reply.outcome, KubeOutcome::kOk) << reply.message;
    const auto list = ParseJson(reply.body);
    EXPECT_TRUE(list);
    for (const Json& item : list->Find("items")->as_array()) {
      versions[item.At("/metadata/name")->as_string()] =
          item.At("/metadata/resourceVersion")->as_string();
    }
    last_version_ = list->At("/metadata/resourceVersion")->as_string();
    return versions;
  }

  SystemClock clock_;
  Logger log_{LogLevel::kError, StandardErrorSink()};
  ClusterAccess access_;
  std::string ns_, path_;     // Its name, and where its objects are.
  std::string last_version_;  // Of the last list.
  std::unique_ptr<KubeClient> client_;
};

}  // namespace detent::testing
