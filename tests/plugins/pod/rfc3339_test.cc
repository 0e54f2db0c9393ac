// Times as Kubernetes writes them.

#include "plugins/pod/rfc3339.h"

#include <gtest/gtest.h>

namespace detent::pod {
namespace {

TEST(PodTimes, AreReadInEveryFormThatKubernetesWrites) {
  struct Row {
    const char* text;
    int64_t ns;  // -1: it is no time
    const char* because;
  };
  const Row rows[] = {
      {"1970-01-01T00:00:00Z", 0, "the beginning"},
      {"2026-11-20T10:00:00Z", 1'795'168'800 * kNsPerSecond, "metav1.Time"},
      {"2026-11-20T10:00:00.123456Z", 1'795'168'800 * kNsPerSecond + 123'456'000, "MicroTime"},
      {"2026-11-20T18:00:00.5+08:00", 1'795'168'800 * kNsPerSecond + 500'000'000, "a node's zone"},
      {"2026-11-20T05:30:00-04:30", 1'795'168'800 * kNsPerSecond, "west of Greenwich"},
      {"2026-11-20T10:00:00.1234567891Z", 1'795'168'800 * kNsPerSecond + 123'456'789, "ten digits"},
      {"2024-02-29T00:00:00Z", 1'709'164'800 * kNsPerSecond, "a leap day"},
      {"1969-12-31T23:59:59Z", -kNsPerSecond, "before the beginning"},
      {"0001-01-01T00:00:00Z", -1, "Go's zero time"},
      {"2023-02-29T00:00:00Z", -1, "no leap year"},
      {"2026-13-01T00:00:00Z", -1, "no such month"},
      {"2026-11-20T24:00:00Z", -1, "no such hour"},
      {"2026-11-20T10:00:00", -1, "no zone"},
      {"2026-11-20T10:00:00.Z", -1, "a point without digits"},
      {"2026-11-20T10:00:00Z ", -1, "more behind it"},
      {"2026-11-20", -1, "a date only"},
      {"", -1, "nothing"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(ParseTime(row.text).value_or(-1), row.ns) << row.because;
  }
}

TEST(PodTimes, AreWrittenWithAndWithoutTheirFraction) {
  const int64_t ns = *ParseTime("2026-11-20T10:00:00.000000042Z");
  EXPECT_EQ(FormatNanos(ns), "2026-11-20T10:00:00.000000042Z");
  EXPECT_EQ(FormatSeconds(ns), "2026-11-20T10:00:00Z");
  EXPECT_EQ(FormatNanos(-1), "1969-12-31T23:59:59.999999999Z");
}

TEST(PodTimes, ComeBackFromEveryDayOfFourCenturies) {
  for (int64_t day = -100'000; day < 100'000; day += 7) {
    const int64_t ns = day * 86'400 * kNsPerSecond;
    ASSERT_EQ(ParseTime(FormatNanos(ns)), ns) << FormatSeconds(ns);
  }
}

}  // namespace
}  // namespace detent::pod
