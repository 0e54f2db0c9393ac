#include "core/plugin/service_watch_strays.h"

#include <algorithm>

#include "core/plugin/instance.h"

namespace detent {

void WatchStrays::Saw(const KubeResource& resource, const WatchedObject& object) {
  if (instance_.desk().OfKey(object.task_key) != 0) return Gone(object);
  strays_[{object.task_key, object.uid}] = {resource, object.ns, object.name};
  Tell(object.task_key);
}

void WatchStrays::Gone(const WatchedObject& object) {
  strays_.erase({object.task_key, object.uid});
}

void WatchStrays::Tell(const std::string& key) {
  // As the controllers have it (core/base/names.h): UIDs contain no '.'.
  std::string task_key = key;
  std::replace(task_key.begin(), task_key.end(), '.', '/');
  instance_.desk().Add(StrayObject{instance_.options().kind, std::move(task_key)});
}

void WatchStrays::TellAgain() {
  std::erase_if(strays_,
                [&](const auto& stray) { return instance_.desk().OfKey(stray.first.first) != 0; });
  for (const auto& [key_and_uid, place] : strays_) Tell(key_and_uid.first);
}

void WatchStrays::LetGo(const std::string& key, bool remove) {
  if (instance_.desk().OfKey(key) != 0) return;
  for (auto stray = strays_.lower_bound({key, ""});
       stray != strays_.end() && stray->first.first == key; ++stray) {
    const auto& [resource, ns, name] = stray->second;
    door_.LetGo({resource, ns, name, stray->first.second, remove}, [](KubeOutcome) {});
  }
}

}  // namespace detent
