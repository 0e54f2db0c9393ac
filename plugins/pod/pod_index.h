// PodIndex: which task a Pod belongs to, from both sides: by the Pod's name for what the watch
// shows, by the task's key for those who ask for its log. Of Pods whose task is not known (yet) it
// keeps what was shown last, so that recover can answer from one consistent list. Strand only.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "plugins/pod/pod.h"
#include "plugins/pod/pod_task.h"

namespace detent::pod {

class PodIndex {
 public:
  // A task that is followed from here on; replaces one of the same name. It must outlive its place.
  void Add(PodTask& task);
  void Remove(const PodTask& task);

  // nullptr: none.
  PodTask* ByName(std::string_view ns, std::string_view name) const;
  PodTask* ByKey(std::string_view key) const;

  // Pods without a task.
  void Keep(Pod pod);
  void Drop(std::string_view ns, std::string_view name);
  void DropAll() { unclaimed_.clear(); }
  // Takes the Pod of that task out.
  std::optional<Pod> Claim(const PodTask& task);

  // A task has been let go of, and a request to make a Pod for it may still take effect. For a
  // while whatever comes up under its name with its key is to be removed, but for the Pod it had.
  void Haunt(const PodTask& task, int64_t now_ns);
  bool IsGhost(const Pod& pod, int64_t now_ns);

 private:
  struct Ghost {
    std::string key, uid;
    int64_t until_ns = 0;
  };

  // Their keys are the tasks' own texts: there is one of each for every Pod.
  using Name = std::pair<std::string_view, std::string_view>;  // namespace and name
  struct NameHash {
    size_t operator()(const Name& name) const {
      const std::hash<std::string_view> hash;
      return hash(name.second) * 31 + hash(name.first);
    }
  };
  std::unordered_map<Name, PodTask*, NameHash> by_name_;
  std::unordered_map<std::string_view, PodTask*> by_key_;
  std::unordered_map<std::string, Pod> unclaimed_;  // "ns/name"
  std::map<std::string, Ghost> ghosts_;             // "ns/name"
  int64_t swept_ns_ = 0;                            // of what was haunted too long ago
};

}  // namespace detent::pod
