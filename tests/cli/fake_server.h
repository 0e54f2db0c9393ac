// A server that is a script: each request must be the next one expected, and gets its answer. And a
// run of the whole client against it, with what it printed.
//
// One thread. Time moves only where an answer or a pause says so.

#pragma once

#include <deque>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/cli/cli.h"
#include "core/cli/transport.h"

namespace detent::testing {

class FakeClock final : public Clock {
 public:
  WallTime Now() const override { return *ParseTime("2026-11-21T10:00:00Z") + passed_; }
  MonoTime Mono() const override { return MonoTime(std::chrono::nanoseconds(passed_)); }
  void Pass(std::chrono::milliseconds time) { passed_ += time; }

 private:
  std::chrono::milliseconds passed_{0};
};

struct Exchange {
  std::string request;  // "GET /path?query", as far as it is given: a prefix is enough.
  int status = 200;
  std::string body;
  std::chrono::milliseconds takes{0};
  Code failure = Code::kInternal;  // With status 0: no answer, or a stream that breaks behind body.
};

struct Script {
  std::deque<Exchange> exchanges;
  std::vector<std::string> wrong;  // Requests that were not expected.
  std::vector<ClientRequest> sent;
  FakeClock clock;
};

// What a run of `detent` came to.
struct Outcome {
  int code = 0;
  std::string out;
  std::string err;
};

class Session {
 public:
  void Expect(Exchange exchange) { script_.exchanges.push_back(std::move(exchange)); }
  // Runs the client. Every expected request must have been made by its end, and no other.
  Outcome Run(const std::vector<std::string>& args);

  std::string input;
  bool terminal = false;
  std::map<std::string, std::string> environment;
  std::vector<ExternalCommand> external;
  ExecutorReader read_executors;
  const Script& script() const { return script_; }
  const HttpClientOptions& connected() const { return connected_; }

 private:
  Script script_;
  HttpClientOptions connected_;
};

// A Job as the server shows it.
std::string JobJson(const std::string& name, const std::string& phase, int version = 1);
// One line of a watch.
std::string EventLine(const std::string& type, const std::string& object);
// A List of these.
std::string ListJson(const std::string& items, int version = 10);
// A metav1.Status.
std::string StatusJson(int code, const std::string& reason, const std::string& message);

}  // namespace detent::testing
