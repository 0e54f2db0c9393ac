#include "core/api/object.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace detent {
namespace {

struct KindNames {
  Kind kind;
  const char* name;
  const char* plural;
  const char* singular;
  const char* shortened;
};

constexpr std::array<KindNames, 3> kNames = {{
    {Kind::kJobConfig, "JobConfig", "jobconfigs", "jobconfig", "jc"},
    {Kind::kJob, "Job", "jobs", "job", "jb"},
    {Kind::kTask, "Task", "tasks", "task", "tk"},
}};

const KindNames& NamesOf(Kind kind) {
  return kNames[static_cast<size_t>(kind) - 1];
}

bool SameWord(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
           return std::tolower(static_cast<unsigned char>(x)) ==
                  std::tolower(static_cast<unsigned char>(y));
         });
}

}  // namespace

const char* NameOf(Kind kind) {
  return NamesOf(kind).name;
}
const char* PluralOf(Kind kind) {
  return NamesOf(kind).plural;
}
const char* SingularOf(Kind kind) {
  return NamesOf(kind).singular;
}
const char* ShortNameOf(Kind kind) {
  return NamesOf(kind).shortened;
}

std::optional<Kind> KindFromName(std::string_view name) {
  for (const KindNames& names : kNames) {
    if (SameWord(name, names.name) || SameWord(name, names.plural) ||
        SameWord(name, names.shortened)) {
      return names.kind;
    }
  }
  return std::nullopt;
}

std::string ToString(const ObjectKey& key) {
  std::string text = SingularOf(key.kind);
  text += ' ';
  if (!key.ns.empty()) text += key.ns + '/';
  return text + key.name;
}

const OwnerReference* ControllerOf(const ObjectMeta& meta) {
  for (const OwnerReference& owner : meta.owners) {
    if (owner.controller) return &owner;
  }
  return nullptr;
}

bool HasFinalizer(const ObjectMeta& meta, std::string_view finalizer) {
  return std::find(meta.finalizers.begin(), meta.finalizers.end(), finalizer) !=
         meta.finalizers.end();
}

void RemoveFinalizer(ObjectMeta& meta, std::string_view finalizer) {
  std::erase(meta.finalizers, finalizer);
}

}  // namespace detent
