// Any text is an expression or an error with a column; of an expression, slots only go forward.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/cron/schedule.h"

extern "C" __attribute__((visibility("default"))) int LLVMFuzzerTestOneInput(const uint8_t* data,
                                                                             size_t size) {
  using namespace detent;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // A zone's rule comes from a file, so it may be anything, too.
  if (const auto rule = ZoneRule::Parse(text)) {
    const std::chrono::sys_seconds moment(std::chrono::seconds(3'000'000'000));
    const ClockPeriod period = rule->PeriodAt(moment);
    if (period.begin > moment || period.end <= moment) std::abort();
  }

  const CronParseOptions hashed{
      .hash_id = "ns/name", .hash_fields = true, .hash_seconds_by_default = true};
  const auto parsed = CronExpression::Parse(text, hashed);
  if (!parsed) {
    if (!parsed.error().message().starts_with("column ")) std::abort();
    return 0;
  }
  CivilSecond time(std::chrono::seconds(1'700'000'000));
  for (int i = 0; i < 4; ++i) {
    const auto next = parsed->NextCivil(time);
    if (!next) break;
    if (*next <= time || !parsed->Matches(*next)) std::abort();
    time = *next;
  }
  return 0;
}
