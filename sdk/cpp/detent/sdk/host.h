// Host: typed access to what the host offers an instance: log, time, timers, the way back to the
// strand, work on the pool, health. A small value (three pointers) that may be copied freely; valid
// until the instance is destroyed. Its functions may be called on any thread; callbacks run on the
// strand, in a later turn.
//
// Lifetimes: what runs later is owned by whoever asked for it. A Timer that goes out of scope is
// cancelled, and its callback is dropped without being called; so make it a member of the object
// that the callback touches. When the instance closes, callbacks are dropped likewise.

#pragma once

#include <chrono>
#include <concepts>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <variant>

#include "detent/host.h"
#include "detent/sdk/border.h"
#include "detent/sdk/buffer.h"
#include "detent/sdk/callback.h"
#include "detent/sdk/json_writer.h"
#include "detent/sdk/status.h"
#include "detent/sdk/timer.h"

namespace detent::sdk {

// One fact of a log line.
struct Field {
  std::string_view key;
  std::variant<std::string_view, int64_t, double, bool> value;

  Field(std::string_view k, std::string_view v) : key(k), value(v) {}
  Field(std::string_view k, const char* v) : key(k), value(std::string_view(v)) {}
  Field(std::string_view k, bool v) : key(k), value(v) {}
  Field(std::string_view k, double v) : key(k), value(v) {}
  template <std::integral T>
  Field(std::string_view k, T v) : key(k), value(static_cast<int64_t>(v)) {}
};

class Host {
 public:
  Host() = default;
  Host(const detent_host* table, detent_instance instance) : table_(table), instance_(instance) {}

  const detent_host* table() const { return table_; }
  detent_instance instance() const { return instance_; }

  // A service's table, or nullptr if this host does not have it.
  template <typename Table>
  const Table* Service(const char* id) const {
    return table_ == nullptr ? nullptr : static_cast<const Table*>(table_->service(instance_, id));
  }

  // message is a constant sentence; what varies goes into fields.
  void Log(int32_t level, std::string_view message, std::initializer_list<Field> fields = {},
           detent_task task = 0) const {
    const std::string json = fields.size() == 0 ? std::string() : Json(fields);
    const detent_log line{sizeof(detent_log), level, task, Str(message), Bytes(json)};
    table_->log(instance_, &line);
  }
  void Info(std::string_view message, std::initializer_list<Field> fields = {}) const {
    Log(DETENT_LOG_INFO, message, fields);
  }
  void Warn(std::string_view message, std::initializer_list<Field> fields = {}) const {
    Log(DETENT_LOG_WARN, message, fields);
  }
  void Error(std::string_view message, std::initializer_list<Field> fields = {}) const {
    Log(DETENT_LOG_ERROR, message, fields);
  }

  int64_t WallNs() const { return table_->now_ns(instance_, DETENT_CLOCK_WALL); }
  int64_t MonotonicNs() const { return table_->now_ns(instance_, DETENT_CLOCK_MONOTONIC); }

  // Calls f once after delay, unless the Timer is cancelled or destroyed before. A host that
  // refuses (closing, over the limit) gives an inactive Timer.
  [[nodiscard]] Timer After(std::chrono::nanoseconds delay, Callback<> f) const {
    return Timer::Start(table_, instance_, delay, std::move(f));
  }

  // Calls f on the strand in a later turn; dropped if the instance closes before. False: refused.
  bool Post(Callback<> f) const;

  // Calls work on a thread of the host's pool, where it may block, then done on the strand. False:
  // refused, neither is called. work must touch nothing that the strand touches.
  bool Offload(Callback<> work, Callback<> done) const;

  // state: DETENT_HEALTH_*; attributes: a JSON object of strings, or empty.
  void Health(uint32_t state, std::string_view why = {}, std::string_view attributes = {}) const {
    const detent_str why_text = Str(why);
    const detent_bytes json = Bytes(attributes);
    table_->health(instance_, state, &why_text, &json);
  }

  // A read-only copy with one reference, owned by the Buffer; empty if there is no memory.
  Buffer NewBuffer(std::string_view text) const {
    const detent_bytes bytes = Bytes(text);
    return Buffer::Own(table_, table_->buf_new(instance_, &bytes));
  }

 private:
  struct Job;
  static std::string Json(std::initializer_list<Field> fields) {
    JsonWriter writer;
    writer.BeginObject();
    for (const Field& field : fields) {
      writer.Key(field.key);
      if (const auto* text = std::get_if<std::string_view>(&field.value)) writer.String(*text);
      if (const auto* number = std::get_if<int64_t>(&field.value)) writer.Int(*number);
      if (const auto* real = std::get_if<double>(&field.value)) writer.Double(*real);
      if (const auto* truth = std::get_if<bool>(&field.value)) writer.Bool(*truth);
    }
    return std::move(writer.EndObject()).text();
  }

  static void Work(void* ctx) noexcept;
  static void Done(void* ctx, const detent_result* result) noexcept;

  const detent_host* table_ = nullptr;
  detent_instance instance_ = 0;
};

struct Host::Job {
  Host host;
  Callback<> work;
  Callback<> done;
};

inline bool Host::Post(Callback<> f) const {
  auto job = std::make_unique<Job>(Job{*this, nullptr, std::move(f)});
  if (table_->post(instance_, &Host::Done, job.get()) != DETENT_OK) return false;
  job.release();
  return true;
}

inline bool Host::Offload(Callback<> work, Callback<> done) const {
  auto job = std::make_unique<Job>(Job{*this, std::move(work), std::move(done)});
  if (table_->offload(instance_, &Host::Work, &Host::Done, job.get()) != DETENT_OK) return false;
  job.release();
  return true;
}

inline void Host::Work(void* ctx) noexcept {
  auto* job = static_cast<Job*>(ctx);
  border::Guarded(job->host.table(), job->host.instance(), [&] { job->work(); });
}

inline void Host::Done(void* ctx, const detent_result* result) noexcept {
  const std::unique_ptr<Job> job(static_cast<Job*>(ctx));
  if (result->code != DETENT_OK) return;
  border::Guarded(job->host.table(), job->host.instance(), [&] { job->done(); });
}

}  // namespace detent::sdk
