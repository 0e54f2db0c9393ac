#include "plugins/pod/discards.h"

#include <algorithm>
#include <utility>

#include "plugins/pod/marks.h"
#include "plugins/pod/pod_list.h"

namespace detent::pod {
namespace {

constexpr std::chrono::milliseconds kGather(500);
constexpr std::chrono::milliseconds kTryAgain(15'000);
constexpr size_t kKeysAtOnce = 50;     // of one request's selector
constexpr size_t kKeysMost = 100'000;  // that wait

}  // namespace

void Discards::Add(std::string_view key) {
  if (closed_) return;
  if (keys_.size() >= kKeysMost) {
    host_.Warn("too many Pods are to be removed; one is left to its owner", {{"task", key}});
    return;
  }
  keys_.emplace_back(key);
  if (!timer_.active() && !listing_) Soon(kGather);
}

void Discards::Soon(std::chrono::milliseconds pause) {
  timer_ = host_.After(pause, [this] { List(); });
}

void Discards::List() {
  if (keys_.empty() || closed_) return;
  listing_ = true;
  const auto end = keys_.begin() + static_cast<std::ptrdiff_t>(std::min(keys_.size(), kKeysAtOnce));
  std::vector<std::string> keys(keys_.begin(), end);
  keys_.erase(keys_.begin(), end);
  sdk::KubeRequest request;
  request.verb = DETENT_KUBE_LIST;
  request.gvr = kPods;
  request.query = QueryByKeys(keys);
  requests_.Ask(
      Requests::Kind::kSend, std::move(request),
      [this, keys = std::move(keys)](const sdk::KubeAnswer& answer) { OnListed(keys, answer); });
}

void Discards::OnListed(const std::vector<std::string>& keys, const sdk::KubeAnswer& answer) {
  listing_ = false;
  if (closed_ || answer.code() == DETENT_E_CLOSING) return;
  const auto pods = answer.ok() ? ReadPodList(answer.text()) : std::nullopt;
  if (!pods) {
    host_.Warn("Pods to be removed could not be listed", {{"why", answer.message()}});
    keys_.insert(keys_.end(), keys.begin(), keys.end());
    return Soon(kTryAgain);
  }
  for (const Pod& pod : *pods) Remove(pod);
  List();
}

void Discards::Remove(const Pod& pod) {
  if (pod.deleting()) return;
  sdk::KubeRequest request = DeleteRequest({pod.ns, pod.name, pod.uid}, std::nullopt);
  requests_.Ask(Requests::Kind::kSend, std::move(request),
                [this, key = pod.task_key](const sdk::KubeAnswer& answer) {
                  const bool gone =
                      answer.code() == DETENT_E_NOT_FOUND || answer.code() == DETENT_E_CONFLICT;
                  if (closed_ || answer.ok() || gone) return;
                  host_.Warn("a Pod could not be removed", {{"why", answer.message()}});
                  keys_.push_back(key);
                  if (!timer_.active() && !listing_) Soon(kTryAgain);
                });
}

void Discards::Close() {
  closed_ = true;
  keys_.clear();
  timer_.Cancel();
}

}  // namespace detent::pod
