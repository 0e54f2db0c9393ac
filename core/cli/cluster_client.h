// The API server of a Kubernetes cluster in place of a host. It stores our kinds and knows nothing
// of them, so what a host does when it is asked is done here: admission with its defaults, a Job's
// configName, older spellings, reasons, and output, which comes from the Pods themselves. What only
// the host's memory has is said to be there, and how to ask it.
//
// One thread.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "core/api/admission.h"
#include "core/base/clock.h"
#include "core/cli/api_client.h"
#include "core/cli/pod_log.h"

namespace detent {

class ClusterClient final : public ApiClient {
 public:
  // `server` is the API server's address. `clock` is borrowed.
  ClusterClient(std::unique_ptr<ClientTransport> transport, const std::string& server,
                const Clock& clock)
      : ApiClient(std::move(transport), server), clock_(clock) {}

  // Field selectors that the server does not know are looked at here. Of a watch then, an object
  // that is not selected any more has no event.
  Result<Json> List(const Selection& selection) override;
  Result<Json> ListTable(const Selection& selection) override;
  Result<void> Watch(WatchRequest& request, const OnEvent& on_event) override;

  // What a host would store is sent. A change is worked out on the object as it is, and once more
  // where somebody else changes it meanwhile.
  Result<Json> Create(Kind kind, const std::string& ns, const Json& document,
                      bool dry_run) override;
  Result<Json> Patch(const ObjectKey& key, const Json& merge_patch, bool dry_run) override;

  Result<std::vector<std::string>> Why(const ObjectKey& key) override;
  // Of Pods. An offset counts what was given before; only 0 and the newest may be asked for.
  Result<void> Log(const LogPlace& place, int64_t offset,
                   const HttpClient::OnLine& on_line) override;
  Result<Json> Plugins() override;
  Result<void> ReloadPlugin(const std::string& kind) override;
  Result<CronDefaults> ReadCronDefaults() override;

  std::string Named() const override { return "the API server at " + shown(); }
  const char* Holder() const override { return "cluster"; }
  const char* Remedy() const override { return "see whether the cluster is up"; }
  std::chrono::milliseconds LogPause(size_t tasks) const override;

 protected:
  Error Unreachable(const Error& error) const override;
  Error Advised(const Json& status, Error error) const override;
  Error Unreadable(const ClientReply& reply) const override;

 private:
  Result<Json> Resolve(const std::string& ns, Json job);
  Error Refuse(const Diagnostics& mistakes);
  Result<PodLog::Source> LogSource(const LogPlace& place);

  const Clock& clock_;
  std::map<std::tuple<ObjectKey, int64_t, int64_t>, PodLog> logs_;
};

}  // namespace detent
