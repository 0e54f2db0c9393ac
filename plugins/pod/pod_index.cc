#include "plugins/pod/pod_index.h"

#include <utility>

#include "plugins/pod/rfc3339.h"

namespace detent::pod {
namespace {

// The server's own limit of a request is a minute.
constexpr int64_t kHauntedNs = 600 * kNsPerSecond;
constexpr int64_t kSweepNs = 60 * kNsPerSecond;

std::string NameOf(std::string_view ns, std::string_view name) {
  std::string text(ns);
  return text.append("/").append(name);
}

template <typename Map, typename Key>
PodTask* Find(const Map& map, const Key& key) {
  const auto at = map.find(key);
  return at == map.end() ? nullptr : at->second;
}

// Under the task's own text: that of the one before it ends with that one.
template <typename Map, typename Key>
void Set(Map& map, const Key& key, PodTask& task) {
  map.erase(key);
  map.emplace(key, &task);
}

template <typename Map, typename Key>
void Erase(Map& map, const Key& key, const PodTask& task) {
  const auto at = map.find(key);
  if (at != map.end() && at->second == &task) map.erase(at);
}

}  // namespace

void PodIndex::Add(PodTask& task) {
  ghosts_.erase(NameOf(task.ns(), task.name()));  // What comes up is its own again.
  Set(by_name_, Name(task.ns(), task.name()), task);
  Set(by_key_, std::string_view(task.key()), task);
}

void PodIndex::Remove(const PodTask& task) {
  Erase(by_name_, Name(task.ns(), task.name()), task);
  Erase(by_key_, std::string_view(task.key()), task);
}

PodTask* PodIndex::ByName(std::string_view ns, std::string_view name) const {
  return Find(by_name_, Name(ns, name));
}

PodTask* PodIndex::ByKey(std::string_view key) const {
  return Find(by_key_, key);
}

void PodIndex::Keep(Pod pod) {
  std::string name = NameOf(pod.ns, pod.name);
  unclaimed_.insert_or_assign(std::move(name), std::move(pod));
}

void PodIndex::Drop(std::string_view ns, std::string_view name) {
  unclaimed_.erase(NameOf(ns, name));
}

std::optional<Pod> PodIndex::Claim(const PodTask& task) {
  const auto at = unclaimed_.find(NameOf(task.ns(), task.name()));
  if (at == unclaimed_.end() || at->second.task_key != task.key()) return std::nullopt;
  Pod pod = std::move(at->second);
  unclaimed_.erase(at);
  return pod;
}

void PodIndex::Haunt(const PodTask& task, int64_t now_ns) {
  if (now_ns - swept_ns_ > kSweepNs) {
    std::erase_if(ghosts_, [&](const auto& ghost) { return ghost.second.until_ns < now_ns; });
    swept_ns_ = now_ns;
  }
  ghosts_[NameOf(task.ns(), task.name())] = {task.key(), task.uid(), now_ns + kHauntedNs};
}

bool PodIndex::IsGhost(const Pod& pod, int64_t now_ns) {
  if (ghosts_.empty()) return false;
  const auto at = ghosts_.find(NameOf(pod.ns, pod.name));
  return at != ghosts_.end() && at->second.key == pod.task_key && at->second.uid != pod.uid &&
         at->second.until_ns >= now_ns;
}

}  // namespace detent::pod
