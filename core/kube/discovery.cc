#include "core/kube/discovery.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "core/base/json_scan.h"
#include "core/base/names.h"
#include "core/base/spelling.h"

namespace detent {
namespace {

using std::chrono::milliseconds;

// Of one try: a server has these lists in memory.
constexpr milliseconds kDiscoveryTimeout{10'000};
// Versions that the server does not have and that are remembered as such. More of them are asked
// for again too soon, which is a request too many and no harm.
constexpr size_t kMissingVersionsMost = 64;

struct ServedKind {
  KubeKind kind;
  std::vector<std::string> short_names;
};

// What the server said of a group and version.
struct ServedVersion {
  bool is_there = true;
  std::vector<ServedKind> kinds;  // In the server's order.
  // Where it is not there: those that its group has. Null: the server did not say.
  std::optional<std::vector<std::string>> versions;
};

std::string InLowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

// A group and version, as a resource without a plural.
Result<KubeResource> ReadApiVersion(std::string_view api_version) {
  auto read = ParseKubeResource(std::string(api_version) + "/x");
  if (!read || !read->subresource.empty()) {
    return Error(Code::kInvalid, "'" + std::string(api_version) +
                                     "' is no apiVersion: write VERSION or GROUP/VERSION, as in "
                                     "\"v1\" or \"apps/v1\"");
  }
  read->plural.clear();
  return read;
}

Result<void> CheckKind(std::string_view kind) {
  if (CheckDns1123Label(InLowerCase(kind))) return {};
  return Error(Code::kInvalid, "'" + std::string(kind) +
                                   "' is no kind: write its name in letters and digits, as in "
                                   "\"Deployment\"");
}

std::string ApiVersionOf(const KubeResource& version) {
  return version.group.empty() ? version.version : version.group + "/" + version.version;
}

std::vector<std::string> TextsIn(JsonScan::Value& array) {
  std::vector<std::string> texts;
  array.Items([&](JsonScan::Value& item) {
    if (const auto text = item.Text()) texts.emplace_back(*text);
    return true;
  });
  return texts;
}

// An item of an APIResourceList.
ServedKind ReadResource(JsonScan::Value& item, const KubeResource& version) {
  ServedKind served;
  KubeKind& kind = served.kind;
  kind.resource = version;
  item.Members([&](std::string_view name, JsonScan::Value& value) {
    if (name == "name") kind.resource.plural = value.Text().value_or("");
    if (name == "kind") kind.kind = value.Text().value_or("");
    if (name == "namespaced") kind.namespaced = value.IsTrue();
    if (name == "verbs") kind.verbs = TextsIn(value);
    if (name == "shortNames") served.short_names = TextsIn(value);
    return true;
  });
  std::sort(kind.verbs.begin(), kind.verbs.end());
  return served;
}

// Subresources are items of their own, "deployments/scale", of a kind that may be of another group.
Result<ServedVersion> ReadResources(std::string_view body, const KubeResource& version) {
  ServedVersion served;
  std::map<std::string, std::vector<std::string>> subresources;  // By plural.
  std::string list_kind;
  JsonScan scan;
  const auto in_resources = [&](JsonScan::Value& item) {
    ServedKind read = ReadResource(item, version);
    const std::string& name = read.kind.resource.plural;
    const size_t slash = name.find('/');
    if (slash != name.npos) {
      subresources[name.substr(0, slash)].push_back(name.substr(slash + 1));
    } else if (!name.empty() && !read.kind.kind.empty()) {
      served.kinds.push_back(std::move(read));
    }
    return true;
  };
  auto read = scan.Read(body, [&](std::string_view name, JsonScan::Value& value) {
    if (name == "kind") list_kind = value.Text().value_or("");
    if (name == "resources") value.Items(in_resources);
    return true;
  });
  if (read && list_kind != "APIResourceList") {
    read = Error(Code::kInvalid, "its kind is '" + list_kind + "'");
  }
  if (!read) {
    return Error(Code::kUnavailable, "the answer is no APIResourceList: " + read.error().message());
  }
  for (ServedKind& each : served.kinds) {
    each.kind.subresources = std::move(subresources[each.kind.resource.plural]);
    std::sort(each.kind.subresources.begin(), each.kind.subresources.end());
  }
  return served;
}

// Of an APIGroup, or of APIVersions, as the core group has them. Null: the answer is neither.
std::optional<std::vector<std::string>> ReadVersions(std::string_view body) {
  std::vector<std::string> versions;
  JsonScan scan;
  const auto in_versions = [&](JsonScan::Value& item) {
    if (const auto text = item.Text()) versions.emplace_back(*text);
    item.Members([&](std::string_view name, JsonScan::Value& value) {
      if (name == "version") versions.emplace_back(value.Text().value_or(""));
      return true;
    });
    return true;
  };
  const auto read = scan.Read(body, [&](std::string_view name, JsonScan::Value& value) {
    if (name == "versions") value.Items(in_versions);
    return true;
  });
  if (!read) return std::nullopt;
  return versions;
}

const KubeKind* KindIn(const ServedVersion& served, std::string_view kind) {
  for (const ServedKind& each : served.kinds) {
    if (each.kind.kind == kind) return &each.kind;
  }
  return nullptr;
}

// The kind whose resource is called so ("deployments", "deploy"), or else whose name is nearest.
std::string KindMeantBy(std::string_view word, const ServedVersion& served) {
  const std::string lower = InLowerCase(word);
  std::vector<std::string> kinds;
  for (const ServedKind& each : served.kinds) {
    const auto& names = each.short_names;
    const bool is_name = each.kind.resource.plural == lower ||
                         std::find(names.begin(), names.end(), lower) != names.end();
    if (is_name) return each.kind.kind;
    kinds.push_back(each.kind.kind);
  }
  return NearestWord(word, kinds);
}

Error NoSuchKind(const KubeResource& version, const ServedVersion& served, std::string_view kind) {
  const std::string meant = KindMeantBy(kind, served);
  return Error(Code::kNotFound, "the server has no kind '" + std::string(kind) + "' in " +
                                    ApiVersionOf(version) +
                                    (meant.empty() ? "" : " (did you mean '" + meant + "'?)"));
}

Error NoSuchVersion(const KubeResource& version, const ServedVersion& served) {
  const std::string group =
      version.group.empty() ? "the core group" : "group '" + version.group + "'";
  std::string message = "the server does not have " + ApiVersionOf(version);
  if (served.versions && served.versions->empty()) message += ", nor anything else of " + group;
  std::string others;
  for (const std::string& other : served.versions.value_or(std::vector<std::string>())) {
    // It may have come since.
    if (other != version.version) others += (others.empty() ? "" : ", ") + other;
  }
  if (!others.empty()) message += "; of " + group + " it has " + others;
  return Error(Code::kNotFound, std::move(message));
}

Result<KubeKind> Look(const KubeResource& version, const ServedVersion& served,
                      std::string_view kind) {
  if (const KubeKind* found = KindIn(served, kind)) return *found;
  return served.is_there ? NoSuchKind(version, served, kind) : NoSuchVersion(version, served);
}

}  // namespace

// Shared with what is under way at the client, which may come back when the rest is gone.
class KubeDiscovery::Core : public std::enable_shared_from_this<Core> {
 public:
  Core(KubeClient& client, KubeDiscoveryOptions options) : client_(client), options_(options) {}

