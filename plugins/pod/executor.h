// PodExecutor: carries out tasks of kind `pod`, each one Pod. The Pod is the record: what a task is
// can be read from the API server, so a restart of the host neither kills nor loses one. One watch
// of what this host tracks shows all Pods of all tasks. Strand only.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "detent/sdk/executor.h"
#include "detent/sdk/logs.h"
#include "detent/sdk/permissions.h"
#include "detent/sdk/validate_live.h"
#include "detent/sdk/watch.h"
#include "plugins/pod/discards.h"
#include "plugins/pod/live_checks.h"
#include "plugins/pod/log_reader.h"
#include "plugins/pod/pod_index.h"
#include "plugins/pod/pod_task.h"
#include "plugins/pod/requests.h"
#include "plugins/pod/spec.h"

namespace detent::pod {

class PodExecutor final : public sdk::Executor, public sdk::LogReader, public sdk::LiveChecker {
 public:
  static constexpr std::string_view kKind = "pod";
  static constexpr uint32_t kCaps = DETENT_CAP_BACKEND_RECORD | DETENT_CAP_KILL_GRACEFUL;
  static constexpr bool kChecksBeforeOpen = true;
  static constexpr sdk::Permission kPermissions[] = {
      {"v1/pods", "create,delete,get,list,patch,watch"}, {"v1/pods/log", "get"}};
  static const std::string_view kSpecSchema;    // schema.cc
  static const std::string_view kConfigSchema;  // schema.cc

  static void Validate(sdk::Fields& fields) { ReadSpec(fields, sdk::Fields::Mode::kTemplate, 0); }

  sdk::Status Create(const sdk::InstanceInfo& info, sdk::Diagnostics& diag) override;
  void Open(sdk::Op op) override;
  void Close(sdk::Op op) override;
  void Start(sdk::Op op, const sdk::TaskRef& ref) override;
  void Recover(sdk::Op op, const sdk::TaskRef& ref) override;
  void Kill(sdk::Op op, sdk::Task& task, const sdk::KillRequest& how) override;
  void ForceDelete(sdk::Op op, sdk::Task& task) override;
  void Release(sdk::Task& task) override;
  void Detach(sdk::Task& task) override;
  void Cancel(detent_op op) override;

  void ReadLog(sdk::Op op, const sdk::LogRequest& request) override;
  void DiscardLog(std::string_view key) override;

  void CheckLive(sdk::Op op, std::string_view namespace_, std::string_view spec,
                 sdk::Diagnostics diag) override;

 private:
  PodSpec ReadFinal(const sdk::JsonDoc& doc, sdk::Diagnostics& diag) const;
  PodTask& Take(const sdk::TaskRef& ref, const PodSpec& spec);
  void OnEvent(const sdk::WatchEvent& event);
  void OnUpsert(Pod pod);
  bool RemoveGhost(const Pod& pod);
  void OnDelete(const sdk::WatchEvent& event);
  void OnSynced();
  void AnswerUnlisted(const std::string& why_not_yet);

  std::unique_ptr<Requests> requests_;
  std::unique_ptr<LogRequests> logs_;
  std::unique_ptr<Discards> discards_;
  std::unique_ptr<LiveChecks> live_checks_;
  sdk::Watch watch_;
  PodIndex index_;
  int64_t opened_ns_ = 0;
  bool synced_ = false;
  // Recovers that wait for the list, which tells of all at once.
  std::vector<std::pair<detent_task, sdk::Op>> unlisted_;
  uint64_t round_ = 1;         // of the watch's list, counted
  std::string watch_problem_;  // why there is no list; empty: not known
};

}  // namespace detent::pod
