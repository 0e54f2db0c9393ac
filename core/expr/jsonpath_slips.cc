#include "core/expr/jsonpath_slips.h"

#include <algorithm>
#include <cctype>

#include "core/expr/code_points.h"

namespace detent::jsonpath {
namespace {

constexpr const char* kEqualityHint = "equality is written ==";
constexpr const char* kInequalityHint = "inequality is written !=";
constexpr const char* kPatternHint =
    "regular expressions are match(value, \"...\"), and search(value, \"...\") for a part";
constexpr const char* kQuotesHint = "quotes are \" or '";
constexpr const char* kArithmeticHint = "there is no arithmetic";
constexpr const char* kNameHint = "such a name is written ['a-b'], and there is no arithmetic";
constexpr const char* kChainHint = "two comparisons are joined by &&";

struct Slip {
  std::string_view text;
  const char* hint;
};

// Of two that fit the first counts.
constexpr Slip kSlips[] = {
    {"===", kEqualityHint},
    {"==", kChainHint},
    {"=~", kPatternHint},
    {"=", kEqualityHint},
    {"~", kPatternHint},
    {"!~", kPatternHint},
    {"!==", kInequalityHint},
    {"!=", kChainHint},
    {"<>", kInequalityHint},
    {"<", kChainHint},
    {">", kChainHint},
    {"&", "and is written &&"},
    {"|", "or is written ||"},
    {"\xE2\x80\x98", kQuotesHint},
    {"\xE2\x80\x99", kQuotesHint},
    {"\xE2\x80\x9C", kQuotesHint},
    {"\xE2\x80\x9D", kQuotesHint},
    {"`", kQuotesHint},
    {"-", kNameHint},
    {"/", kNameHint},
    {"+", kArithmeticHint},
    {"*", kArithmeticHint},
    {"%", kArithmeticHint},
    {"(", "a function stands in front: length($.items)"},
};

// Words are compared in lower case.
constexpr Slip kWordSlips[] = {
    {"and", "and is written &&"},
    {"or", "or is written ||"},
    {"not", "not is written !"},
    {"eq", kEqualityHint},
    {"is", kEqualityHint},
    {"ne", kInequalityHint},
    {"in", "compare with each value, joined by ||"},
    {"contains", "use search(value, \"...\"), or a filter: [?@ == \"...\"]"},
    {"matches", kPatternHint},
    {"true", "write true"},
    {"false", "write false"},
    {"null", "write null"},
    {"nil", "write null"},
    {"none", "write null"},
    {"undefined", "to test for existence write the path alone, or ! before it"},
    {"exists", "to test for existence write the path alone"},
    {"range", "there are no templates; a path selects all by [*]"},
};

std::string Lower(std::string_view word) {
  std::string lower(word);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

bool IsWordByte(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

std::string_view WordAt(std::string_view rest) {
  const auto end = std::find_if_not(rest.begin(), rest.end(), IsWordByte);
  return rest.substr(0, static_cast<size_t>(end - rest.begin()));
}

const char* SlipOfWord(std::string_view word) {
  const std::string lower = Lower(word);
  for (const Slip& slip : kWordSlips) {
    if (lower == slip.text) return slip.hint;
  }
  return nullptr;
}

const char* SlipOfSign(std::string_view rest) {
  for (const Slip& slip : kSlips) {
    if (rest.starts_with(slip.text)) return slip.hint;
  }
  return nullptr;
}

std::string OrEmpty(const char* hint) {
  return hint == nullptr ? "" : hint;
}

}  // namespace

std::string Shown(std::string_view rest) {
  constexpr size_t kWordShown = 32;
  if (rest.empty()) return "the end";
  std::string_view shown = WordAt(rest);
  if (shown.empty()) {
    shown = rest.substr(0, std::min(rest.find_first_not_of("=!<>&|~"), rest.size()));
  }
  if (shown.empty()) shown = rest.substr(0, 1);
  if (IsBlank(shown[0])) return "space";
  if (static_cast<unsigned char>(shown[0]) < 0x20) return "a control character";
  if (shown.size() <= kWordShown) return "'" + std::string(shown) + "'";
  size_t end = 0;
  while (end < kWordShown) NextCodePoint(shown, end);
  return "'" + std::string(shown.substr(0, end)) + "...'";
}

std::string HintAt(std::string_view rest) {
  if (const char* hint = SlipOfWord(WordAt(rest))) return hint;
  return OrEmpty(SlipOfSign(rest));
}

std::string HintForValue(std::string_view rest, ExprDialect dialect) {
  const bool strict = dialect == ExprDialect::kJsonPath;
  if (rest.starts_with('+')) return "a positive number has no sign";
  if (rest.starts_with('(')) return "a value stands without parentheses";
  if (rest.starts_with('{'))
    return "there are no object literals; compare the members, or length()";
  if (strict && rest.starts_with('.')) return "the current value is @: @.name";
  if (strict && rest.starts_with('[')) return "there are no array literals; use length()";
  return OrEmpty(SlipOfSign(rest));
}

std::string HintForWord(std::string_view word, std::string_view rest_behind, ExprDialect dialect) {
  const std::string name(word);
  const std::string path = (dialect == ExprDialect::kCondition ? "." : "@.") + name;
  if (const char* hint = SlipOfWord(word)) return hint;
  if (const char* hint = SlipOfSign(word)) return hint;
  if (rest_behind.starts_with('.') || rest_behind.starts_with('[')) {
    return "a path is written " + path;
  }
  const size_t next = rest_behind.find_first_not_of(" \t\n\r");
  if (next != 0 && next != rest_behind.npos && rest_behind[next] == '(') {
    return "leave the space before '(' out";
  }
  return "text is written \"" + name + "\", and a path " + path;
}

std::string HintForSelector(std::string_view rest) {
  if (rest.starts_with('(')) return "there are no scripts; the last element is [-1]";
  if (rest.starts_with('@')) return "a filter begins with a question mark: [?@.a == 1]";
  if (rest.starts_with(']')) return "all elements are [*]; there are no array literals";
  if (rest.starts_with('+')) return "a positive number has no sign";
  const std::string_view word = WordAt(rest);
  return word.empty() ? "" : "a name in brackets is quoted: ['" + std::string(word) + "']";
}

std::string HintAfterDot(std::string_view rest) {
  if (rest.empty()) return "leave the dots at the end out; the document itself is $";
  const char next = rest[0];
  if (next >= '0' && next <= '9') return "an element is written [0]";
  if (next == '"' || next == '\'') return "a quoted name stands in brackets: ['a b']";
  if (next == '[') return "leave the dot before '[' out";
  if (IsBlank(next)) return "no space stands after a dot";
  if (next == '-' || next == '/' || next == '\\') {
    return "a name that does not begin with a letter stands in brackets: ['-x']";
  }
  return "";
}

std::string HintForRoot(std::string_view text) {
  if (text.empty()) return "the document itself is $";
  if (text[0] == '.' || text[0] == '[') return "write $ in front";
  if (text[0] == '@') return "outside of filters write $ for @";
  if (IsBlank(text[0])) return "leave the space in front out";
  if (text[0] == '{') return "leave the braces out";
  const std::string_view word = WordAt(text);
  return word.empty() ? "" : "write $." + std::string(word);
}

}  // namespace detent::jsonpath
