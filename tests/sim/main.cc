// detent-sim: runs the core in simulation, from seeds.
//
//   detent-sim --seed 42             one seed, with its trace
//   detent-sim --from 1 --count 500  many, quietly; the first that fails says how to repeat it

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tests/sim/simulator.h"

namespace {

struct Flags {
  uint64_t from = 1;
  uint64_t count = 1000;
  int steps = 400;
  bool traced = false;
};

int Usage() {
  std::fputs("usage: detent-sim [--seed N | --from N --count N] [--steps N]\n", stderr);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  Flags flags;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    const uint64_t value = std::strtoull(argv[i + 1], nullptr, 10);
    if (name == "--seed") {
      flags.from = value;
      flags.count = 1;
      flags.traced = true;
    } else if (name == "--from") {
      flags.from = value;
    } else if (name == "--count") {
      flags.count = value;
    } else if (name == "--steps") {
      flags.steps = static_cast<int>(value);
    } else {
      return Usage();
    }
  }
  if (argc % 2 == 0) return Usage();

  int64_t crashes = 0, executions = 0, jobs = 0, slots = 0;
  for (uint64_t seed = flags.from; seed < flags.from + flags.count; ++seed) {
    detent::Simulator simulator(seed, flags.traced);
    const detent::SimReport report = simulator.Run(flags.steps);
    for (const std::string& line : report.trace) std::puts(line.c_str());
    crashes += report.crashes;
    executions += report.executions;
    jobs += report.jobs_finished;
    slots += report.slots;
    if (report.breach.empty()) continue;
    std::printf("seed %llu: %s\nrepeat it with its trace: detent-sim --seed %llu --steps %d\n",
                static_cast<unsigned long long>(seed), report.breach.c_str(),
                static_cast<unsigned long long>(seed), flags.steps);
    return 1;
  }
  std::printf("%llu seeds held: %lld crashes, %lld slots, %lld jobs finished, %lld executions\n",
              static_cast<unsigned long long>(flags.count), static_cast<long long>(crashes),
              static_cast<long long>(slots), static_cast<long long>(jobs),
              static_cast<long long>(executions));
  return 0;
}
