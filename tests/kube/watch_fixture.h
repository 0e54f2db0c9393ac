// A client in front of a FakeApiServer.

#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>

#include "core/base/log.h"
#include "core/kube/client.h"
#include "core/kube/watch.h"
#include "tests/kube/fake_api_server.h"
#include "tests/kube/watch_listener.h"

namespace detent::testing {

class WatchFixture : public ::testing::Test {
 protected:
  WatchFixture() {
    watch_options_.backoff_first = std::chrono::milliseconds(2);
    watch_options_.backoff_most = std::chrono::milliseconds(20);
    ClusterAccess access;
    access.server = server_.Url();
    KubeClientOptions options;
    options.tries_max = 1;  // What is repeated, the watch repeats.
    options.backoff_first = std::chrono::milliseconds(2);
    options.may_write = [this] { return may_write_.load(); };
    client_ = std::make_unique<KubeClient>(access, options, clock_, log_);
  }

  static std::string ThingPath(const std::string& name) {
    return "/api/v1/namespaces/ns/things/" + name;
  }
  void PutThings(int count) {
    for (int i = 0; i < count; ++i) server_.Put(ThingPath("t" + std::to_string(i)));
  }
  // The present version of an object, as the server has it.
  std::string VersionOf(const std::string& name) {
    const Json object = server_.Get(ThingPath(name));
    return object.is_null() ? "" : object.At("/metadata/resourceVersion")->as_string();
  }

  const WatchScope scope_{{"", "v1", "things", ""}, "ns", "", ""};
  WatchOptions watch_options_;
  SystemClock clock_;
  Logger log_{LogLevel::kError, [](std::string_view) {}};
  FakeApiServer server_;
  std::atomic<bool> may_write_{true};
  std::unique_ptr<KubeClient> client_;
};

}  // namespace detent::testing
