#include "tests/plugin/kube_instance.h"

namespace detent::testing {
namespace {

// What the executor knows: the instance that it is, and the task that it was given last.
struct KubeSelf {
  detent_instance inst = 0;
  detent_task task = 0;
};

void CompleteOk(const KubeSelf& self, detent_op op) {
  detent_result result{};
  result.size = sizeof result;
  HostTable()->op_complete(self.inst, op, &result);
}

detent_status CreateSelf(const detent_host*, detent_instance inst, const detent_instance_info*,
                         void** out, detent_diag*) {
  *out = new KubeSelf{inst, 0};
  return DETENT_OK;
}
void OpenOrClose(void* self, detent_op op) {
  CompleteOk(*static_cast<KubeSelf*>(self), op);
}
void DestroySelf(void* self) {
  delete static_cast<KubeSelf*>(self);
}
void TakeTask(void* me, detent_op op, const detent_task_ref* ref) {
  auto* self = static_cast<KubeSelf*>(me);
  self->task = ref->task;
  CompleteOk(*self, op);
}
void KillNothing(void* self, detent_op op, detent_task, void*, const detent_kill*) {
  CompleteOk(*static_cast<KubeSelf*>(self), op);
}

}  // namespace

detent_executor KubeInstance::Table() {
  detent_executor table{};
  table.size = sizeof table;
  table.kind = DETENT_STR_INIT("thing");
  table.create = CreateSelf;
  table.open = OpenOrClose;
  table.close = OpenOrClose;
  table.destroy = DestroySelf;
  table.start = TakeTask;
  table.kill = KillNothing;
  return table;
}

KubeInstance::KubeInstance()
    : hub_(*client_, watch_options_, std::chrono::milliseconds(10)),
      door_(*client_, hub_, {"host-1", false, "detent", 64, std::chrono::milliseconds(2)}),
      table_(Table()) {
  LoadedPlugin plugin;
  plugin.executor = &table_;
  InstanceOptions options;
  options.name = options.kind = "thing";
  options.deadlines.sweep = std::chrono::milliseconds(20);
  HostParts parts;
  parts.clock = &clock_;
  parts.offload = &offload_;
  parts.sink = &events_;
  parts.kube = &door_;
  instance_ = Instance::Make(plugin, options, parts);
  answers_.instance = instance_;
  std::promise<void> opened;
  instance_->Open([&](const Result<void>&) { opened.set_value(); });
  opened.get_future().wait();
  OnStrand([&] { inst_ = static_cast<KubeSelf*>(instance_->self())->inst; });
  kube_ = static_cast<const detent_kube*>(HostTable()->service(inst_, DETENT_SVC_KUBE));
  watches_ = static_cast<const detent_watches*>(HostTable()->service(inst_, DETENT_SVC_WATCH));
}

KubeInstance::~KubeInstance() {
  CloseInstance();
}

void KubeInstance::Close() {
  CloseInstance();
}

void KubeInstance::CloseInstance() {
  if (instance_ == nullptr) return;
  std::promise<void> closed;
  instance_->Close([&](const std::vector<TaskOrder>&) { closed.set_value(); });
  closed.get_future().wait();
  instance_->Join();
  instance_ = nullptr;
}

detent_task KubeInstance::StartTask(TaskId id, const std::string& name) {
  TaskOrder order;
  order.id = id;
  order.key = "uid/0/" + std::to_string(id);
  order.name = name;
  order.ns = "ns";
  order.job_name = "job";
  order.attempt = static_cast<int64_t>(id);
  order.spec = MakeSpecText("{}");
  std::vector<TaskCommand> commands;
  commands.emplace_back(StartCommand{std::move(order)});
  instance_->Submit(std::move(commands));
  events_.Of<StartAnswer>(id);
  OnStrand([&] { last_task_ = static_cast<KubeSelf*>(instance_->self())->task; });
  return last_task_;
}

void KubeInstance::ReleaseTask(TaskId id) {
  std::vector<TaskCommand> commands;
  commands.emplace_back(ReleaseCommand{id});
  instance_->Submit(std::move(commands));
  OnStrand([] {});
}

void KubeInstance::OnStrand(const std::function<void()>& work) {
  std::promise<void> done;
  instance_->Post([&] {
    work();
    done.set_value();
  });
  done.get_future().wait();
}

}  // namespace detent::testing
