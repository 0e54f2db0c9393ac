// Where and as whom a task runs: turns an ExecSpec into what its supervisor is told, with the facts
// of this instance: the environment it passes on, the users it allows, the cgroup subtree it was
// given. The facts are looked up once, in Open, because asking for users may take long; from then
// on they do not change.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "detent/sdk/status.h"
#include "plugins/exec/spec.h"

namespace detent::exec {

struct KnownUser {
  uid_t uid = 0;
  gid_t gid = 0;
  std::string home;
  std::vector<std::pair<gid_t, std::string>> groups;  // with their names, the first one included
};

class Placement {
 public:
  // Blocks: looks up users and groups, and prepares the cgroup subtree. Not on the strand.
  // environment: "NAME=value" of the host.
  static Placement Discover(const ExecConfig& config, std::vector<std::string> environment,
                            std::string host_directory);

  // The content of the `spec` file. mark: unique for this run. Refusals: UserNotAllowed,
  // CgroupUnavailable.
  sdk::Result<std::string> Encode(const ExecSpec& spec, std::string_view directory_name,
                                  std::string_view mark) const;

  // The leaf of a task; empty where there are no cgroups.
  std::string CgroupPath(std::string_view directory_name) const;

  // Names of `allowUsers` that this machine does not know.
  const std::vector<std::string>& unknown_users() const { return unknown_users_; }
  // Why cgroupRoot cannot be used; empty: it can, or none was given.
  const std::string& cgroup_problem() const { return cgroup_problem_; }

 private:
  void DiscoverUsers();
  void DiscoverCgroup();
  sdk::Status EncodeUser(const ExecSpec& spec, const KnownUser** user, std::string& out) const;
  sdk::Status EncodeCgroup(const ExecSpec& spec, std::string_view directory_name,
                           std::string& out) const;
  void EncodeEnvironment(const ExecSpec& spec, const KnownUser* user, std::string_view mark,
                         std::string& out) const;

  ExecConfig config_;
  std::vector<std::string> environment_;
  std::string base_directory_;
  std::map<std::string, KnownUser, std::less<>> users_;  // by name and by number
  KnownUser self_;
  std::vector<std::string> unknown_users_;
  std::string cgroup_problem_;
  std::string controllers_;  // enabled for leaves: "cpu memory pids"
};

}  // namespace detent::exec
