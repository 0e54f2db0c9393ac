// An API server as far as an installation goes: it stores what is applied, establishes kinds after
// a while, and denies what it is told to. One thread; time passes only while somebody waits.

#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/install/installer.h"

namespace detent::testing {

class FakeCluster final : public Clock {
 public:
  WallTime Now() const override { return {}; }
  MonoTime Mono() const override { return MonoTime(passed); }
  InstallPort Port();

  std::string major = "1", minor = "37";
  std::map<std::string, Json> objects;  // By path.
  // Of all who ask about themselves, and of all others: "patch clusterroles.GROUP", as ToString.
  std::set<std::string> denied_to_us, denied_to_host;
  int pauses_until_established = 0;
  int pauses_until_served = 0;
  int pauses_until_allowed = 0;
  std::string name_conflict;  // Said by the condition NamesAccepted.
  std::string others_fields;  // Said to every apply that is not forced, as a conflict.

  std::vector<KubeRequest> applied;
  std::vector<Json> reviews;
  int pauses = 0;
  std::chrono::milliseconds passed{0};

 private:
  KubeReply Answer(const KubeRequest& request);
  KubeReply Review(const KubeRequest& request);
  KubeReply Read(const std::string& path);
  KubeReply Apply(const KubeRequest& request);
  Json Discovery() const;
};

}  // namespace detent::testing
