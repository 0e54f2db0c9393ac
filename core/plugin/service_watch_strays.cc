#include "core/plugin/service_watch_strays.h"

#include "core/plugin/instance.h"
#include "core/plugin/task_ref.h"

namespace detent {
namespace {

std::pair<std::string, std::string> NameOf(const WatchedObject& object) {
  return {std::string(object.task_key()), std::string(object.uid())};
}

}  // namespace

void WatchStrays::Saw(const KubeResource& resource, const WatchedObject& object) {
  if (instance_.desk().OfKey(object.task_key()) != 0) return Gone(object);
  strays_[NameOf(object)] = {resource, std::string(object.ns()), std::string(object.name())};
  Tell(object.task_key());
}

void WatchStrays::Gone(const WatchedObject& object) {
  strays_.erase(NameOf(object));
}

void WatchStrays::Tell(std::string_view key) {
  instance_.desk().Add(StrayObject{instance_.options().kind, HostKey(key)});
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
