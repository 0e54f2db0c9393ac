// The core as a whole: takes messages, looks at what is due, applies what the planners decide.
//
// Knows no thread and no clock but the one it is given, so the simulator drives it as the loop
// does.
//
// Call order: Load (Take* Pass)*. One thread.

#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/control/config_controller.h"
#include "core/control/context.h"
#include "core/control/job_controller.h"
#include "core/control/owner_controller.h"
#include "core/control/task_controller.h"

namespace detent {

// What the engine is made of. Borrowed; all of it outlives the engine.
struct EngineDeps {
  Store& store;
  ExecutorDirectory& executors;
  Inbox& inbox;
  const Clock& clock;
  Logger& log;
  Metrics& metrics;
  const ControlOptions& options;
  const SpecValidator* validator =
      nullptr;  // Of any thread; null: executors' specs are not judged.
};

class Engine {
 public:
  explicit Engine(const EngineDeps& deps);

  // Reads everything that is stored and takes up what was in hand. Changes that are committed from
  // before this call on must reach the inbox: older ones are recognised by their versions.
  Result<void> Load();

  void Take(Message& message);

  // Looks at what is due. Returns how long nothing will be, if no message comes; zero if there is
  // more to do now.
  std::chrono::nanoseconds Pass();

  // Why an object is where it is, from the outermost reason inwards.
  Result<std::vector<std::string>> Explain(const ObjectKey& key);

  const Model& model() const { return context_.model; }

 private:
  void ReadClock();
  void OnChange(const Change& change);
  void OnExecutors(std::vector<ExecutorEvent>& events);
  Result<void> LoadKind(Kind kind, std::map<std::string, Kind>& missing_owners);

  const Clock& clock_;
  Context context_;
  ConfigController configs_;
  JobController jobs_;
  TaskController tasks_;
  OwnerController owners_;
};

}  // namespace detent
