// When a JobConfig is due: cron expressions read in one zone.
//
// Immutable once made: any thread may ask, nothing is cached. About a hundred bytes with a single
// expression, and no allocation. Local times that a change of the clocks leaves out are no slots;
// local times that happen twice are two slots.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/cron/expression.h"
#include "core/cron/zone.h"

namespace detent {

class Schedule {
 public:
  // Due at each time of any of `expressions`. Requires: at least one.
  Schedule(std::vector<CronExpression> expressions, Zone zone);

  // Reads both; the error says which expression is wrong if there are several.
  static Result<Schedule> Parse(const std::vector<std::string>& expressions, std::string_view zone,
                                const CronParseOptions& options = {});

  // The first slot strictly after `time`, in whole seconds; nullopt if there is none before the
  // local year 2100. Two expressions that meet in the same second are one slot.
  std::optional<WallTime> NextAfter(WallTime time) const;

  const Zone& zone() const { return zone_; }

  bool operator==(const Schedule&) const = default;

 private:
  CronExpression first_;
  std::vector<CronExpression> others_;
  Zone zone_;
};

}  // namespace detent
