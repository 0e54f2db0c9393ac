#include "tests/sim/simulator.h"

#include <utility>

#include "core/api/admission.h"
#include "core/api/codec.h"
#include "core/api/job_from_config.h"
#include "core/base/json.h"
#include "core/base/limits.h"
#include "core/base/names.h"
#include "core/control/job_intake.h"

namespace detent {
namespace {

using std::chrono::milliseconds;

constexpr const char* kExecutors[] = {"exec", "http", "pod"};

Object Admitted(Kind kind, Json document, WallTime now) {
  AdmissionContext context;
  context.now = now;
  Admission admission = AdmitNew(kind, std::move(document), context);
  for (const Diagnostic& mistake : admission.mistakes) {
    std::fprintf(stderr, "the simulator's own object: %s\n", Sentence(mistake).c_str());
    std::abort();
  }
  return std::move(admission.object);
}

class InboxSink final : public ExecutorSink {
 public:
  explicit InboxSink(Inbox& inbox) : inbox_(inbox) {}
  void Post(std::vector<ExecutorEvent>& events) override {
    inbox_.PostAnswer(ExecutorsSaid{std::move(events)});
  }

 private:
  Inbox& inbox_;
};

}  // namespace

struct Simulator::Host {
  Host(Simulator& sim, MemoryStore::State state)
      : store(MemoryStore::Mode::kPumped, std::move(state), sim.unit_),
        sink(inbox),
        log(LogLevel::kDebug,
            [&sim](std::string_view line) {
              sim.Trace("host says " + std::string(line.substr(0, line.find('\n'))));
            }),
        engine({store, sim.world_.directory(), inbox, sim.clock_, log, metrics, sim.options_}) {
    store.changes(Kind::kJob).SetListener([this, &sim](const std::vector<Change>& changes) {
      for (const Change& change : changes) sim.checkers_.Saw(change);
      inbox.PostAnswer(StoreChanged{changes});
    });
  }

  Inbox inbox{limits::kMailboxEvents};
  MemoryStore store;
  JobIntake intake{store, inbox};
  InboxSink sink;
  Logger log;
  Metrics metrics;
  Engine engine;
  std::vector<Message> waiting;  // Taken from the inbox, in order; the engine sees them one by one.
};

Simulator::Simulator(uint64_t seed, bool traced)
    : traced_(traced),
      random_(seed),
      unit_(seed % 2 == 0 ? MemoryStore::Unit::kTransaction : MemoryStore::Unit::kWrite),
      clock_(FromUnixSeconds(1'800'000'000) + std::chrono::microseconds(seed % 1'000'000)),
      world_(clock_, random_) {
  options_.default_ttl = std::chrono::seconds(20);
  options_.default_pending_timeout = std::chrono::seconds(30);
  options_.tasks_per_executor = 12;
  options_.raw_objects = unit_ == MemoryStore::Unit::kWrite;
  world_.trace = [this](const std::string& what) { Trace(what); };
}

Simulator::~Simulator() = default;

void Simulator::Trace(const std::string& what) {
  if (!traced_) return;
  report_.trace.push_back(FormatMicroTime(clock_.Now()) + "  " + what);
}

std::string Simulator::Breach() const {
  if (!checkers_.breach().empty()) return checkers_.breach();
  return world_.breach();
}

void Simulator::StartHost() {
  Trace("host starts");
  host_ = std::make_unique<Host>(*this, std::move(state_));
  world_.Attach(&host_->store, &host_->sink);
  if (const auto loaded = host_->engine.Load(); !loaded) std::abort();
  idle_ = std::chrono::nanoseconds(0);
}

void Simulator::KillHost(Death death) {
  Trace("host is killed");
  ++report_.crashes;
  // Where in a write it dies: before the commit, or durable and not acknowledged.
  if (death == Death::kBeforeAcknowledge) host_->store.Pump(MemoryStore::Acknowledge::kNo);
  host_->store.DropQueued();
  state_ = host_->store.TakeState();
  world_.HostDied();
  host_.reset();
}

// Some users write past the host, as one with the Kubernetes API does.
void Simulator::Submit(Transaction transaction) {
  Store& store = random_.Below(3) == 0 ? static_cast<Store&>(host_->store) : host_->intake;
  store.Submit(std::move(transaction), [this](const Result<Committed>& result) {
    if (result) checkers_.Acknowledged(*result->objects.front());
  });
}

std::string Simulator::SomeKind() {
  return kExecutors[random_.Below(std::size(kExecutors))];
}

void Simulator::CreateConfig() {
  const std::string name = "c" + std::to_string(++names_);
  const bool forbid = random_.Below(2) == 0;
  const std::string kind = SomeKind();
  const std::string text =
      R"({"kind":"JobConfig","apiVersion":"execution.detent.dev/v1alpha1",)"
      R"("metadata":{"namespace":"n","name":")" +
      name + R"("},"spec":{"concurrency":{"policy":")" + (forbid ? "Forbid" : "Allow") +
      R"("},"schedule":{"cron":{"expression":"*/)" + std::to_string(2 + random_.Below(5)) +
      R"( * * * * * *"}},"template":{"spec":{"maxAttempts":)" +
      std::to_string(1 + random_.Below(3)) + R"(,"retryDelaySeconds":)" +
      std::to_string(random_.Below(3)) + R"(,"parallelism":{"withCount":)" +
      std::to_string(1 + random_.Below(3)) + R"(},"taskTemplate":{")" + kind +
      R"(":{"say":"${task.name}"}}}}}})";
  auto object =
      std::make_shared<Object>(Admitted(Kind::kJobConfig, *ParseJson(text), clock_.Now()));
  object->meta.uid = DerivedUid(name + "/" + std::to_string(++uids_));
  Trace("user creates " + ToString(object->key()));
  Submit({{WriteOp::kCreate, std::move(object), 0, nullptr}});
}

