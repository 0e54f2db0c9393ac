#include "core/kube/watch_scope.h"

#include <algorithm>
#include <vector>

#include "core/base/json.h"
#include "core/base/names.h"
#include "core/kube/watch_shape.h"

namespace detent {
namespace {

constexpr size_t kSelectorBytes = 8192;

std::string_view WithoutSpace(std::string_view text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// The parts of a list: between commas, but for those in brackets or behind a backslash.
std::vector<std::string_view> SplitAtCommas(std::string_view text) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
      continue;
    }
    if (text[i] == '(') ++depth;
    if (text[i] == ')') --depth;
    if (text[i] != ',' || depth > 0) continue;
    parts.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

Result<void> CheckKey(std::string_view key) {
  const auto good = CheckQualifiedName(key);
  if (good) return {};
  return Error(Code::kInvalid, "the key '" + std::string(key) + "' " + good.error().message());
}

Result<void> CheckValue(std::string_view value) {
  const auto good = CheckLabelValue(value);
  if (good) return {};
  return Error(Code::kInvalid, "the value '" + std::string(value) + "' " + good.error().message());
}

// "key in (a,b)" and "key notin (a,b)"; `open` is the place of the bracket.
Result<void> CheckSetRequirement(std::string_view text, size_t open) {
  if (text.back() != ')') return Error(Code::kInvalid, "a '(' is not closed");
  std::string_view head = WithoutSpace(text.substr(0, open));
  const size_t space = head.rfind(' ');
  const std::string_view word = space == head.npos ? head : head.substr(space + 1);
  if (space == head.npos || (word != "in" && word != "notin")) {
    return Error(Code::kInvalid, "in front of '(' stands KEY in, or KEY notin");
  }
  TRY(CheckKey(WithoutSpace(head.substr(0, space))));
  for (const std::string_view value :
       SplitAtCommas(text.substr(open + 1, text.size() - open - 2))) {
    TRY(CheckValue(WithoutSpace(value)));
  }
  return {};
}

// As k8s.io/apimachinery has it: KEY, !KEY, KEY=VALUE, ==, !=, <, >, in, notin.
Result<void> CheckRequirement(std::string_view text) {
  text = WithoutSpace(text);
  if (text.empty()) return Error(Code::kInvalid, "there is nothing between two commas");
  if (text[0] == '!') return CheckKey(WithoutSpace(text.substr(1)));
  const size_t open = text.find('(');
  if (open != text.npos) return CheckSetRequirement(text, open);
  const size_t sign = text.find_first_of("=!<>");
  if (sign == text.npos) return CheckKey(text);
  TRY(CheckKey(WithoutSpace(text.substr(0, sign))));
  std::string_view value = text.substr(sign + 1);
  if (text[sign] == '!' && !value.starts_with('=')) {
    return Error(Code::kInvalid, "'!' within a requirement is written !=");
  }
  if (value.starts_with('=') && text[sign] != '<' && text[sign] != '>') value.remove_prefix(1);
  return CheckValue(WithoutSpace(value));
}

Result<void> CheckTerm(std::string_view text) {
  if (text.empty()) return {};
  const size_t sign = text.find('=');
  if (sign == text.npos) {
    return Error(Code::kInvalid, "'" + std::string(text) + "' is not FIELD=VALUE or FIELD!=VALUE");
  }
  if (sign == 0 || text.substr(0, sign) == "!") {
    return Error(Code::kInvalid, "'" + std::string(text) + "' names no field");
  }
  return {};
}

Result<void> CheckText(std::string_view text) {
  if (text.size() > kSelectorBytes) {
    return Error(Code::kInvalid, "has more than " + std::to_string(kSelectorBytes) + " bytes");
  }
  const bool plain = std::none_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < ' ' || c == 0x7F;
  });
  if (plain && IsUtf8(text)) return {};
  return Error(Code::kInvalid, "must be text without control characters");
}

template <typename Check>
Result<void> CheckSelector(const char* field, std::string_view text, Check&& check_part) {
  const auto named = [&](const Error& error) {
    return Error(Code::kInvalid, std::string(field) + ": " + error.message());
  };
  if (const auto good = CheckText(text); !good) return named(good.error());
  if (text.empty()) return {};
  for (const std::string_view part : SplitAtCommas(text)) {
    if (const auto good = check_part(part); !good) return named(good.error());
  }
  return {};
}

}  // namespace

Result<void> CheckWatchScope(const WatchScope& scope) {
  if (!scope.resource.subresource.empty()) {
    return Error(Code::kInvalid, "gvr: a subresource ('" + scope.resource.subresource +
                                     "') cannot be followed; follow the object");
  }
  if (!scope.ns.empty()) {
    if (const auto good = CheckDns1123Label(scope.ns); !good) {
      return Error(Code::kInvalid, "namespace: '" + scope.ns + "' " + good.error().message());
    }
  }
  TRY(CheckSelector("label selector", scope.label_selector, CheckRequirement));
  TRY(CheckSelector("field selector", scope.field_selector, CheckTerm));
  if (const auto shape = WatchShape::Parse(scope.only); !shape) return shape.error();
  return {};
}

std::string PathOf(const WatchScope& scope) {
  std::string path = PathOf(scope.resource, scope.ns, "");
  char mark = '?';
  const auto add = [&](const char* key, const std::string& value) {
    if (value.empty()) return;
    path += mark + QueryPart(key, value);
    mark = '&';
  };
  add("labelSelector", scope.label_selector);
  add("fieldSelector", scope.field_selector);
  return path;
}

}  // namespace detent
