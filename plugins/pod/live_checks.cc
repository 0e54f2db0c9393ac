#include "plugins/pod/live_checks.h"

#include <utility>

#include "detent/sdk/validate_live.h"
#include "plugins/pod/dry_run.h"
#include "plugins/pod/manifest.h"
#include "plugins/pod/marks.h"

namespace detent::pod {
namespace {

// Less than the host waits for (detent/ext/validate_live.h), so that it hears why there is no
// answer.
constexpr uint32_t kPatienceMs = 1'200;

}  // namespace

void LiveChecks::Begin(sdk::Op op, std::string_view ns, std::string_view spec,
                       sdk::Diagnostics diag) {
  if (mode_ == DryRun::kNever) {
    return op.Fail({DETENT_E_UNSUPPORTED, "NotConfigured", "dryRunAtAdmission is Never"});
  }
  auto doc = sdk::JsonDoc::Parse(host_.table(), host_.instance(), spec);
  if (!doc) return op.Fail(doc.status());
  sdk::KubeRequest request;
  {
    // What `validate` has let pass is the server's to judge, so these findings are nobody's.
    sdk::Diagnostics unheard(host_.table(), nullptr);
    sdk::Fields fields(doc->root(), "", sdk::Fields::Mode::kFinal, unheard);
    const PodSpec read = ReadSpec(fields, sdk::Fields::Mode::kFinal, host_.instance());
    request.body = DryRunManifestOf(read, host_);
  }
  request.verb = DETENT_KUBE_CREATE;
  request.gvr = kPods;
  request.namespace_ = ns;
  // As kubectl asks: a slip in a field's name is a mistake.
  request.query = "fieldValidation=Strict";
  request.flags = DETENT_KUBE_DRY_RUN;
  request.timeout_ms = kPatienceMs;
  const detent_op id = op.id();
  auto call = sdk::KubeCall::Send(
      host_, request, [this, id](const sdk::KubeAnswer& answer) { OnTried(id, answer); });
  if (!call) return op.Fail(call.status());
  auto patience = host_.After(std::chrono::milliseconds(kPatienceMs), [this, id] {
    Cancel(id, {DETENT_E_UNAVAILABLE, "NoAnswer",
                "the API server did not answer within " + std::to_string(kPatienceMs) + " ms"});
  });
  checks_.emplace(id, Check{std::move(op), std::string(ns), *std::move(doc), diag, *std::move(call),
                            std::move(patience)});
}

void LiveChecks::OnTried(detent_op op, const sdk::KubeAnswer& answer) {
  auto found = checks_.extract(op);
  if (found.empty()) return;
  Check& check = found.mapped();
  const DryRunVerdict verdict = VerdictOf(answer, check.spec.root(), check.ns);
  if (!verdict.looked.ok()) return check.op.Fail(verdict.looked);
  for (const DryRunFinding& finding : verdict.findings) {
    if (finding.lasting && mode_ == DryRun::kRefuse) {
      check.diag.Error(finding.pointer, finding.reason, finding.message);
    } else {
      check.diag.Warning(finding.pointer, finding.reason, finding.message);
    }
  }
  sdk::AnswerLive(std::move(check.op), mode_ == DryRun::kRefuse);
}

void LiveChecks::Cancel(detent_op op, const sdk::Status& status) {
  auto found = checks_.extract(op);
  if (!found.empty()) found.mapped().op.Fail(status);
}

void LiveChecks::Close(const sdk::Status& status) {
  for (auto& [id, check] : std::exchange(checks_, {})) check.op.Fail(status);
}

}  // namespace detent::pod
