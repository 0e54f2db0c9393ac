// Executor "hello": greets, and succeeds after a while. Copy this directory, rename the kind, and
// put your backend in the place of the timer.

#include "detent/sdk/plugin.h"

namespace {

using namespace detent::sdk;

struct Greeting : Task {
  using Task::Task;
  Timer timer;
};

class Hello : public Executor {
 public:
  static constexpr std::string_view kKind = "hello";

  struct Spec {
    std::string name;
    int64_t milliseconds;
  };
  static Spec Read(Fields& f) {
    return {f.Text("name", {.fallback = "world"}),
            f.Int("milliseconds", {.fallback = 10, .min = 0, .max = 3600000})};
  }
  static void Validate(Fields& spec) { Read(spec); }

  void Start(Op op, const TaskRef& ref) override {
    const auto spec = ReadDocument(host(), ref.spec, Read);
    if (!spec) return op.Fail(spec.status());

    auto& task = Follow<Greeting>(ref);
    const std::string output = JsonWriter().String("hello " + spec->name).text();
    task.timer = host().After(std::chrono::milliseconds(spec->milliseconds),
                              [&task, output] { task.Succeeded(output); });
    task.Running();
    op.Succeed();
  }

  // A greeting leaves no trace in the world, so one that was lost may simply be said again.
  void Recover(Op op, const TaskRef& ref) override {
    TaskStatus status;
    status.flags = DETENT_TASK_RERUN_SAFE;
    Follow<Greeting>(ref).Update(status);
    op.Answer(Recovered::kLost);
  }

  void Kill(Op op, Task& task, const KillRequest&) override {
    static_cast<Greeting&>(task).timer.Cancel();
    if (!task.Terminated()) task.Killed();
    op.Succeed();
  }
};

}  // namespace

DETENT_PLUGIN("dev.example.hello", "0.1.0", Hello)
