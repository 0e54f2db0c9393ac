#include "tests/cli/fake_server.h"

#include <gtest/gtest.h>

#include <utility>

#include "core/base/json.h"

namespace detent::testing {
namespace {

class FakeTransport final : public ClientTransport {
 public:
  explicit FakeTransport(Script& script) : script_(script) {}

  Result<ClientReply> Fetch(const ClientRequest& request) override { return Answer(request); }

  Result<ClientReply> Stream(const ClientRequest& request,
                             const HttpClient::OnLine& on_line) override {
    std::string begun;
    Result<ClientReply> reply = Answer(request, &begun);
    if (reply && reply->status != 200) return reply;
    std::istringstream lines(reply ? std::exchange(reply->body, {}) : begun);
    for (std::string line; std::getline(lines, line);) {
      if (!reply && lines.eof()) break;  // A line that the break cut off.
      if (!on_line(line)) break;
    }
    return reply;
  }

  void Pause(std::chrono::milliseconds time) override { script_.clock.Pass(time); }

 private:
  Result<ClientReply> Answer(const ClientRequest& request, std::string* begun = nullptr) {
    script_.sent.push_back(request);
    const std::string line = request.method + " " + request.path;
    if (script_.exchanges.empty() || !line.starts_with(script_.exchanges.front().request)) {
      script_.wrong.push_back(line);
      return Error(Code::kInternal, "unexpected: " + line);
    }
    const Exchange exchange = script_.exchanges.front();
    script_.exchanges.pop_front();
    script_.clock.Pass(exchange.takes);
    if (exchange.status == 0 && begun != nullptr) *begun = exchange.body;
    if (exchange.status == 0) return Error(exchange.failure, line + ": Connection refused");
    ClientReply reply;
    reply.status = exchange.status;
    reply.body = exchange.body;
    return reply;
  }

  Script& script_;
};

}  // namespace

Outcome Session::Run(const std::vector<std::string>& args) {
  std::istringstream in(input);
  std::ostringstream out;
  std::ostringstream err;
  CliIo io;
  io.in = &in;
  io.out = &out;
  io.err = &err;
  io.out_is_terminal = terminal;
  io.environment = [this](const char* name) {
    const auto it = environment.find(name);
    return it == environment.end() ? nullptr : it->second.c_str();
  };
  CliOptions options;
  options.catch_interrupt = false;
  options.read_executors = read_executors;
  options.connect = [this](const HttpClientOptions& http) {
    connected_ = http;
    return std::make_unique<FakeTransport>(script_);
  };
  options.connect_cluster = [this](const ClusterAccess&) {
    return std::make_unique<FakeTransport>(script_);
  };
  SeededRandom random(1);
  Outcome outcome;
  outcome.code = RunCli(args, external, io, script_.clock, random, options);
  outcome.out = out.str();
  outcome.err = err.str();
  for (const std::string& line : script_.wrong) ADD_FAILURE() << "not expected: " << line;
  for (const Exchange& exchange : script_.exchanges) {
    ADD_FAILURE() << "not asked: " << exchange.request;
  }
  return outcome;
}

std::string JobJson(const std::string& name, const std::string& phase, int version) {
  return R"({"apiVersion":"execution.detent.dev/v1alpha1","kind":"Job","metadata":{"name":")" +
         name + R"(","namespace":"default","uid":"u1","resourceVersion":")" +
         std::to_string(version) + R"("},"spec":{},"status":{"phase":")" + phase +
         R"(","indexes":3,"succeeded":)" + (phase == "Succeeded" ? "3" : "1") + "}}";
}

std::string EventLine(const std::string& type, const std::string& object) {
  return R"({"type":")" + type + R"(","object":)" + object + "}\n";
}

std::string ListJson(const std::string& items, int version) {
  return R"({"kind":"List","metadata":{"resourceVersion":")" + std::to_string(version) +
         R"("},"items":[)" + items + "]}";
}

std::string StatusJson(int code, const std::string& reason, const std::string& message) {
  Json status;
  status.Set("kind", "Status").Set("status", "Failure").Set("code", code);
  status.Set("reason", reason).Set("message", message);
  return DumpJson(status);
}

}  // namespace detent::testing
