// A KubeClient in front of a server of the test's making, and what comes back to it.

#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/log.h"
#include "core/base/random.h"
#include "core/kube/client.h"
#include "tests/net/tls_server.h"

namespace detent::testing {

// Waits at most 20 seconds for what the client's thread does.
class KubeReplies {
 public:
  KubeCallback Next() {
    return [this, number = asked_++](KubeReply&& reply) {
      std::lock_guard lock(mutex_);
      ++calls_;
      replies_[number] = std::move(reply);
      changed_.notify_all();
    };
  }
  // For on_data.
  std::function<void(std::string_view)> Text() {
    return [this](std::string_view piece) {
      std::lock_guard lock(mutex_);
      text_ += piece;
      changed_.notify_all();
    };
  }
  bool WaitAll() {
    return WaitUntil([this] { return replies_.size() == static_cast<size_t>(asked_); });
  }
  bool WaitText(const std::string& text) {
    return WaitUntil([&] { return text_ == text; });
  }
  const KubeReply& at(int number) { return replies_.at(number); }
  size_t size() {
    std::lock_guard lock(mutex_);
    return replies_.size();
  }
  int calls() const { return calls_; }

 private:
  template <typename Holds>
  bool WaitUntil(Holds&& holds) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), holds);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<int, KubeReply> replies_;  // Guarded by mutex_, as are the next two.
  std::string text_;
  int calls_ = 0;
  int asked_ = 0;
};

class KubeClientTest : public ::testing::Test {
 protected:
  KubeClientTest() {
    options_.backoff_first = std::chrono::milliseconds(4);
    options_.random = &random_;
    directory_ =
        std::filesystem::temp_directory_path() / ("detent-kube-client-" + std::to_string(getpid()));
    std::filesystem::create_directories(directory_);
  }
  ~KubeClientTest() override { std::filesystem::remove_all(directory_); }

  // To be held by the test, behind all that the handler makes use of.
  [[nodiscard]] std::unique_ptr<TlsServer> Serve(ServedHandler handler,
                                                 const std::string& client_ca_pem = "") {
    auto server = std::make_unique<TlsServer>(identity_, TlsServerOptions{true, client_ca_pem, 0},
                                              std::move(handler));
    access_.server = "https://127.0.0.1:" + std::to_string(server->port());
    access_.tls.authority.data = identity_.ca_pem;
    return server;
  }

  std::unique_ptr<KubeClient> MakeClient() {
    return std::make_unique<KubeClient>(access_, options_, clock_, log_);
  }

  // Replaced as a whole, as who rotates it does.
  std::string Write(const std::string& name, const std::string& text) const {
    const auto path = directory_ / name;
    std::ofstream(path.string() + ".new") << text;
    std::filesystem::rename(path.string() + ".new", path);
    return path;
  }
  std::string WriteScript(const std::string& name, const std::string& text) const {
    const std::string path = Write(name, "#!/bin/sh\n" + text);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }

  // Lines of the log that contain `text`.
  size_t Logged(const std::string& text) {
    std::lock_guard lock(log_mutex_);
    return static_cast<size_t>(
        std::count_if(lines_.begin(), lines_.end(),
                      [&](const std::string& line) { return line.find(text) != line.npos; }));
  }

  const Identity identity_ = MakeIdentity("IP:127.0.0.1,DNS:localhost");
  SystemClock clock_;
  SeededRandom random_{7};
  std::mutex log_mutex_;
  std::vector<std::string> lines_;  // Guarded by log_mutex_.
  Logger log_{LogLevel::kInfo, [this](std::string_view line) {
                std::lock_guard lock(log_mutex_);
                lines_.emplace_back(line);
              }};
  std::filesystem::path directory_;
  ClusterAccess access_;
  KubeClientOptions options_;
  KubeReplies replies_;
};

inline KubeRequest Get(const std::string& path) {
  KubeRequest request;
  request.path = path;
  return request;
}

inline KubeRequest Post(const std::string& path, const std::string& body) {
  KubeRequest request;
  request.method = "POST";
  request.path = path;
  request.body = body;
  return request;
}

}  // namespace detent::testing
