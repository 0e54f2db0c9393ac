#include "core/base/metrics.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>

namespace detent {

namespace {

// 1, 2.5 and 5 times each power of ten, from 100 microseconds to 100 seconds.
constexpr int64_t kBoundsMicros[Histogram::kBuckets] = {
    100,       250,        500,        1'000,      2'500,      5'000,     10'000,
    25'000,    50'000,     100'000,    250'000,    500'000,    1'000'000, 2'500'000,
    5'000'000, 10'000'000, 25'000'000, 50'000'000, 100'000'000};

enum class Kind { kCounter, kGauge, kHistogram };

const char* WordOf(Kind kind) {
  switch (kind) {
    case Kind::kCounter:
      return "counter";
    case Kind::kGauge:
      return "gauge";
    case Kind::kHistogram:
      return "histogram";
  }
  return "untyped";
}

std::string Seconds(int64_t micros) {
  char text[64];
  const double seconds = static_cast<double>(micros) / 1e6;
  const auto end = std::to_chars(text, text + sizeof text, seconds, std::chars_format::fixed).ptr;
  return std::string(text, end);
}

std::string EscapeHelp(std::string_view help) {
  std::string out;
  for (const char c : help) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

void AppendSample(std::string& out, const std::string& name, const std::string& labels,
                  const std::string& value) {
  out += name;
  if (!labels.empty()) out += '{' + labels + '}';
  out += ' ' + value + '\n';
}

}  // namespace

struct Metrics::Series {
  Kind kind;
  std::string name, help, labels;
  Counter counter;
  Gauge gauge;
  Histogram histogram;

  // Asked twice, the same series; there are few, and they are made at wiring time.
  static Series& Of(std::vector<std::unique_ptr<Series>>& all, Kind kind, const std::string& name,
                    const std::string& labels) {
    for (const auto& series : all) {
      if (series->kind == kind && series->name == name && series->labels == labels) return *series;
    }
    all.push_back(std::make_unique<Series>());
    Series& added = *all.back();
    added.kind = kind;
    added.name = name;
    added.labels = labels;
    return added;
  }

  void Append(std::string& out) const {
    switch (kind) {
      case Kind::kCounter:
        return AppendSample(out, name, labels, std::to_string(counter.value()));
      case Kind::kGauge:
        return AppendSample(out, name, labels, std::to_string(gauge.value()));
      case Kind::kHistogram:
        return AppendHistogram(out);
    }
  }

  // Each bucket counts everything up to its bound. The count is their sum as read here, so that the
  // last bucket and the count agree while others are observing.
  void AppendHistogram(std::string& out) const {
    const std::string prefix = labels.empty() ? "" : labels + ",";
    int64_t total = 0;
    for (int bucket = 0; bucket <= Histogram::kBuckets; ++bucket) {
      total += histogram.count(bucket);
      const std::string bound =
          bucket == Histogram::kBuckets ? "+Inf" : Seconds(kBoundsMicros[bucket]);
      AppendSample(out, name + "_bucket", prefix + "le=\"" + bound + '"', std::to_string(total));
    }
    AppendSample(out, name + "_sum", labels, Seconds(histogram.sum_micros()));
    AppendSample(out, name + "_count", labels, std::to_string(total));
  }
};

void Histogram::ObserveMicros(int64_t micros) {
  const auto* bound = std::lower_bound(std::begin(kBoundsMicros), std::end(kBoundsMicros), micros);
  counts_[bound - std::begin(kBoundsMicros)].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(micros, std::memory_order_relaxed);
}

double Histogram::UpperBoundSeconds(int bucket) {
  return static_cast<double>(kBoundsMicros[bucket]) / 1e6;
}

Metrics::Metrics() = default;
Metrics::~Metrics() = default;

Counter& Metrics::AddCounter(const std::string& name, const std::string& help,
                             const std::string& labels) {
  std::lock_guard lock(mutex_);
  Series& series = Series::Of(series_, Kind::kCounter, name, labels);
  series.help = help;
  return series.counter;
}

Gauge& Metrics::AddGauge(const std::string& name, const std::string& help,
                         const std::string& labels) {
  std::lock_guard lock(mutex_);
  Series& series = Series::Of(series_, Kind::kGauge, name, labels);
  series.help = help;
  return series.gauge;
}

Histogram& Metrics::AddHistogram(const std::string& name, const std::string& help,
                                 const std::string& labels) {
  std::lock_guard lock(mutex_);
  Series& series = Series::Of(series_, Kind::kHistogram, name, labels);
  series.help = help;
  return series.histogram;
}

std::string Metrics::Expose() const {
  std::lock_guard lock(mutex_);
  std::string out;
  std::set<std::string_view> done;
  for (const auto& first : series_) {
    // The format wants all series of a name together, below one HELP and one TYPE.
    if (!done.insert(first->name).second) continue;
    out += "# HELP " + first->name + ' ' + EscapeHelp(first->help) + '\n';
    out += "# TYPE " + first->name + ' ' + WordOf(first->kind) + '\n';
    for (const auto& series : series_) {
      if (series->name == first->name) series->Append(out);
    }
  }
  return out;
}

}  // namespace detent
