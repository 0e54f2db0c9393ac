// Counters, gauges and histograms, written out in Prometheus' text format (version 0.0.4).
//
// A metric is made once, at wiring time, and lives as long as its registry. Adding to it is
// lock-free and may be done from any thread.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace detent {

class Counter {
 public:
  void Add(int64_t n = 1) { value_.fetch_add(n, std::memory_order_relaxed); }
  int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> value_{0};
};

class Gauge {
 public:
  void Set(int64_t v) { value_.store(v, std::memory_order_relaxed); }
  void Add(int64_t n) { value_.fetch_add(n, std::memory_order_relaxed); }
  int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> value_{0};
};

// Buckets from 100 microseconds to 100 seconds, in seconds, as Prometheus wants them.
class Histogram {
 public:
  static constexpr int kBuckets = 19;
  void ObserveMicros(int64_t micros);
  static double UpperBoundSeconds(int bucket);
  int64_t count(int bucket) const { return counts_[bucket].load(std::memory_order_relaxed); }
  int64_t sum_micros() const { return sum_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> counts_[kBuckets + 1]{};
  std::atomic<int64_t> sum_{0};
};

class Metrics {
 public:
  Metrics();
  ~Metrics();

  // `name` and `help` as Prometheus wants them; `labels` is `a="b",c="d"` or empty. Asking twice
  // for the same name and labels gives the same metric.
  Counter& AddCounter(const std::string& name, const std::string& help,
                      const std::string& labels = "");
  Gauge& AddGauge(const std::string& name, const std::string& help, const std::string& labels = "");
  Histogram& AddHistogram(const std::string& name, const std::string& help,
                          const std::string& labels = "");

  // The text that /metrics answers. Any thread.
  std::string Expose() const;

 private:
  struct Series;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Series>> series_;  // Guarded by mutex_; entries are never removed.
};

}  // namespace detent
