// Objects that an instance has seen in a watch of what its host tracks, and whose task it does not
// have in hand: left by an earlier life, or about to be recovered. Who knows decides; here they are
// told, and let go of when that is the verdict. The strand's thread only.

#pragma once

#include <map>
#include <string>
#include <utility>

#include "core/kube/watch_event.h"
#include "core/plugin/kube_door.h"

namespace detent {

class Instance;

class WatchStrays {
 public:
  // Both are borrowed.
  WatchStrays(Instance& instance, KubeDoor& door) : instance_(instance), door_(door) {}

  void Saw(const KubeResource& resource, const WatchedObject& object);
  void Gone(const WatchedObject& object);
  // Tells all again: what was no stray then may be one by now. Called at every resync.
  void TellAgain();
  // Takes the marks off all objects of that key (as plugins see it), if it is no task's in hand.
  void LetGo(const std::string& key, bool remove);

 private:
  struct Place {
    KubeResource resource;
    std::string ns, name;
  };
  void Tell(std::string_view key);

  Instance& instance_;
  KubeDoor& door_;
  std::map<std::pair<std::string, std::string>, Place> strays_;  // By key and UID.
};

}  // namespace detent
