// One call from the host into a plugin and the answer back, in one process: a slot of the op slab
// is taken, `observe` is called through the plugin's table, it completes the op through the host's
// table, and the desk takes note. Everything but the .so file is what a host runs.

#include <benchmark/benchmark.h>

#include <chrono>
#include <future>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/plugin/host_table.h"
#include "core/plugin/instance.h"
#include "core/plugin/offload_pool.h"

namespace detent {
namespace {

constexpr int kCallsEach = 100'000;

// What the plugin knows: the one instance and the one task that it is given.
struct Self {
  detent_instance instance = 0;
  detent_task task = 0;
};

void Complete(const Self& self, detent_op op) {
  detent_result result{};
  result.size = sizeof result;
  HostTable()->op_complete(self.instance, op, &result);
}

detent_status Create(const detent_host*, detent_instance instance, const detent_instance_info*,
                     void** out, detent_diag*) {
  *out = new Self{instance, 0};
  return DETENT_OK;
}
void CompleteOp(void* self, detent_op op) {
  Complete(*static_cast<Self*>(self), op);
}
void Destroy(void* self) {
  delete static_cast<Self*>(self);
}
void Start(void* me, detent_op op, const detent_task_ref* ref) {
  auto* self = static_cast<Self*>(me);
  self->task = ref->task;
  Complete(*self, op);
}
void Observe(void* self, detent_op op, detent_task, void*) {
  Complete(*static_cast<Self*>(self), op);
}
void LetGo(void*, detent_task, void*) {}

detent_executor Table() {
  detent_executor table{};
  table.size = sizeof table;
  table.kind = DETENT_STR_INIT("bench");
  table.create = Create;
  table.open = CompleteOp;
  table.close = CompleteOp;
  table.destroy = Destroy;
  table.start = Start;
  table.observe = Observe;
  table.release = LetGo;
  table.detach = LetGo;
  return table;
}

class NoSink final : public ExecutorSink {
 public:
  void Post(std::vector<ExecutorEvent>& events) override { events.clear(); }
};

// An open instance with one task, as a host would have it.
class OpenInstance {
 public:
  OpenInstance() : table_(Table()) {
    LoadedPlugin plugin;
    plugin.executor = &table_;
    InstanceOptions options;
    options.name = options.kind = "bench";
    HostParts parts;
    parts.clock = &clock_;
    parts.offload = &offload_;
    parts.sink = &sink_;
    instance_ = Instance::Make(plugin, options, parts);
    std::promise<void> opened;
    instance_->Open([&](const Result<void>&) { opened.set_value(); });
    opened.get_future().wait();
    TaskOrder order;
    order.id = 1;
    order.key = "uid/0/1";
    order.name = "job-0-1";
    order.ns = "default";
    order.spec = MakeSpecText("{}");
    std::vector<TaskCommand> commands;
    commands.emplace_back(StartCommand{std::move(order)});
    instance_->Submit(std::move(commands));
  }
  ~OpenInstance() {
    std::promise<void> closed;
    instance_->Close([&](const std::vector<TaskOrder>&) { closed.set_value(); });
    closed.get_future().wait();
    instance_->Join();
  }

  // Makes `calls` of them on the strand, one after the other.
  std::chrono::duration<double> Observe(int calls) {
    std::promise<std::chrono::duration<double>> done;
    instance_->Post([&] {
      auto* self = static_cast<Self*>(instance_->self());
      const auto begin = std::chrono::steady_clock::now();
      for (int i = 0; i < calls; ++i) {
        instance_->Ask(OpKind::kObserve, self->task, [&](detent_op op) {
          instance_->table().observe(self, op, self->task, nullptr);
        });
      }
      done.set_value(std::chrono::steady_clock::now() - begin);
    });
    return done.get_future().get();
  }

 private:
  const detent_executor table_;
  SystemClock clock_;
  OffloadPool offload_{1};
  NoSink sink_;
  Instance* instance_ = nullptr;
};

void PluginCall(benchmark::State& state) {
  OpenInstance instance;
  instance.Observe(kCallsEach);  // Warms the slab and the caches.
  for (auto _ : state) {
    state.SetIterationTime(instance.Observe(kCallsEach).count() / kCallsEach);
  }
}
// Time is that of one call: an iteration makes many and reports their mean.
BENCHMARK(PluginCall)->UseManualTime()->Unit(benchmark::kNanosecond)->Iterations(50);

}  // namespace
}  // namespace detent

BENCHMARK_MAIN();
