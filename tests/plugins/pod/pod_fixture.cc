#include "tests/plugins/pod/pod_fixture.h"

#include "core/plugin/buffer.h"

namespace detent::testing {

void PodRun::TearDown() {
  host_.reset();
  EXPECT_EQ(LiveBuffers(), 0u);
}

void PodRun::NewHost(const char* config) {
  host_.reset();
  host_ = std::make_unique<FakeHost>(DETENT_POD_PLUGIN, "pod");
  kube_.Attach(*host_);
  ASSERT_EQ(host_->Create("/nonexistent", config), DETENT_OK);
  ASSERT_EQ(host_->Open().code, DETENT_OK);
  Settle();
}

void PodRun::Settle() {
  for (int turn = 0; turn < 4; ++turn) {
    kube_.Deliver();
    host_->RunReady();
  }
}

detent_task PodRun::Started(const std::string& name, const std::string& spec, detent_status code) {
  const detent_task task = host_->NewTask(name, spec);
  const Answer answer = After(host_->Start(task));
  EXPECT_TRUE(answer.given);
  EXPECT_EQ(answer.code, code) << answer.reason << ": " << answer.message;
  return task;
}

detent_task PodRun::Recovered(const std::string& name, uint32_t last_phase, int32_t expected,
                              const std::string& spec) {
  const detent_task task = host_->NewTask(name, spec, DETENT_REF_START_ACKED);
  host_->Remember(task, "", last_phase);
  const Answer answer = After(host_->Recover(task));
  EXPECT_TRUE(answer.given);
  EXPECT_EQ(answer.code, expected) << answer.reason << ": " << answer.message;
  return task;
}

void PodRun::Release(detent_task task) {
  host_->Release(task);
  Settle();
}

Answer PodRun::After(detent_op op) {
  Settle();
  return host_->answer(op);
}

std::string PodRun::Is(detent_task task) {
  constexpr const char* kPhases[] = {"Unknown", "Starting", "Running", "Killing", ""};
  constexpr const char* kResults[] = {"", "Succeeded", "Failed", "Killed", "Lost"};
  const Update& update = host_->last(task);
  std::string text = std::string(kPhases[update.phase]) + kResults[update.result];
  return update.reason.empty() ? text : text + " " + update.reason;
}

std::string PodRun::Marks(const std::string& name) {
  const Json* const pod = server().Find(name);
  if (pod == nullptr) return "gone";
  std::string text;
  const auto add = [&](bool is, const char* word) {
    if (is) text += (text.empty() ? "" : " ") + std::string(word);
  };
  const Json* const labels = pod->At("/metadata/labels");
  add(labels != nullptr && labels->Find(kTrackedLabel) != nullptr, "tracked");
  add(TextAt(*pod, "/metadata/finalizers/0") == kFinalizer, "held");
  add(!TextAt(*pod, "/metadata/deletionTimestamp").empty(), "deleting");
  return text.empty() ? "free" : text;
}

}  // namespace detent::testing
