// LiveChecks: asks the API server whether it would take the Pod of a spec, with dryRun=All, while
// the user who writes the spec waits. Nothing is created, and what does not answer in time says
// nothing. Strand only.

#pragma once

#include <map>
#include <string_view>

#include "detent/sdk/kube.h"
#include "detent/sdk/op.h"
#include "detent/sdk/spec.h"
#include "detent/sdk/timer.h"

namespace detent::pod {

// The config's dryRunAtAdmission.
enum class DryRun : uint8_t {
  kNever,
  kWarn,
  kRefuse,  // what is wrong with the spec itself refuses it; all else is a warning
};

class LiveChecks {
 public:
  // host outlives this.
  LiveChecks(const sdk::Host& host, DryRun mode) : host_(host), mode_(mode) {}
  LiveChecks(const LiveChecks&) = delete;
  LiveChecks& operator=(const LiveChecks&) = delete;

  // As sdk::LiveChecker::CheckLive.
  void Begin(sdk::Op op, std::string_view ns, std::string_view spec, sdk::Diagnostics diag);
  // Answers one that the host waits for no longer.
  void Cancel(detent_op op, const sdk::Status& status);
  // Answers all.
  void Close(const sdk::Status& status);

 private:
  struct Check {
    sdk::Op op;
    std::string ns;
    sdk::JsonDoc spec;
    sdk::Diagnostics diag;
    sdk::KubeCall call;
    sdk::Timer patience;
  };

  void OnTried(detent_op op, const sdk::KubeAnswer& answer);

  const sdk::Host& host_;
  const DryRun mode_;
  std::map<detent_op, Check> checks_;
};

}  // namespace detent::pod