  void Find(std::string_view api_version, std::string_view kind, Found found);
  void Forget(std::string_view api_version);
  // No callback is under way once it returned, or comes.
  void Close();

 private:
  struct Asker {
    std::string kind;
    Found found;
    uint64_t round = 0;  // In which it asked.
  };
  // What is known of a version, and who waits for more. Forget ends a round: what was heard, and
  // what was asked for, in an earlier one does not answer those of a later one.
  struct Entry {
    uint64_t round = 1;
    std::optional<ServedVersion> served;
    MonoTime heard_at{};
    uint64_t heard_round = 0;
    MonoTime failed_at{};  // The server could not be asked.
    uint64_t failed_round = 0;
    uint64_t sent = 0;  // Under way at the client; 0: nothing is.
    std::vector<Asker> askers;
  };
  using Entries = std::map<KubeResource, Entry>;

  std::optional<Result<KubeKind>> Known(const Entries::value_type& place,
                                        std::string_view kind) const;
  void AnswerSoon(Found found, Result<KubeKind> kind);
  template <typename Step>
  uint64_t Get(const KubeResource& what, Step step);
  void Ask(Entries::value_type& place);
  void OnResources(const KubeResource& version, uint64_t round, KubeReply&& reply);
  void AskForVersions(const KubeResource& version, uint64_t round);
  void Hear(const KubeResource& version, uint64_t round, Result<ServedVersion> said);
  void DropMissing(MonoTime now);

