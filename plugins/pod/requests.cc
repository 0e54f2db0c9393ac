#include "plugins/pod/requests.h"

#include <algorithm>
#include <utility>

#include "detent/sdk/json_writer.h"
#include "plugins/pod/marks.h"

namespace detent::pod {

namespace {

sdk::KubeRequest RequestAbout(const PodName& pod, uint32_t verb) {
  sdk::KubeRequest request;
  request.verb = verb;
  request.gvr = kPods;
  request.namespace_ = pod.ns;
  request.name = pod.name;
  request.flags = DETENT_KUBE_IDEMPOTENT;
  return request;
}

}  // namespace

sdk::KubeRequest DeleteRequest(const PodName& pod, std::optional<int64_t> grace) {
  sdk::JsonWriter json;
  json.BeginObject().Key("apiVersion").String("v1").Key("kind").String("DeleteOptions");
  json.Key("preconditions").BeginObject().Key("uid").String(pod.uid).EndObject();
  if (grace) json.Key("gracePeriodSeconds").Int(*grace);
  sdk::KubeRequest request = RequestAbout(pod, DETENT_KUBE_DELETE);
  request.body = std::move(json.EndObject()).text();
  return request;
}

sdk::KubeRequest KillMarkRequest(const PodName& pod, uint64_t version, const std::string& reason) {
  sdk::JsonWriter json;
  json.BeginObject().Key("metadata").BeginObject().Key("uid").String(pod.uid);
  json.Key("resourceVersion").String(std::to_string(version));
  json.Key("annotations").BeginObject().Key(kKillAnnotation).String(reason).EndObject();
  sdk::KubeRequest request = RequestAbout(pod, DETENT_KUBE_PATCH);
  request.content_type = "application/merge-patch+json";
  request.body = std::move(json.EndObject().EndObject()).text();
  return request;
}

Requests::Ticket Requests::Ask(Kind kind, sdk::KubeRequest request, sdk::KubeCallback done) {
  const Ticket ticket = next_++;
  auto& queue = kind == Kind::kEnsure ? creations_ : others_;
  queue.push_back({ticket, kind, std::move(request), std::move(done)});
  SendWaiting();
  return ticket;
}

bool Requests::Withdraw(Ticket ticket) {
  for (auto* queue : {&creations_, &others_}) {
    const auto at = std::find_if(queue->begin(), queue->end(),
                                 [&](const Waiting& w) { return w.ticket == ticket; });
    if (at == queue->end()) continue;
    queue->erase(at);
    return true;
  }
  return false;
}

void Requests::Close() {
  closed_ = true;
  creations_.clear();
  others_.clear();
}

void Requests::SendWaiting() {
  while (!closed_ && waiting() > 0) {
    auto& queue = others_.empty() ? creations_ : others_;
    if (!Send(queue.front())) return;
    queue.pop_front();
  }
}

// False: it has to wait for the answer to another.
bool Requests::Send(Waiting& next) {
  const Ticket ticket = next.ticket;
  auto answered = [this, ticket](const sdk::KubeAnswer& answer) { Answered(ticket, answer); };
  auto call = next.kind == Kind::kEnsure
                  ? sdk::KubeCall::Ensure(host_, next.request, std::move(answered))
                  : sdk::KubeCall::Send(host_, next.request, std::move(answered));
  if (call) {
    under_way_[ticket] = {*std::move(call), std::move(next.done)};
    return true;
  }
  if (call.status().code() == DETENT_E_BUSY && !under_way_.empty()) return false;
  Refuse(next, call.status());
  return true;
}

// In a later turn, so that callers see one order only.
void Requests::Refuse(Waiting& next, const sdk::Status& status) {
  host_.Post([host = host_, status, done = std::move(next.done)]() mutable {
    const detent_result raw = sdk::ResultOf(status);
    done(sdk::KubeAnswer(host.table(), raw));
  });
}

void Requests::Answered(Ticket ticket, const sdk::KubeAnswer& answer) {
  auto mine = under_way_.extract(ticket);
  mine.mapped().done(answer);
  SendWaiting();
}

}  // namespace detent::pod
