// Time zones: how far the clocks of a place are from UTC at each moment.
//
// A Zone is two words and freely copied: a fixed distance from UTC, or a name of the IANA database
// as the system's tzdata package holds it. zone.cc is the only file that names Howard Hinnant's
// date library; like that library's, the tables read from tzdata live as long as the process. All
// functions are safe on any thread.

#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/cron/expression.h"
#include "core/cron/zone_rule.h"

namespace detent {

class Zone {
 public:
  enum class Fit {
    kUnique,    // The local time happens once: `first` and `last` are the same.
    kSkipped,   // It never happens, clocks jump over it: both are the moment of the jump.
    kRepeated,  // Clocks are put back over it: `first` is before, `last` after that.
  };
  struct Moments {
    Fit fit;
    std::chrono::sys_seconds first;
    std::chrono::sys_seconds last;
  };

  // UTC.
  Zone() = default;

  // The zone called `name`: "Asia/Singapore" and the like; "UTC" or "GMT", alone or with an offset
  // written ±H, ±HH, ±H:MM, ±HH:MM or ±HHMM; "" and "Local" are UTC, since a host has no place.
  // Code::kInvalid with the nearest known name; Code::kUnsupported if the machine has no tzdata.
  // Reads files the first time that a name is asked for.
  static Result<Zone> Find(std::string_view name);

  // "Asia/Singapore", "UTC", "UTC+05:30".
  std::string name() const;

  // The stretch of time around `time` in which the clocks keep their distance from UTC.
  ClockPeriod PeriodAt(std::chrono::sys_seconds time) const;

  // The moments at which this zone's clocks show `time`.
  Moments ToAbsolute(CivilSecond time) const;

  bool operator==(const Zone&) const = default;

 private:
  struct Table;  // A named zone. Never freed, one per name, so that its address identifies it.

  static Result<const Table*> FindTable(std::string_view name);

  const Table* table_ = nullptr;  // Null for a fixed offset.
  int32_t offset_seconds_ = 0;
};

}  // namespace detent
