// Requests to one Kubernetes API server: as whom, over one HTTP/2 connection, with the server's own
// words as the answer.
//
// The client adds credentials, keeps them fresh (files are read again, exec plugins are run again
// before their credential expires and after a 401), honours 429 and Retry-After, and repeats what
// may be repeated. It has no limit of requests per second unless one is set. Any thread may send
// and cancel. Callbacks run exactly once, on the client's thread, and must not block there. The
// destructor cancels what is under way and calls every callback.
//
// Source: Kubernetes API concepts ("Resource URIs", "Efficient detection of changes", "API
// Priority and Fairness"); exec plugins: KEP-541.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/random.h"
#include "core/base/result.h"
#include "core/kube/cluster_access.h"

namespace detent {

struct KubeRequest {
  std::string method = "GET";
  std::string path;  // From the server's root, with its query: see core/kube/resource.h.
  std::string body;
  std::string content_type = "application/json";  // Of the body. For PATCH it says which kind.
  std::string accept = "application/json";
  std::chrono::milliseconds timeout{30'000};  // Of one try, from its begin to its last byte.
  // May be sent again although an earlier try may have had its effect. GET and HEAD always may. A
  // 429 is no effect, so it is waited out for every request.
  bool idempotent = false;
  // Its path says dryRun=All: it changes nothing, so a host that may not write may send it.
  bool dry_run = false;
};

// How it ended, sorted by what the caller can do about it.
enum class KubeOutcome : uint8_t {
  kOk,             // 2xx.
  kNotFound,       // 404.
  kGone,           // 410: the version asked for is no longer kept.
  kAlreadyExists,  // 409 on a creation.
  kConflict,       // 409 else.
  kInvalid,        // 400, 405, 406, 413, 415, 422: the same request fails again.
  kDenied,         // 401 after fresh credentials, 403; no credentials could be had.
  kBusy,           // 429, and the client's patience is over.
  kUnavailable,    // 5xx, no connection, a broken one. Of a request that has an effect: unknown.
  kDeadline,       // No whole answer in time. Its effect is unknown.
  kCancelled,      // By its sender, by the client's end, or withheld: see kReasonDeposed.
};

const char* NameOf(KubeOutcome outcome);

// The reason of a change that may_write withheld. `not_sent` says whether an earlier try was sent.
inline constexpr const char* kReasonDeposed = "Deposed";

struct KubeReply {
  KubeOutcome outcome = KubeOutcome::kOk;
  int status = 0;       // HTTP; 0: none came.
  std::string reason;   // Of the server's Status ("AlreadyExists"), or of the outcome.
  std::string message;  // For people, the server's own where it said something. Empty for kOk.
  std::string body;     // As it came; of a failure the Status, if it was one.
  std::optional<std::chrono::milliseconds> retry_after;
  bool not_sent = false;  // Provably without effect: no try of it was sent, but such as 429 ended.
  std::string last_try;   // Of kCancelled, why the try before it failed; empty: there was none.
};

// What a caller that speaks of Results can do about it. Not of kOk.
Code CodeOf(const KubeReply& reply);

using KubeCallback = std::function<void(KubeReply&& reply)>;

// A reply that is read while it comes: a watch, or the log of a container.
struct KubeStream {
  // Each piece as it arrives, of a reply of status 2xx only. The client's thread; must not block.
  std::function<void(std::string_view piece)> on_data;
  // Once. kOk: the server ended it in good order. The body is empty for kOk.
  KubeCallback on_end;
  // No byte for so long ends it with kDeadline; 0: it may be silent for ever.
  std::chrono::milliseconds silence{0};
};

struct KubeClientOptions {
  int tries_max = 5;                             // Of one request, the first included.
  std::chrono::milliseconds patience{60'000};    // Over all tries of one request.
  std::chrono::milliseconds backoff_first{250};  // Doubles up to 8 s, with jitter.
  // How often tokens and certificates are looked at, as long as there are requests.
  std::chrono::milliseconds reread_files{60'000};
  std::chrono::milliseconds exec_timeout{60'000};  // Of a run of an exec plugin; then it is killed.
  size_t in_flight_max = 32;  // Requests at a time; the rest wait in order. Streams are beside.
  double requests_per_second = 0;  // 0: no limit.
  std::string user_agent;          // "detent/0.1.0 (linux/amd64)"; empty: none is sent.
  std::string proxy;               // For an access that names none; empty: none.
  Random* random = nullptr;        // Of the jitter; borrowed. Null: the system's.
  // May this host change anything? Asked on the client's thread before each try of every request
  // but GET, HEAD and dry runs, when there is nothing left to wait for: not a 429's time, not
  // credentials, not a limit, not a connection. False: the request ends with kCancelled and
  // kReasonDeposed. It must not block, nor call the client. Null: always.
  std::function<bool()> may_write;
};

class KubeClient {
 public:
  // `clock` and `log` are borrowed. No connection is made before the first request.
  KubeClient(ClusterAccess access, KubeClientOptions options, const Clock& clock, Logger& log);
  ~KubeClient();  // Not from within a callback.
  KubeClient(const KubeClient&) = delete;
  KubeClient& operator=(const KubeClient&) = delete;

  // The answer names it for Cancel, and is never 0. Throws what the standard library does where
  // memory, threads or descriptors have run out: the request was not taken then.
  uint64_t Send(KubeRequest request, KubeCallback callback);
  // The timeout of the request is that of its first byte; from then on `silence` holds. Not retried
  // but for credentials (401) and 429 before its first byte.
  uint64_t Stream(KubeRequest request, KubeStream stream);
  // Its callback still comes once. Harmless for one that has ended.
  void Cancel(uint64_t id);

  // Sends and waits: for programs' starts, the command line and tests, never for the loop and never
  // on the client's thread.
  KubeReply Fetch(KubeRequest request);

  // Runs `task` on the client's thread, for the backoff of those who build on the client. Tasks
  // that are not due when the client is destroyed are dropped.
  void After(std::chrono::milliseconds delay, std::function<void()> task);

  // Why the server cannot be reached, for people: of the last try, while none has succeeded since
  // it failed first. Empty: it answers, or was never asked. Any thread.
  std::string Trouble() const;

  const ClusterAccess& access() const;
  const Clock& clock() const;
  Random& random() const;  // On the client's thread only.
  Logger& log() const;

 private:
  class Core;
  std::unique_ptr<Core> core_;
};

}  // namespace detent
