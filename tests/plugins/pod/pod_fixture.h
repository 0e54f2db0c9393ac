// PodRun: the pod plugin in a FakeHost, with a FakeKube for its cluster.

#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "core/base/json.h"
#include "tests/plugins/fake_host.h"
#include "tests/plugins/fake_kube.h"

namespace detent::testing {

inline constexpr const char* kPlain =
    R"({"spec":{"containers":[{"name":"main","image":"alpine"}]}})";

class PodRun : public ::testing::Test {
 protected:
  void SetUp() override { NewHost(); }
  void TearDown() override;

  // A host begins; with one that there is already, that is a restart.
  void NewHost(const char* config = "{}");
  FakeHost& host() { return *host_; }
  FakeKube& kube() { return kube_; }
  FakeKubeServer& server() { return kube_.server(); }

  // Turns the loops of both until nothing is left to be done.
  void Settle();

  // A task of that name, started; its answer is expected to be `code`.
  detent_task Started(const std::string& name, const std::string& spec = kPlain,
                      detent_status code = DETENT_OK);
  // A task that an earlier life recorded so, in a new handle.
  detent_task Recovered(const std::string& name, uint32_t last_phase, int32_t answer,
                        const std::string& spec = kPlain);
  // What the host does when a task has ended.
  void Release(detent_task task);

  // The answer to an op, once everything has settled.
  Answer After(detent_op op);
  const Update& last(detent_task task) { return host_->last(task); }
  // "Running", "Failed ExitCode", ...
  std::string Is(detent_task task);
  // What of a Pod the marks are: "tracked", "held" (by the finalizer), "deleting".
  std::string Marks(const std::string& name);

  FakeKube kube_;
  std::unique_ptr<FakeHost> host_;
};

}  // namespace detent::testing
