// LogRequests: reads the logs of Pods through the API server, as long as the Pods are there. The
// log of a task is that of its main container; of a Pod that ended before that ran, the init
// container that failed. Nothing is kept but which finished Pod a key means. Strand only.

#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "detent/sdk/logs.h"
#include "plugins/pod/log_lines.h"
#include "plugins/pod/pod.h"
#include "plugins/pod/requests.h"

namespace detent::pod {

class LogRequests {
 public:
  // Both outlive this.
  LogRequests(const sdk::Host& host, Requests& requests) : host_(host), requests_(requests) {}
  LogRequests(const LogRequests&) = delete;
  LogRequests& operator=(const LogRequests&) = delete;

  // known: the task's Pod as it is now, or null; then it is looked for, and `found` is told.
  void Read(sdk::Op op, const sdk::LogRequest& request, const Pod* known,
            std::function<void(const Pod&)> found);

  void Cancel(detent_op op, const sdk::Status& status);
  void Close();  // answers all

 private:
  // One question, until it is answered.
  struct Reading {
    sdk::Op op;
    std::string key, name, ns;
    LogWindow window;
    bool want_lines = true, tail = false, from_start = false;
    std::optional<Pod> pod;
    std::function<void(const Pod&)> found;
    std::string container;
    uint64_t tail_lines = 0;  // asked for; 0: all since window.from
    uint64_t limit = 0;       // of bytes, asked for
  };
  using ReadingPtr = std::shared_ptr<Reading>;

  void Ask(const ReadingPtr& reading, sdk::KubeRequest request,
           void (LogRequests::*then)(const ReadingPtr&, const sdk::KubeAnswer&));
  void FindPod(const ReadingPtr& reading);
  void OnFound(const ReadingPtr& reading, const sdk::KubeAnswer& answer);
  void OnListed(const ReadingPtr& reading, const sdk::KubeAnswer& answer);
  void Found(const ReadingPtr& reading);
  void ReadPodLog(const ReadingPtr& reading);
  void AskForLines(const ReadingPtr& reading);
  void OnLines(const ReadingPtr& reading, const sdk::KubeAnswer& answer);
  void OnTail(const ReadingPtr& reading, const sdk::KubeAnswer& answer);
  void OnRefused(const ReadingPtr& reading, const sdk::KubeAnswer& answer);
  void Give(const ReadingPtr& reading, const LogSlice& slice);
  void GiveNothing(const ReadingPtr& reading);
  void Fail(const ReadingPtr& reading, const sdk::Status& status);
  void Remember(const Pod& pod);

  const sdk::Host& host_;
  Requests& requests_;
  std::vector<std::weak_ptr<Reading>> open_;
  std::deque<Pod> finished_;  // read from lately, and let go of
};

}  // namespace detent::pod
