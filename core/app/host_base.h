// What every host has, whatever its home: the loop's inbox, logs, metrics, and the door to HTTP.
//
// Plain parts in the order of their making. The host that owns them outlives all that borrow them.

#pragma once

#include "core/app/config.h"
#include "core/base/clock.h"
#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/base/metrics.h"
#include "core/base/random.h"
#include "core/control/message.h"
#include "core/net/curl_transport.h"

namespace detent {

class InboxSink final : public ExecutorSink {
 public:
  explicit InboxSink(Inbox& inbox) : inbox_(inbox) {}
  void Post(std::vector<ExecutorEvent>& events) override {
    inbox_.PostAnswer(ExecutorsSaid{std::move(events)});
    events.clear();
  }

 private:
  Inbox& inbox_;
};

struct HostBase {
  HostBase(const HostConfig& host_config, const Clock& host_clock)
      : config(host_config),
        clock(host_clock),
        log(config.log_level, StandardErrorSink()),
        http(CurlTransportOptions{}, host_clock) {}

  const HostConfig config;
  const Clock& clock;
  Logger log;
  Metrics metrics;
  SystemRandom random;
  Inbox inbox{limits::kMailboxEvents};
  InboxSink sink{inbox};
  CurlTransport http;
};

}  // namespace detent
