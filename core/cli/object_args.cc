#include "core/cli/object_args.h"

#include <algorithm>
#include <iterator>

#include "core/base/spelling.h"

namespace detent {
namespace {

Result<Kind> ParseKind(const std::string& word) {
  const std::string name = word.substr(0, word.find('.'));
  const bool grouped = name.size() < word.size();
  const auto kind = KindFromName(name);
  if (kind && (!grouped || word.substr(name.size()).find(kApiGroup) != word.npos)) return *kind;
  std::vector<std::string> known;
  std::string list;
  for (const Kind each : kKinds) {
    for (const char* form : {SingularOf(each), PluralOf(each)}) known.emplace_back(form);
    list += (list.empty() ? "" : ", ") + std::string(PluralOf(each));
  }
  return Error(Code::kInvalid,
               "unknown type '" + word + "'; there are: " + list + DidYouMean(name, known));
}

Result<void> AddKinds(const std::string& word, ObjectArgs& args) {
  if (word == "all") {
    args.kinds.assign(std::begin(kKinds), std::end(kKinds));
    return {};
  }
  for (size_t begin = 0; begin <= word.size();) {
    const size_t end = std::min(word.find(',', begin), word.size());
    args.kinds.push_back(TRY(ParseKind(word.substr(begin, end - begin))));
    begin = end + 1;
  }
  return {};
}

}  // namespace

Result<ObjectArgs> ParseObjects(const std::vector<std::string>& words) {
  ObjectArgs args;
  if (words.empty()) {
    return Error(Code::kInvalid, "needs a type or TYPE/NAME, such as jobs or job/hello");
  }
  if (words[0].find('/') == std::string::npos) {
    TRY(AddKinds(words[0], args));
    if (words.size() == 1) return args;
    if (args.kinds.size() > 1) {
      return Error(Code::kInvalid, "names cannot follow several types; write TYPE/NAME for each");
    }
    for (size_t i = 1; i < words.size(); ++i) {
      if (words[i].find('/') != std::string::npos) {
        return Error(Code::kInvalid, "'" + words[i] +
                                         "' stands behind a type of its own; write "
                                         "either TYPE NAME... or TYPE/NAME...");
      }
      args.objects.push_back({args.kinds[0], words[i]});
    }
    args.kinds.clear();
    return args;
  }
  for (const std::string& word : words) {
    const size_t slash = word.find('/');
    if (slash == word.npos || slash + 1 == word.size() || word.find('/', slash + 1) != word.npos) {
      return Error(Code::kInvalid, "'" + word + "' must have the form TYPE/NAME");
    }
    const Kind kind = TRY(ParseKind(word.substr(0, slash)));
    args.objects.push_back({kind, word.substr(slash + 1)});
  }
  return args;
}

Result<ObjectArg> ParseObject(const std::vector<std::string>& words) {
  const ObjectArgs args = TRY(ParseObjects(words));
  if (args.objects.size() != 1) {
    return Error(Code::kInvalid, "needs exactly one object, as TYPE/NAME");
  }
  return args.objects[0];
}

std::string ShownName(Kind kind, const std::string& name) {
  return std::string(SingularOf(kind)) + "." + kApiGroup + "/" + name;
}

ObjectArg ObjectArgOf(const Json& object, Kind absent) {
  ObjectArg arg;
  arg.kind = absent;
  if (const Json* kind = object.Find("kind"); kind != nullptr && kind->is_string()) {
    arg.kind = KindFromName(kind->as_string()).value_or(absent);
  }
  const Json* name = object.At("/metadata/name");
  if (name != nullptr && name->is_string()) arg.name = name->as_string();
  return arg;
}

}  // namespace detent
