// Who is asking, kept fresh: tokens and certificates that live in files, and what exec plugins
// print, are had anew before they end and after the server refused them.
//
// Files are read and plugins are run on a thread of the keeper's own, when somebody asks; there is
// none for credentials that do not change. Any thread may ask.

#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/result.h"
#include "core/kube/child_process.h"
#include "core/kube/cluster_access.h"
#include "core/kube/identity_source.h"

namespace detent {

class CredentialKeeper {
 public:
  // All borrowed.
  CredentialKeeper(const ClusterAccess& access, CredentialTimes times, const Clock& clock,
                   Logger& log);
  ~CredentialKeeper();  // Ends a plugin that runs.
  CredentialKeeper(const CredentialKeeper&) = delete;
  CredentialKeeper& operator=(const CredentialKeeper&) = delete;

  // Once, before the first Get: what is called, on the keeper's thread, each time that a Get which
  // had nothing to give may be repeated.
  void OnChange(std::function<void()> on_change) { on_change_ = std::move(on_change); }

  // What to show now. Null: it is being had; on_change follows. An error: it cannot be had, and is
  // not tried again for a while.
  Result<KubeIdentityPtr> Get();

  // The server refused what was shown. True: Get again; it has, or gets, something newer. False:
  // there is nothing newer, or what there is was had for this reason just before.
  bool Refuse(const KubeIdentityPtr& shown);

 private:
  void Ask();
  void Run();
  void Take(Result<KubeIdentity> had);
  bool IsUsable(MonoTime now) const;

  const Clock& clock_;
  Logger& log_;
  StopSignal stop_;
  IdentitySource source_;  // The keeper's thread only, once that runs.
  std::function<void()> on_change_;

  std::mutex mutex_;  // Guards all that follows.
  std::condition_variable asked_;
  KubeIdentityPtr current_;       // The last that was had.
  bool refused_ = false;          // The server does not take it.
  std::optional<Error> failure_;  // Of the last try to have it anew.
  MonoTime try_again_at_{};       // The failure holds until then.
  int failures_ = 0;              // In a row.
  MonoTime refuse_again_at_{};
  bool wanted_ = false;  // The thread is at work, or is to be.
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace detent
