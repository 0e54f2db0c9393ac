// JobConfigs: turns their due slots into Jobs, each at most once, and keeps their status.
//
// A slot's Job and the cursor that moves past the slot are one transaction. The loop's thread only.

#pragma once

#include <string>
#include <vector>

#include "core/control/context.h"
#include "core/sched/due.h"

namespace detent {

class ConfigController {
 public:
  explicit ConfigController(Context& context) : context_(context) {}

  // An object of the list at start.
  void TakeBack(const ObjectPtr& object);
  // One arrived, as a change.
  void Seen(const ObjectPtr& object);
  void Gone(const ObjectPtr& object);

  void Reconcile(ConfigEntry& config);

 private:
  ConfigEntry& Add(const ObjectPtr& object);
  void Read(ConfigEntry& config);
  // Decides the slots that are due. True if a write was submitted.
  bool DecideSlots(ConfigEntry& config);
  void SubmitSlots(ConfigEntry& config, const SlotsPlan& plan);
  void SlotsRefused(uint64_t id, const SlotsPlan& plan, const Error& error);
  Result<std::shared_ptr<Object>> MakeJob(const ConfigEntry& config, const JobConfigSpec& spec,
                                          WallTime slot);
  bool OwnsJobOf(const ConfigEntry& config, WallTime slot);
  void WriteStatusIfDue(ConfigEntry& config);
  JobConfigStatus DeriveStatus(const ConfigEntry& config) const;
  void WriteDone(uint64_t id, Result<Committed> result);

  Context& context_;
};

}  // namespace detent