  KubeClient& client_;
  const KubeDiscoveryOptions options_;
  std::mutex call_mutex_;  // Held over each call of a Found. Taken before mutex_.
  bool closed_ = false;    // Guarded by call_mutex_.
  std::mutex mutex_;
  Entries entries_;  // Guarded by mutex_.
};

void KubeDiscovery::Core::Find(std::string_view api_version, std::string_view kind, Found found) {
  auto version = ReadApiVersion(api_version);
  if (!version) return AnswerSoon(std::move(found), std::move(version).error());
  if (auto good = CheckKind(kind); !good) {
    return AnswerSoon(std::move(found), std::move(good).error());
  }
  std::lock_guard lock(mutex_);
  Entries::value_type& place = *entries_.try_emplace(*std::move(version)).first;
  if (auto known = Known(place, kind)) return AnswerSoon(std::move(found), *std::move(known));
  Entry& entry = place.second;
  if (entry.sent == 0) Ask(place);
  entry.askers.push_back({std::string(kind), std::move(found), entry.round});
}

void KubeDiscovery::Core::Forget(std::string_view api_version) {
  const auto version = ReadApiVersion(api_version);
  if (!version) return;
  std::lock_guard lock(mutex_);
  const auto found = entries_.find(*version);
  if (found != entries_.end()) ++found->second.round;
}

void KubeDiscovery::Core::Close() {
  Entries left;  // What its callbacks hold ends behind the locks.
  std::lock_guard calling(call_mutex_);
  closed_ = true;
  {
    std::lock_guard lock(mutex_);
    left.swap(entries_);
  }
  for (const auto& [version, entry] : left) {
    if (entry.sent != 0) client_.Cancel(entry.sent);
  }
}

// nullopt: the server has to be asked.
std::optional<Result<KubeKind>> KubeDiscovery::Core::Known(const Entries::value_type& place,
                                                           std::string_view kind) const {
  const auto& [version, entry] = place;
  if (!entry.served) return std::nullopt;
  const MonoTime now = client_.clock().Mono();
  const KubeKind* found = KindIn(*entry.served, kind);
  const milliseconds keep = found != nullptr ? options_.fresh : options_.miss_again;
  if (entry.heard_round == entry.round && now - entry.heard_at < keep) {
    return Look(version, *entry.served, kind);
  }
  // A server that is away is not waited for each time.
  const bool away =
      entry.failed_round == entry.round && now - entry.failed_at < options_.miss_again;
  if (found != nullptr && away) return *found;
  return std::nullopt;
}

void KubeDiscovery::Core::AnswerSoon(Found found, Result<KubeKind> kind) {
  client_.After(milliseconds(0),
                [self = shared_from_this(), found = std::move(found), kind = std::move(kind)] {
                  std::lock_guard calling(self->call_mutex_);
                  if (!self->closed_) found(kind);
                });
}

template <typename Step>
uint64_t KubeDiscovery::Core::Get(const KubeResource& what, Step step) {
  KubeRequest request;
  request.path = PathOf(what, "", "");
  request.timeout = kDiscoveryTimeout;
  return client_.Send(std::move(request),
                      [self = shared_from_this(), step = std::move(step)](KubeReply&& reply) {
                        std::lock_guard calling(self->call_mutex_);
                        if (!self->closed_) step(*self, std::move(reply));
                      });
}

// Under mutex_.
void KubeDiscovery::Core::Ask(Entries::value_type& place) {
  auto& [version, entry] = place;
  entry.sent =
      Get(version, [version = version, round = entry.round](Core& self, KubeReply&& reply) {
        self.OnResources(version, round, std::move(reply));
      });
}

void KubeDiscovery::Core::OnResources(const KubeResource& version, uint64_t round,
                                      KubeReply&& reply) {
  if (reply.outcome == KubeOutcome::kNotFound) return AskForVersions(version, round);
  Result<ServedVersion> said = reply.outcome == KubeOutcome::kOk
                                   ? ReadResources(reply.body, version)
                                   : Error(CodeOf(reply), std::move(reply.message));
  if (!said) said = std::move(said).error().While("ask for the kinds of " + ApiVersionOf(version));
  Hear(version, round, std::move(said));
}

// What the group has instead, for the message.
void KubeDiscovery::Core::AskForVersions(const KubeResource& version, uint64_t round) {
  KubeResource group = version;
  group.version.clear();
  auto on_reply = [version, round](Core& self, KubeReply&& reply) {
    ServedVersion missing;
    missing.is_there = false;
    if (reply.outcome == KubeOutcome::kOk) missing.versions = ReadVersions(reply.body);
    if (reply.outcome == KubeOutcome::kNotFound) missing.versions.emplace();
    self.Hear(version, round, std::move(missing));
  };
  std::lock_guard lock(mutex_);
  entries_.at(version).sent = Get(group, std::move(on_reply));
}

void KubeDiscovery::Core::Hear(const KubeResource& version, uint64_t round,
                               Result<ServedVersion> said) {
  std::vector<std::pair<Found, Result<KubeKind>>> answers;
  {
    std::lock_guard lock(mutex_);
    Entries::value_type& place = *entries_.find(version);
    Entry& entry = place.second;
    entry.sent = 0;
    const MonoTime now = client_.clock().Mono();
    (said ? entry.heard_at : entry.failed_at) = now;
    (said ? entry.heard_round : entry.failed_round) = round;
    if (said) entry.served = *said;
    std::vector<Asker> later;
    for (Asker& asker : entry.askers) {
      if (asker.round > round) {
        later.push_back(std::move(asker));
        continue;
      }
      const KubeKind* stale = entry.served ? KindIn(*entry.served, asker.kind) : nullptr;
      answers.emplace_back(std::move(asker.found), said ? Look(version, *said, asker.kind)
                                                   : stale != nullptr
                                                       ? Result<KubeKind>(*stale)
                                                       : Result<KubeKind>(said.error()));
    }
    entry.askers = std::move(later);
    if (!entry.askers.empty()) Ask(place);
    DropMissing(now);
  }
  for (const auto& [found, kind] : answers) found(kind);
}

// Under mutex_. Forgets what says nothing any more, and the oldest of what is over the limit.
void KubeDiscovery::Core::DropMissing(MonoTime now) {
  size_t missing = 0;
  auto oldest = entries_.end();
  for (auto at = entries_.begin(); at != entries_.end();) {
    const auto place = at++;
    const Entry& entry = place->second;
    if (entry.sent != 0 || (entry.served && entry.served->is_there)) continue;
    if (!entry.served || now - entry.heard_at >= options_.miss_again) {
      entries_.erase(place);
      continue;
    }
    ++missing;
    const bool older = oldest == entries_.end() || entry.heard_at < oldest->second.heard_at;
    if (older) oldest = place;
  }
  if (missing > kMissingVersionsMost) entries_.erase(oldest);
}

KubeDiscovery::KubeDiscovery(KubeClient& client, KubeDiscoveryOptions options)
    : core_(std::make_shared<Core>(client, options)) {}

KubeDiscovery::~KubeDiscovery() {
  core_->Close();
}

void KubeDiscovery::Find(std::string_view api_version, std::string_view kind, Found found) {
  core_->Find(api_version, kind, std::move(found));
}

void KubeDiscovery::Forget(std::string_view api_version) {
  core_->Forget(api_version);
}

}  // namespace detent
