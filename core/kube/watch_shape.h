// What of an object a watch keeps: a Pod's text is some kilobytes, of which its follower may read a
// few hundred bytes, and as many of them are kept as there are objects. Pure; any thread.

#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json_scan.h"
#include "core/base/result.h"

namespace detent {

// Calls visit(std::string_view path) for each of "spec.nodeName,status", until it answers false;
// whether it never did.
template <typename Visit>
bool EachMemberPath(std::string_view members, Visit&& visit) {
  for (size_t from = 0; from <= members.size();) {
    const size_t end = std::min(members.find(',', from), members.size());
    if (!visit(members.substr(from, end - from))) return false;
    from = end + 1;
  }
  return true;
}

class WatchShape {
 public:
  // "spec.nodeName,spec.containers.name,status": those members and what is in them; lists are
  // looked through. apiVersion, kind and metadata are kept anyway. Empty: all of an object is.
  // kInvalid: more than 4096 bytes, or a name that is empty.
  static Result<WatchShape> Parse(std::string_view members);

  bool keeps_all() const { return members_.empty(); }

  // Whether a member of an object is kept, or a part of it.
  bool Keeps(std::string_view name) const { return Find(members_, name) != nullptr; }

  // Appends a member of an object, as much of it as is kept, with its name and a comma behind it.
  // Not of the metadata.
  void AppendMember(std::string_view name, JsonScan::Value& value, std::string& out) const;

 private:
  struct Member {
    std::string name;
    std::vector<Member> members;  // Empty: all of it.
  };
  using Members = std::vector<Member>;
  static bool Add(Members& into, std::string_view path);
  static const Member* Find(const Members& members, std::string_view name);
  static void AppendMember(const Members& members, std::string_view name, JsonScan::Value& value,
                           std::string& out);
  static void Append(const Members& members, JsonScan::Value& value, std::string& out);

  Members members_;
};

}  // namespace detent
