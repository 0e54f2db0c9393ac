#include "plugins/exec/placement.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/magic.h>
#include <pwd.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "plugins/exec/supervisor_spec.h"
#include "plugins/exec/task_directory.h"

namespace detent::exec {
namespace {

constexpr std::string_view kPassedOn[] = {"PATH", "HOME", "LANG", "TZ"};
constexpr std::string_view kDefaultPath = "/usr/local/bin:/usr/bin:/bin";
constexpr int64_t kCpuPeriodUs = 100000;

void AppendRecord(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(" ").append(std::to_string(value.size())).append("\n");
  out.append(value).append("\n");
}

void AppendRecord(std::string& out, std::string_view name, int64_t value) {
  AppendRecord(out, name, std::to_string(value));
}

std::string GroupName(gid_t gid) {
  char buffer[16384];
  group entry{};
  group* found = nullptr;
  const bool known =
      getgrgid_r(gid, &entry, buffer, sizeof(buffer), &found) == 0 && found != nullptr;
  return known ? entry.gr_name : "";
}

KnownUser FromEntry(const passwd& entry) {
  KnownUser user{entry.pw_uid, entry.pw_gid, entry.pw_dir, {}};
  gid_t groups[256];
  int count = 256;
  if (getgrouplist(entry.pw_name, entry.pw_gid, groups, &count) < 0) count = 0;
  for (int i = 0; i < count; ++i) user.groups.emplace_back(groups[i], GroupName(groups[i]));
  return user;
}

// By name, else by number.
std::optional<std::pair<std::string, KnownUser>> LookUp(const std::string& who) {
  char buffer[16384];
  passwd entry{};
  passwd* found = nullptr;
  if (getpwnam_r(who.c_str(), &entry, buffer, sizeof(buffer), &found) == 0 && found != nullptr) {
    return std::pair(std::string(entry.pw_name), FromEntry(entry));
  }
  char* end = nullptr;
  const auto uid = static_cast<uid_t>(std::strtoul(who.c_str(), &end, 10));
  if (who.empty() || *end != '\0') return std::nullopt;
  if (getpwuid_r(uid, &entry, buffer, sizeof(buffer), &found) == 0 && found != nullptr) {
    return std::pair(std::string(entry.pw_name), FromEntry(entry));
  }
  // A number without a name is a user all the same.
  return std::pair(who, KnownUser{uid, static_cast<gid_t>(uid), "/", {{uid, ""}}});
}

std::string_view NameOf(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

bool HasWord(std::string_view words, std::string_view word) {
  const std::string padded = " " + std::string(words) + " ";
  return padded.find(" " + std::string(word) + " ") != std::string::npos;
}

void Enable(const std::string& root, std::string_view controller) {
  const int fd = open((root + "/cgroup.subtree_control").c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  const std::string text = "+" + std::string(controller);
  // A controller that cannot be enabled is missed when a task asks for it.
  [[maybe_unused]] const ssize_t wrote = write(fd, text.data(), text.size());
  close(fd);
}

}  // namespace

Placement Placement::Discover(const ExecConfig& config, std::vector<std::string> environment,
                              std::string host_directory) {
  Placement placement;
  placement.config_ = config;
  placement.environment_ = std::move(environment);
  placement.base_directory_ =
      config.working_directory.empty() ? std::move(host_directory) : config.working_directory;
  placement.DiscoverUsers();
  if (!config.cgroup_root.empty()) placement.DiscoverCgroup();
  return placement;
}

void Placement::DiscoverUsers() {
  for (const std::string& who : config_.allow_users) {
    const auto found = LookUp(who);
    if (!found) {
      unknown_users_.push_back(who);
      continue;
    }
    users_[found->first] = found->second;
    users_[std::to_string(found->second.uid)] = found->second;
  }
  // Running as oneself needs nobody's leave.
  const auto self = LookUp(std::to_string(geteuid()));
  if (!self) return;
  self_ = self->second;
  users_.emplace(self->first, self_);
  users_.emplace(std::to_string(self_.uid), self_);
}

void Placement::DiscoverCgroup() {
  const std::string& root = config_.cgroup_root;
  struct statfs info;
  if (statfs(root.c_str(), &info) != 0) {
    cgroup_problem_ = root + ": " + std::strerror(errno);
  } else if (info.f_type != CGROUP2_SUPER_MAGIC) {
    cgroup_problem_ = root + " is not in a cgroup v2 file system";
  } else if (access(root.c_str(), W_OK | X_OK) != 0) {
    cgroup_problem_ = root + " is not delegated to the host's user";
  }
  if (!cgroup_problem_.empty()) return;
  for (const std::string_view controller : {"memory", "cpu", "pids"}) Enable(root, controller);
  controllers_ = ReadWholeFile(root + "/cgroup.subtree_control").value_or("");
  std::replace(controllers_.begin(), controllers_.end(), '\n', ' ');
}

std::string Placement::CgroupPath(std::string_view directory_name) const {
  if (config_.cgroup_root.empty() || !cgroup_problem_.empty()) return {};
  return config_.cgroup_root + "/detent-" + std::string(directory_name);
}

sdk::Result<std::string> Placement::Encode(const ExecSpec& spec, std::string_view directory_name,
                                           std::string_view mark) const {
  std::string out;
  for (const std::string& arg : spec.argv) AppendRecord(out, kSpecArg, arg);
  const KnownUser* user = nullptr;
  if (sdk::Status status = EncodeUser(spec, &user, out); !status.ok()) return status;
  if (sdk::Status status = EncodeCgroup(spec, directory_name, out); !status.ok()) return status;
  EncodeEnvironment(spec, user, mark, out);
  std::string directory = spec.working_directory;
  if (directory.empty()) directory = base_directory_;
  if (directory.front() != '/') directory = base_directory_ + "/" + directory;
  AppendRecord(out, kSpecDirectory, directory);
  if (spec.has_stdin) AppendRecord(out, kSpecStdin, spec.stdin_text);
  for (const ResourceLimit& limit : spec.rlimits) {
    AppendRecord(out, kSpecLimit,
                 std::to_string(limit.resource) + " " + std::to_string(limit.value));
  }
  AppendRecord(out, kSpecTimeout, spec.timeout_ns);
  AppendRecord(out, kSpecGrace, spec.grace_ns);
  AppendRecord(out, kSpecLogLimit, static_cast<int64_t>(spec.output_limit));
  AppendRecord(out, kSpecLogFiles, kLogFilesKept);
  AppendRecord(out, kSpecMark, mark);
  return out;
}

sdk::Status Placement::EncodeUser(const ExecSpec& spec, const KnownUser** user,
                                  std::string& out) const {
  const auto refuse = [](std::string message) {
    return sdk::Status(DETENT_E_DENIED, "UserNotAllowed", std::move(message));
  };
  if (spec.user.empty() && spec.group.empty()) return {};
  const auto found = users_.find(spec.user);
  if (!spec.user.empty() && found == users_.end()) {
    return refuse("user `" + spec.user + "` is not in the plugin's allowUsers");
  }
  const KnownUser& who = spec.user.empty() ? self_ : found->second;
  if (who.uid != geteuid() && geteuid() != 0) {
    return refuse("the host does not run as root, so it cannot become user `" + spec.user + "`");
  }
  gid_t gid = who.gid;
  if (!spec.group.empty()) {
    const auto member = std::find_if(who.groups.begin(), who.groups.end(), [&](const auto& group) {
      return group.second == spec.group || std::to_string(group.first) == spec.group;
    });
    if (member == who.groups.end()) {
      return refuse("group `" + spec.group + "` is none of the user's");
    }
    gid = member->first;
  }
  if (!spec.user.empty()) *user = &who;
  AppendRecord(out, kSpecUid, static_cast<int64_t>(who.uid));
  AppendRecord(out, kSpecGid, static_cast<int64_t>(gid));
  for (const auto& group : who.groups) {
    AppendRecord(out, kSpecGroup, static_cast<int64_t>(group.first));
  }
  return {};
}

sdk::Status Placement::EncodeCgroup(const ExecSpec& spec, std::string_view directory_name,
                                    std::string& out) const {
  const auto refuse = [](std::string why) {
    return sdk::Status(DETENT_E_UNSUPPORTED, "CgroupUnavailable",
                       "resources.limits cannot be kept: " + why)
        .Retry(DETENT_HINT_ELSEWHERE);
  };
  const std::string leaf = CgroupPath(directory_name);
  if (spec.WantsCgroup() && leaf.empty()) {
    return refuse(config_.cgroup_root.empty() ? "the plugin has no cgroupRoot" : cgroup_problem_);
  }
  if (leaf.empty()) return {};
  AppendRecord(out, kSpecCgroup, leaf);
  const auto set = [&](std::string_view controller, int64_t wanted, const std::string& setting) {
    if (wanted == 0) return true;
    AppendRecord(out, kSpecCgroupSet, setting);
    return HasWord(controllers_, controller);
  };
  const std::string no_controller = "the controller is not enabled below " + config_.cgroup_root;
  if (!set("memory", spec.memory_bytes, "memory.max " + std::to_string(spec.memory_bytes)) ||
      !set("pids", spec.pids, "pids.max " + std::to_string(spec.pids)) ||
      !set("cpu", spec.milli_cpu,
           "cpu.max " +
               std::to_string(std::max<int64_t>(1000, spec.milli_cpu * (kCpuPeriodUs / 1000))) +
               " " + std::to_string(kCpuPeriodUs))) {
    return refuse(no_controller);
  }
  return {};
}

void Placement::EncodeEnvironment(const ExecSpec& spec, const KnownUser* user,
                                  std::string_view mark, std::string& out) const {
  std::map<std::string, std::string, std::less<>> variables;
  variables["PATH"] = kDefaultPath;
  for (const std::string& variable : environment_) {
    const std::string_view name = NameOf(variable);
    const bool passed =
        std::find(std::begin(kPassedOn), std::end(kPassedOn), name) != std::end(kPassedOn);
    if (!passed && !spec.inherit_environment) continue;
    if (name.size() == variable.size()) continue;
    variables[std::string(name)] = variable.substr(name.size() + 1);
  }
  if (user != nullptr) variables["HOME"] = user->home;
  for (const auto& [name, value] : spec.env) variables[name] = value;
  variables[kMarkVariable] = mark;
  for (const auto& [name, value] : variables) {
    std::string text = name;
    AppendRecord(out, kSpecEnv, text.append("=").append(value));
  }
}

}  // namespace detent::exec
