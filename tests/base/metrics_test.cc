#include "core/base/metrics.h"

#include <gtest/gtest.h>

#include <thread>

namespace detent {
namespace {

TEST(Metrics, AreExposedAsPrometheusReadsThem) {
  Metrics metrics;
  metrics.AddCounter("jobs_total", "Jobs, by phase.\nWith a \\.", "phase=\"done\"").Add(3);
  metrics.AddGauge("queue", "Entries.").Set(-2);
  metrics.AddCounter("jobs_total", "Jobs, by phase.\nWith a \\.", "phase=\"failed\"").Add();
  EXPECT_EQ(metrics.Expose(),
            "# HELP jobs_total Jobs, by phase.\\nWith a \\\\.\n"
            "# TYPE jobs_total counter\n"
            "jobs_total{phase=\"done\"} 3\n"
            "jobs_total{phase=\"failed\"} 1\n"
            "# HELP queue Entries.\n"
            "# TYPE queue gauge\n"
            "queue -2\n");
}

TEST(Metrics, AreTheSameWhenAskedForTwice) {
  Metrics metrics;
  Counter& counter = metrics.AddCounter("a", "", "x=\"1\"");
  EXPECT_EQ(&counter, &metrics.AddCounter("a", "", "x=\"1\""));
  EXPECT_NE(&counter, &metrics.AddCounter("a", "", "x=\"2\""));
  EXPECT_EQ(&metrics.AddHistogram("h", ""), &metrics.AddHistogram("h", ""));
  Gauge& gauge = metrics.AddGauge("g", "");
  gauge.Add(5);
  gauge.Add(-1);
  EXPECT_EQ(metrics.AddGauge("g", "").value(), 4);
}

TEST(Metrics, StayWhereTheyAreAsMoreAreAdded) {
  Metrics metrics;
  Counter& first = metrics.AddCounter("n0", "");
  for (int i = 1; i < 100; ++i) metrics.AddCounter("n" + std::to_string(i), "");
  first.Add(9);
  EXPECT_EQ(metrics.AddCounter("n0", "").value(), 9);
}

TEST(Histogram, CountsUpToAndIncludingEachBound) {
  struct Case {
    int64_t micros;
    int bucket;
  };
  const Case cases[] = {{-5, 0},           {0, 0},
                        {100, 0},          {101, 1},
                        {250, 1},          {1'000, 3},
                        {1'001, 4},        {1'000'000, 12},
                        {99'999'999, 18},  {100'000'000, 18},
                        {100'000'001, 19}, {INT64_MAX / 4, 19}};
  for (const Case& c : cases) {
    Histogram histogram;
    histogram.ObserveMicros(c.micros);
    EXPECT_EQ(histogram.count(c.bucket), 1) << c.micros;
    EXPECT_EQ(histogram.sum_micros(), c.micros);
  }
  EXPECT_EQ(Histogram::UpperBoundSeconds(0), 0.0001);
  EXPECT_EQ(Histogram::UpperBoundSeconds(Histogram::kBuckets - 1), 100.0);
}

TEST(Histogram, IsExposedCumulatively) {
  Metrics metrics;
  Histogram& histogram = metrics.AddHistogram("late_seconds", "Lateness.", "loop=\"a\"");
  for (const int64_t micros : {50, 200, 200, 1'500'000, 200'000'000}) {
    histogram.ObserveMicros(micros);
  }
  const std::string text = metrics.Expose();
  for (const char* line :
       {"# TYPE late_seconds histogram\n", "late_seconds_bucket{loop=\"a\",le=\"0.0001\"} 1\n",
        "late_seconds_bucket{loop=\"a\",le=\"0.00025\"} 3\n",
        "late_seconds_bucket{loop=\"a\",le=\"1\"} 3\n",
        "late_seconds_bucket{loop=\"a\",le=\"2.5\"} 4\n",
        "late_seconds_bucket{loop=\"a\",le=\"100\"} 4\n",
        "late_seconds_bucket{loop=\"a\",le=\"+Inf\"} 5\n",
        "late_seconds_sum{loop=\"a\"} 201.50045\n", "late_seconds_count{loop=\"a\"} 5\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
  EXPECT_NE(Metrics().Expose(), text);
}

TEST(Histogram, NeedsNoLabels) {
  Metrics metrics;
  metrics.AddHistogram("h", "").ObserveMicros(1);
  const std::string text = metrics.Expose();
  EXPECT_NE(text.find("h_bucket{le=\"0.0001\"} 1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("h_count 1\n"), std::string::npos) << text;
}

TEST(Metrics, CountFromManyThreads) {
  Metrics metrics;
  Counter& counter = metrics.AddCounter("c", "");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1'000; ++i) counter.Add();
      metrics.AddCounter("c", "");
      metrics.Expose();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter.value(), 4'000);
}

}  // namespace
}  // namespace detent
