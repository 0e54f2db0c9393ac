// Structured logging: a constant message with keys, one line each, to one sink. Edge code logs,
// library code returns errors; so each error is logged once.
//
// Lines are logfmt: `time=... level=info msg="job started" job=default/hello`.

#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

namespace detent {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

struct LogField {
  LogField(std::string_view k, std::string_view v) : key(k), value(v) {}
  LogField(std::string_view k, const char* v) : key(k), value(v) {}
  LogField(std::string_view k, int64_t v) : key(k), value(std::to_string(v)) {}
  LogField(std::string_view k, int v) : key(k), value(std::to_string(v)) {}
  LogField(std::string_view k, uint64_t v) : key(k), value(std::to_string(v)) {}
  std::string_view key;
  std::string value;
};

// A place to send log lines to. Any thread.
class Logger {
 public:
  using Sink = std::function<void(std::string_view line)>;

  // `sink` is called with one whole line, newline included, one call at a time.
  Logger(LogLevel least, Sink sink);
  ~Logger();
  Logger(const Logger&) = delete;
  Logger& operator=(const Logger&) = delete;

  void Log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields = {});
  void Debug(std::string_view m, std::initializer_list<LogField> f = {}) {
    Log(LogLevel::kDebug, m, f);
  }
  void Info(std::string_view m, std::initializer_list<LogField> f = {}) {
    Log(LogLevel::kInfo, m, f);
  }
  void Warning(std::string_view m, std::initializer_list<LogField> f = {}) {
    Log(LogLevel::kWarning, m, f);
  }
  void Error(std::string_view m, std::initializer_list<LogField> f = {}) {
    Log(LogLevel::kError, m, f);
  }

 private:
  struct State;
  State* state_;
};

// Writes whole lines to standard error.
Logger::Sink StandardErrorSink();

}  // namespace detent