// A Job of its own, or one more of some JobConfig.
Json Simulator::JobDocument(const std::string& name) {
  const std::string head = R"({"kind":"Job","apiVersion":"execution.detent.dev/v1alpha1",)"
                           R"("metadata":{"namespace":"n","name":")" +
                           name + R"("},"spec":{)";
  ListQuery query;
  query.kind = Kind::kJobConfig;
  const auto page = host_->store.List(query);
  if (page && !page->objects.empty() && random_.Below(3) == 0) {
    const ObjectPtr config = page->objects[random_.Below(page->objects.size())];
    const std::string text = head + R"("configName":")" + config->meta.name + R"("}})";
    // Refused while the JobConfig is being deleted.
    if (auto resolved = ResolveConfigName(*ParseJson(text), *config)) return *std::move(resolved);
  }
  const std::string kind = SomeKind();
  return *ParseJson(head + R"("template":{"maxAttempts":)" + std::to_string(1 + random_.Below(3)) +
                    R"(,"parallelism":{"withCount":)" + std::to_string(1 + random_.Below(20)) +
                    R"(},"taskTemplate":{")" + kind + R"(":{}}}}})");
}

// As a cluster takes it from a user: nobody has judged it, and its JobConfig may come to nothing.
Object Simulator::RawJob(const std::string& name) {
  Object object;
  object.meta.name = name;
  object.meta.ns = "n";
  object.meta.created = clock_.Now();
  object.meta.generation = 1;
  const uint64_t dice = random_.Below(5);
  object.spec = dice == 0   ? R"({"template":{"maxAttempts":-1,"taskTemplate":{"exec":{}}}})"
                : dice == 1 ? R"({"configName":"c)" + std::to_string(random_.Below(12)) + R"("})"
                            : R"({"template":{"parallelism":{"withCount":3},"taskTemplate":{")" +
                                  SomeKind() + R"(":{}}}})";
  return object;
}

void Simulator::CreateJob() {
  // A few names are taken.
  const std::string name = "j" + std::to_string(random_.Below(10) == 0 ? names_ : ++names_);
  const bool raw = options_.raw_objects && random_.Below(2) == 0;
  auto object = std::make_shared<Object>(
      raw ? RawJob(name) : Admitted(Kind::kJob, JobDocument(name), clock_.Now()));
  object->meta.uid = DerivedUid(name + "/" + std::to_string(++uids_));
  Trace("user creates " + ToString(object->key()));
  Submit({{WriteOp::kCreate, std::move(object), 0, nullptr}});
}

// Deletes, kills or removes by force some object of a kind.
void Simulator::ChangeSome(Kind kind) {
  ListQuery query;
  query.kind = kind;
  const auto page = host_->store.List(query);
  if (!page || page->objects.empty()) return;
  const ObjectPtr object = page->objects[random_.Below(page->objects.size())];
  if (kind == Kind::kJobConfig || random_.Below(2) == 0) {
    Trace("user deletes " + ToString(object->key()));
    Submit({DeletionOf(object, clock_.Now())});
    return;
  }
  auto copy = std::make_shared<Object>(*object);
  Json spec = *ParseJson(copy->spec);
  if (spec.Find("killTimestamp")) return;  // Once set, admission lets nobody put it off.
  const auto delay = std::chrono::seconds(random_.Below(3));
  spec.Set("killTimestamp", FormatTime(clock_.Now() + delay));
  copy->spec = DumpJson(spec);
  Trace("user kills " + ToString(object->key()));
  Submit({{WriteOp::kUpdate, std::move(copy), object->meta.resource_version, nullptr}});
}

