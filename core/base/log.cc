#include "core/base/log.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>

#include "core/base/clock.h"
#include "core/base/json.h"

namespace detent {

namespace {

const char* WordOf(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarning:
      return "warning";
    case LogLevel::kError:
      return "error";
  }
  return "error";
}

bool IsBare(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return c > ' ' && c < 0x7F && c != '=' && c != '"' && c != '\\';
  });
}

void AppendField(std::string& line, std::string_view key, std::string_view value) {
  line += ' ';
  line += key;
  line += '=';
  if (IsBare(value)) {
    line += value;
  } else {
    // JSON's escapes keep a value on its line, whatever is in it.
    AppendJsonString(line, value);
  }
}

}  // namespace

struct Logger::State {
  const LogLevel least;
  const SystemClock clock{};
  std::mutex mutex;
  const Sink sink;
};

Logger::Logger(LogLevel least, Sink sink)
    : state_(new State{.least = least, .mutex = {}, .sink = std::move(sink)}) {}

Logger::~Logger() {
  delete state_;
}

void Logger::Log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
  if (level < state_->least) return;
  std::string line = "time=" + FormatMicroTime(state_->clock.Now()) + " level=" + WordOf(level);
  AppendField(line, "msg", message);
  for (const LogField& field : fields) AppendField(line, field.key, field.value);
  line += '\n';
  std::lock_guard lock(state_->mutex);
  state_->sink(line);
}

Logger::Sink StandardErrorSink() {
  return [](std::string_view line) {
    while (!line.empty()) {
      const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
      // There is nobody left to tell that the log cannot be written.
      if (written < 0 && errno != EINTR) return;
      if (written > 0) line.remove_prefix(static_cast<size_t>(written));
    }
  };
}

}  // namespace detent
