// Requests: what this instance asks of the API server, as many at a time as the host lets through.
// The others wait in the order in which they came, those that end something before those that begin
// something, so that a kill does not wait behind ten thousand creations. Strand only.

#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "detent/sdk/kube.h"

namespace detent::pod {

// Which Pod a request is about.
struct PodName {
  std::string ns, name, uid;
};

// Deletes that very Pod, and none that has its name by now (409). grace: seconds; nullopt: the
// Pod's own, and none for one that has ended.
sdk::KubeRequest DeleteRequest(const PodName& pod, std::optional<int64_t> grace);

// Writes into that very Pod why it is going to be deleted (marks.h, kKillAnnotation), if it is
// still as it was in that version (409): so nobody else has deleted it before.
sdk::KubeRequest KillMarkRequest(const PodName& pod, uint64_t version, const std::string& reason);

class Requests {
 public:
  using Ticket = uint64_t;  // never 0

  enum class Kind : uint8_t {
    kEnsure,  // create or adopt
    kSend,
  };

  // host outlives this.
  explicit Requests(const sdk::Host& host) : host_(host) {}
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;

  // done is called once, never inside this call, except that Close drops what waits. A request that
  // the host does not take is answered with the host's status.
  Ticket Ask(Kind kind, sdk::KubeRequest request, sdk::KubeCallback done);

  // True: it had not been sent, never will be, and is not answered.
  bool Withdraw(Ticket ticket);

  // Nothing is sent from here on. What is under way is answered by the host as it closes.
  void Close();

  size_t waiting() const { return creations_.size() + others_.size(); }

 private:
  struct Waiting {
    Ticket ticket;
    Kind kind;
    sdk::KubeRequest request;
    sdk::KubeCallback done;
  };

  void SendWaiting();
  bool Send(Waiting& next);
  void Refuse(Waiting& next, const sdk::Status& status);
  void Answered(Ticket ticket, const sdk::KubeAnswer& answer);

  const sdk::Host& host_;
  std::deque<Waiting> creations_, others_;
  struct UnderWay {
    sdk::KubeCall call;
    sdk::KubeCallback done;
  };
  std::map<Ticket, UnderWay> under_way_;
  Ticket next_ = 1;
  bool closed_ = false;
};

}  // namespace detent::pod
