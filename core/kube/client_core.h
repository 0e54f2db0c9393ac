// What is behind KubeClient: the requests that are under way or wait, and what becomes of each try.
//
// Requests are handed to the transport by whoever sends them, and come back on its thread, which is
// the client's: replies are judged, repeated and delivered there. One mutex guards the tables; it
// is never held while a callback runs.

#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/kube/client.h"
#include "core/kube/credentials.h"
#include "core/net/curl_transport.h"

namespace detent {

class KubeClient::Core {
 public:
  Core(ClusterAccess access, KubeClientOptions options, const Clock& clock, Logger& log);
  ~Core();

  uint64_t Send(KubeRequest request, KubeStream stream, bool is_stream);
  void Cancel(uint64_t id);
  void After(std::chrono::milliseconds delay, std::function<void()> task);

  std::string Trouble() const;

  const ClusterAccess& access() const { return access_; }
  const Clock& clock() const { return clock_; }
  Random& random() const { return random_; }
  Logger& log() const { return log_; }

 private:
  struct Call {
    uint64_t id = 0;
    KubeRequest request;
    KubeStream stream;  // Of a request that is none, only its end.
    bool is_stream = false;
    bool cancelled = false;
    bool refused = false;      // Its credentials were, once.
    bool may_be_done = false;  // An earlier try was sent, and nobody said that it had no effect.
    int tries = 0;
    std::string last_try;   // Why it failed.
    uint64_t http_id = 0;   // While the transport has it.
    MonoTime begun_at{};    // Its present try,
    MonoTime give_up_at{};  // and its last may begin before this.
    KubeIdentityPtr shown;
    std::optional<KubeReply> ended;  // Waits to be delivered.
  };
  using Queue = std::deque<uint64_t>;

  // All but the last three with mutex_ held.
  void Pump();
  void PumpQueue(Queue& queue, bool limited);
  bool MayBegin(MonoTime now);
  void Begin(Call& call, const KubeIdentityPtr& identity, MonoTime now);
  HttpRequest MakeRequest(Call& call);
  void EndSoon(Call& call, KubeReply reply);
  void KeepForNext(Call& call, HttpReply&& reply);
  void NoteReach(const Call& call, const HttpReply& reply, MonoTime now);
  std::optional<std::chrono::milliseconds> PauseBeforeNext(Call& call, const HttpReply& reply);
  std::chrono::milliseconds Backoff(int tries);
  void RunSoon(void (Core::*what)());
  void PumpOnThread();
  void DeliverEnded();
  void OnReply(Call& call, HttpReply&& reply);

  const ClusterAccess access_;
  const KubeClientOptions options_;
  const Clock& clock_;
  Logger& log_;
  mutable SystemRandom system_random_;
  Random& random_;
  const bool secure_;

  mutable std::mutex mutex_;  // Guards what follows, up to the two owners.
  bool begun_ = false;
  bool stopping_ = false;
  uint64_t next_id_ = 1;
  std::unordered_map<uint64_t, std::unique_ptr<Call>> calls_;
  Queue requests_, streams_;  // What is to begin, in order.
  std::vector<uint64_t> ended_;
  size_t in_flight_ = 0;  // Of requests.
  MonoTime next_slot_{};  // Under requests_per_second.
  bool slot_awaited_ = false;
  KubeIdentityPtr headers_of_;
  HttpHeaders headers_;  // Of every request that shows that identity.
  bool reachable_ = true;
  MonoTime heard_at_ = MonoTime::min();
  MonoTime lost_at_{};
  std::string trouble_;  // While it is not.

  std::unique_ptr<CredentialKeeper> keeper_;
  std::unique_ptr<CurlTransport> transport_;
};

}  // namespace detent
