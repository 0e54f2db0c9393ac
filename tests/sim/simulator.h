// The real core on simulated edges, run from one seed: the same seed gives the same run.
//
// Each step one thing happens: a commit, a message to the host, something outside, time passing, a
// user, a fault, the host's death between any two writes. Then all faults end, and everything has
// to come to rest.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/random.h"
#include "core/control/engine.h"
#include "core/store/memory_store.h"
#include "tests/sim/checkers.h"
#include "tests/sim/sim_clock.h"
#include "tests/sim/sim_world.h"

namespace detent {

struct SimReport {
  std::string breach;  // Empty: every invariant held.
  std::vector<std::string> trace;
  int64_t crashes = 0;
  int64_t executions = 0;
  int64_t jobs_finished = 0;
  int64_t slots = 0;
};

class Simulator {
 public:
  // With `traced`, the report says what happened, step by step.
  Simulator(uint64_t seed, bool traced);
  ~Simulator();

  SimReport Run(int steps);

 private:
  struct Host;

  void StartHost();
  enum class Death { kBeforeCommit, kBeforeAcknowledge, kAnywhere };
  void KillHost(Death death);
  void Step();
  void RunHost(size_t messages_max);
  void UserActs();
  std::string SomeKind();
  void CreateConfig();
  Json JobDocument(const std::string& name);
  Object RawJob(const std::string& name);
  void CreateJob();
  void ChangeSome(Kind kind);
  void Submit(Transaction transaction);
  void Rest();
  bool Quiet();
  void DisableSchedules();
  void TraceReasons();
  void Trace(const std::string& what);
  std::string Breach() const;

  const bool traced_;
  SeededRandom random_;
  // Of every second seed, a store that writes one object at a time.
  const MemoryStore::Unit unit_;
  SimClock clock_;
  ControlOptions options_;
  Checkers checkers_;
  SimWorld world_;
  MemoryStore::State state_;
  std::unique_ptr<Host> host_;
  SimReport report_;
  int names_ = 0;
  int uids_ = 0;
  std::chrono::nanoseconds idle_{0};
};

}  // namespace detent