void Simulator::UserActs() {
  const uint64_t dice = random_.Below(13);
  if (dice == 12) return world_.DeleteSomePod(random_.Below(3) == 0);
  if (dice < 2 && names_ < 12) return CreateConfig();
  if (dice < 6) return CreateJob();
  if (dice < 7) return ChangeSome(Kind::kJobConfig);
  if (dice < 10) return ChangeSome(Kind::kJob);
  ChangeSome(Kind::kTask);
}

void Simulator::RunHost(size_t messages_max) {
  std::vector<Message> arrived;
  host_->inbox.Take(arrived, std::chrono::nanoseconds(0));
  for (Message& message : arrived) host_->waiting.push_back(std::move(message));
  const size_t count = std::min(messages_max, host_->waiting.size());
  for (size_t i = 0; i < count; ++i) host_->engine.Take(host_->waiting[i]);
  host_->waiting.erase(host_->waiting.begin(), host_->waiting.begin() + int64_t(count));
  idle_ = host_->engine.Pass();
}

void Simulator::Step() {
  const uint64_t dice = random_.Below(100);
  if (dice < 30) {
    host_->store.Pump();
  } else if (dice < 65) {
    RunHost(1 + random_.Below(4));
  } else if (dice < 82) {
    world_.Step();
  } else if (dice < 92) {
    clock_.Advance(milliseconds(random_.Below(1500)));
  } else if (dice < 95) {
    UserActs();
  } else if (dice < 97) {
    world_.SetUsable(SomeKind(), random_.Below(3) != 0);
  } else if (dice < 98) {
    host_->store.FailNext(1 + random_.Below(3));
  } else {
    KillHost(static_cast<Death>(random_.Below(3)));
    if (random_.Below(2) == 0) clock_.Advance(milliseconds(random_.Below(20'000)));
    StartHost();
  }
}

void Simulator::DisableSchedules() {
  ListQuery query;
  query.kind = Kind::kJobConfig;
  const auto page = host_->store.List(query);
  for (const ObjectPtr& object : page->objects) {
    auto copy = std::make_shared<Object>(*object);
    Json spec = *ParseJson(copy->spec);
    spec.Find("schedule")->Set("disabled", true);
    copy->spec = DumpJson(spec);
    Submit({{WriteOp::kUpdate, std::move(copy), 0, nullptr}});
  }
}

bool Simulator::Quiet() {
  bool quiet = true;
  while (host_->store.Pump()) quiet = false;
  if (world_.Step()) quiet = false;
  RunHost(SIZE_MAX);
  return quiet && host_->waiting.empty() && host_->store.queued() == 0 && !world_.has_news() &&
         idle_ > std::chrono::nanoseconds(0);
}

void Simulator::Rest() {
  Trace("faults end");
  for (const char* kind : kExecutors) world_.SetUsable(kind, true);
  host_->store.FailNext(0);
  while (!Quiet()) {
  }
  DisableSchedules();
  for (int i = 0; i < 4'000 && Breach().empty(); ++i) {
    if (!Quiet()) continue;
    if (idle_ >= std::chrono::hours(1) && !world_.NextEvent()) break;
    const auto pause = std::chrono::duration_cast<std::chrono::microseconds>(idle_);
    clock_.Advance(std::clamp(pause, std::chrono::microseconds(1),
                              std::chrono::microseconds(std::chrono::seconds(1))));
  }
  if (Breach().empty()) checkers_.AtRest(host_->store.TakeState().objects);
  if (traced_ && !Breach().empty()) TraceReasons();
  if (Breach().empty() && world_.held() > 0) {
    report_.breach = "left behind outside: " + std::to_string(world_.held()) + " tasks";
  }
}

// What the host itself says of everything that has not ended.
void Simulator::TraceReasons() {
  for (const auto& [key, object] : host_->store.TakeState().objects) {
    const auto lines = host_->engine.Explain(key);
    for (const std::string& line : lines ? *lines : std::vector<std::string>{}) Trace(line);
    Trace("  stored: " + object->status);
  }
}

SimReport Simulator::Run(int steps) {
  StartHost();
  for (int i = 0; i < steps && Breach().empty(); ++i) Step();
  if (Breach().empty()) Rest();
  if (report_.breach.empty()) report_.breach = Breach();
  report_.executions = world_.executions();
  report_.jobs_finished = checkers_.jobs_finished();
  report_.slots = checkers_.slots();
  if (host_) host_->store.DropQueued();
  return std::move(report_);
}

}  // namespace detent
