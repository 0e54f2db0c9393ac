#include "tests/contract/contract_server.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>

#include "core/base/metrics.h"
#include "core/base/random.h"
#include "core/http/api.h"
#include "core/http/server.h"
#include "core/store/sqlite_store.h"

namespace detent::testing {
namespace {

class AnySpec final : public SpecValidator {
 public:
  std::vector<std::string> Kinds() const override { return {"exec", "http"}; }
  Diagnostics Validate(std::string_view, std::string_view) const override { return {}; }
};

class NoAdmin final : public Admin {
 public:
  Result<std::vector<std::string>> Explain(const ObjectKey& key) override {
    return std::vector<std::string>{ToString(key) + " is where it is"};
  }
  std::vector<PluginInfo> Plugins() override { return {}; }
  Result<void> ReloadPlugin(std::string_view kind) override {
    return Error(Code::kNotFound, "no executor of kind '" + std::string(kind) + "'");
  }
  Result<LogChunk> ReadLog(const LogQuery&) override {
    return Error(Code::kUnsupported, "no output is kept");
  }
  std::vector<std::pair<std::string, Json>> ExecutorSchemas() override { return {}; }
};

std::filesystem::path FreshDirectory() {
  std::string pattern =
      (std::filesystem::temp_directory_path() / "detent-contract-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) abort();
  return pattern;
}

// Our own server; its members go in the opposite order of their making.
class OwnServer {
 public:
  OwnServer() : directory_(FreshDirectory()) {
    SqliteStore::Options options;
    options.directory = directory_.string();
    MakePast(options);
    store_ = SqliteStore::Open(options).value();
    context_.store = store_.get();
    context_.clock = &clock_;
    context_.random = &random_;
    context_.validator = &validator_;
    context_.admin = &admin_;
    context_.metrics = &metrics_;
    ServerOptions server;
    server.listeners = {{"127.0.0.1:0", std::nullopt}};
    server_ = Server::Start(server, MakeApi(context_), clock_, nullptr).value();
  }
  ~OwnServer() {
    server_.reset();
    store_.reset();
    std::filesystem::remove_all(directory_);
  }
  std::string url() const { return server_->urls().front(); }

 private:
  // Changes of a process before this one: as on any server that has been there for a while, the
  // first versions are too old to watch from.
  static void MakePast(const SqliteStore::Options& options) {
    const auto store = SqliteStore::Open(options).value();
    for (const char* name : {"once", "upon", "a-time"}) {
      auto object = std::make_shared<Object>();
      object->kind = Kind::kJobConfig;
      object->meta.ns = "past";
      object->meta.name = name;
      object->spec = "{}";
      Transaction transaction;
      transaction.push_back({WriteOp::kCreate, std::move(object), 0, nullptr});
      if (!SubmitAndWait(*store, std::move(transaction))) abort();
    }
  }

  const std::filesystem::path directory_;
  SystemClock clock_;
  SystemRandom random_;
  AnySpec validator_;
  NoAdmin admin_;
  Metrics metrics_;
  ApiContext context_;
  std::unique_ptr<SqliteStore> store_;
  std::unique_ptr<Server> server_;
};

std::string Environment(const char* name, const std::string& absent) {
  const char* value = getenv(name);
  return value == nullptr ? absent : value;
}

// A test environment, so that it is gone before the process' statics are.
class Servers final : public ::testing::Environment {
 public:
  static HttpServerAddress& Address() {
    static HttpServerAddress address;
    return address;
  }
  void SetUp() override {
    Address().url = ::detent::testing::Environment("DETENT_CONTRACT_SERVER", "");
    Address().token = ::detent::testing::Environment("DETENT_CONTRACT_TOKEN", "");
    if (!Address().url.empty()) return;
    own_ = std::make_unique<OwnServer>();
    Address().url = own_->url();
  }
  void TearDown() override { own_.reset(); }

 private:
  std::unique_ptr<OwnServer> own_;
};

[[maybe_unused]] const ::testing::Environment* const kServers =
    ::testing::AddGlobalTestEnvironment(new Servers);

}  // namespace

const HttpServerAddress& ContractServer() {
  return Servers::Address();
}

bool ContractServerIsOurs() {
  return Environment("DETENT_CONTRACT_SERVER", "").empty();
}

std::string ContractGroup() {
  return Environment("DETENT_CONTRACT_GROUP", kApiGroup);
}

std::string AllPathOf(const std::string& resource) {
  return "/apis/" + ContractGroup() + "/v1alpha1/" + resource;
}

std::string PathOf(const std::string& resource, const std::string& name) {
  return "/apis/" + ContractGroup() + "/v1alpha1/namespaces/default/" + resource +
         (name.empty() ? "" : "/" + name);
}

std::string FreshName(const std::string& base) {
  static std::atomic<int> next{0};
  SystemRandom random;
  return base + "-" + std::to_string(next++) + "-" + RandomSuffix(random);
}

std::string JobConfigText(const std::string& name, const std::string& more_metadata) {
  const std::string more = more_metadata.empty() ? "" : "," + more_metadata;
  return R"({"apiVersion":")" + ContractGroup() + R"(/v1alpha1","kind":"JobConfig","metadata":)" +
         R"({"name":")" + name + "\"" + more + R"(},"spec":{"concurrency":{"policy":"Allow"},)" +
         R"("schedule":{"cron":{"expression":"0 * * * *"}},"template":{"spec":{"taskTemplate":)" +
         R"({"exec":{"command":["true"]}}}}}})";
}

std::string JobText(const std::string& name) {
  return R"({"apiVersion":")" + ContractGroup() + R"(/v1alpha1","kind":"Job","metadata":)" +
         R"({"name":")" + name + R"("},"spec":{"template":{"taskTemplate":)" +
         R"({"exec":{"command":["true"]}}}}})";
}

HttpAnswer Do(const std::string& method, const std::string& path, const std::string& body,
              const std::string& content_type) {
  HttpCall call;
  call.method = method;
  call.path = path;
  call.body = body;
  call.content_type = content_type;
  return Send(ContractServer(), call);
}

HttpAnswer GetAs(const std::string& path, const std::string& accept) {
  HttpCall call;
  call.path = path;
  call.accept = accept;
  return Send(ContractServer(), call);
}

HttpCall WatchOf(const std::string& resource, const std::string& query) {
  HttpCall call;
  call.path = PathOf(resource) + "?watch=true&" + query;
  return call;
}

}  // namespace detent::testing
