#include "core/kube/watch_shape.h"

#include <algorithm>
#include <utility>

#include "core/base/json_writer.h"

namespace detent {
namespace {

constexpr size_t kShapeBytes = 4096;

Error BadShape(const std::string& why) {
  return Error(Code::kInvalid, "only: " + why);
}

// In the place of the last comma, or behind the opening bracket of nothing.
void CloseWith(char bracket, std::string& out) {
  if (out.back() == ',') {
    out.back() = bracket;
  } else {
    out += bracket;
  }
}

}  // namespace

Result<WatchShape> WatchShape::Parse(std::string_view members) {
  if (members.size() > kShapeBytes) {
    return BadShape("has more than " + std::to_string(kShapeBytes) + " bytes");
  }
  WatchShape shape;
  if (members.empty()) return shape;
  const bool named =
      EachMemberPath(members, [&](std::string_view path) { return Add(shape.members_, path); });
  if (!named) return BadShape("a member without a name in '" + std::string(members) + "'");
  return shape;
}

// False: a name is empty.
bool WatchShape::Add(Members& into, std::string_view path) {
  const size_t dot = path.find('.');
  const std::string_view name = path.substr(0, dot);
  if (name.empty()) return false;
  auto member = std::find_if(into.begin(), into.end(),
                             [&](const Member& known) { return known.name == name; });
  const bool whole = member != into.end() && member->members.empty();
  if (member == into.end()) member = into.insert(into.end(), Member{std::string(name), {}});
  if (dot == path.npos) {
    member->members.clear();  // All of it, whatever was said of its parts.
    return true;
  }
  Members parts;
  return Add(whole ? parts : member->members, path.substr(dot + 1));
}

const WatchShape::Member* WatchShape::Find(const Members& members, std::string_view name) {
  for (const Member& member : members) {
    if (member.name == name) return &member;
  }
  return nullptr;
}

void WatchShape::AppendMember(std::string_view name, JsonScan::Value& value,
                              std::string& out) const {
  AppendMember(members_, name, value, out);
}

void WatchShape::AppendMember(const Members& members, std::string_view name, JsonScan::Value& value,
                              std::string& out) {
  const Member* const kept = Find(members, name);
  if (kept == nullptr) return;
  AppendJsonString(out, name);
  out += ':';
  Append(kept->members, value, out);
  out += ',';
}

void WatchShape::Append(const Members& members, JsonScan::Value& value, std::string& out) {
  if (!members.empty() && value.IsObject()) {
    out += '{';
    value.Members([&](std::string_view name, JsonScan::Value& member) {
      AppendMember(members, name, member, out);
      return true;
    });
    return CloseWith('}', out);
  }
  if (!members.empty() && value.IsArray()) {
    out += '[';
    value.Items([&](JsonScan::Value& item) {
      Append(members, item, out);
      out += ',';
      return true;
    });
    return CloseWith(']', out);
  }
  out += value.Raw();
}

}  // namespace detent
