#include "core/http/selectors.h"

#include <algorithm>

#include "core/api/selectable_fields.h"
#include "core/base/json.h"
#include "core/base/names.h"

namespace detent {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

void SkipBlanks(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(kBlanks), rest.size()));
}

// A key, a value or an operator's name: everything up to a blank or a sign.
std::string_view TakeWord(std::string_view& rest) {
  SkipBlanks(rest);
  const std::string_view word = rest.substr(0, rest.find_first_of(" \t\r\n,=!()<>"));
  rest.remove_prefix(word.size());
  SkipBlanks(rest);
  return word;
}

bool Take(std::string_view& rest, std::string_view sign) {
  if (!rest.starts_with(sign)) return false;
  rest.remove_prefix(sign.size());
  SkipBlanks(rest);
  return true;
}

Error Unparsable(const std::string& why) {
  return Error(Code::kInvalid, "unable to parse requirement: " + why);
}

// "(a,b,c)"; an empty value is a value too.
Result<std::vector<std::string>> TakeSet(std::string_view& rest) {
  if (!Take(rest, "(")) return Unparsable("expected: '(' before the set of values");
  std::vector<std::string> values;
  do {
    values.emplace_back(TakeWord(rest));
  } while (Take(rest, ","));
  if (!Take(rest, ")")) return Unparsable("expected: ',' or ')' in the set of values");
  std::sort(values.begin(), values.end());
  return values;
}

// Undoes "\,", "\=" and "\\"; stops at a bare ',' or, if `sign_ends`, at a sign.
std::string TakeEscaped(std::string_view& rest, bool sign_ends) {
  std::string text;
  while (!rest.empty() && rest[0] != ',') {
    if (sign_ends && (rest[0] == '=' || rest[0] == '!')) break;
    if (rest[0] == '\\' && rest.size() > 1) rest.remove_prefix(1);
    text += rest[0];
    rest.remove_prefix(1);
  }
  return text;
}

bool IsSupported(Kind kind, std::string_view field) {
  if (field == "metadata.name" || field == "metadata.namespace") return true;
  return IsSelectable(kind, field);
}

std::string MemberOf(std::string_view document, std::string_view member) {
  if (document.empty()) return {};
  const Result<Json> json = ParseJson(document);
  const Json* value = json ? json->Find(member) : nullptr;
  return value != nullptr && value->is_string() ? value->as_string() : std::string();
}

std::string FieldOf(const Object& object, std::string_view field) {
  if (field == "metadata.name") return object.meta.name;
  if (field == "metadata.namespace") return object.meta.ns;
  const size_t dot = field.find('.');
  const std::string_view member = field.substr(dot + 1);
  return MemberOf(field.starts_with("spec") ? object.spec : object.status, member);
}

}  // namespace

Result<LabelSelector::Requirement> LabelSelector::ParseRequirement(std::string_view& rest) {
  Requirement requirement;
  const bool negated = Take(rest, "!");
  requirement.key = TakeWord(rest);
  if (const Result<void> valid = CheckQualifiedName(requirement.key); !valid) {
    return Unparsable("key '" + requirement.key + "': " + valid.error().message());
  }
  if (negated || rest.empty() || rest[0] == ',') {
    requirement.op = negated ? Operator::kMissing : Operator::kExists;
    return requirement;
  }
  const bool unequal = Take(rest, "!=");
  if (unequal || Take(rest, "==") || Take(rest, "=")) {
    requirement.op = unequal ? Operator::kNotIn : Operator::kIn;
    requirement.values.emplace_back(TakeWord(rest));
  } else {
    const std::string_view word = TakeWord(rest);
    if (word != "in" && word != "notin") {
      return Unparsable("found '" + std::string(word.empty() ? rest : word) +
                        "', expected: in, notin, =, ==, !=");
    }
    requirement.op = word == "in" ? Operator::kIn : Operator::kNotIn;
    requirement.values = TRY(TakeSet(rest));
  }
  for (const std::string& value : requirement.values) {
    if (const Result<void> valid = CheckLabelValue(value); !valid) {
      return Unparsable("value '" + value + "': " + valid.error().message());
    }
  }
  return requirement;
}

Result<LabelSelector> LabelSelector::Parse(std::string_view text) {
  LabelSelector selector;
  SkipBlanks(text);
  while (!text.empty()) {
    selector.requirements_.push_back(TRY(ParseRequirement(text)));
    if (text.empty()) break;
    if (!Take(text, ",")) return Unparsable("found '" + std::string(text) + "', expected: ','");
    if (text.empty()) return Unparsable("found nothing after ','");
  }
  return selector;
}

bool LabelSelector::Matches(const StringMap& labels) const {
  for (const Requirement& requirement : requirements_) {
    const auto found = labels.find(requirement.key);
    const bool present = found != labels.end();
    const auto is_in = [&] {
      return present && std::binary_search(requirement.values.begin(), requirement.values.end(),
                                           found->second);
    };
    bool holds = present;
    if (requirement.op == Operator::kMissing) holds = !present;
    if (requirement.op == Operator::kIn) holds = is_in();
    // As in Kubernetes, an object without the label is not in the set either.
    if (requirement.op == Operator::kNotIn) holds = !is_in();
    if (!holds) return false;
  }
  return true;
}

Result<FieldSelector> FieldSelector::Parse(Kind kind, std::string_view text) {
  FieldSelector selector;
  while (!text.empty()) {
    Term term;
    term.field = TakeEscaped(text, true);
    term.equal = !text.starts_with("!=");
    if (text.starts_with("!=") || text.starts_with("==")) {
      text.remove_prefix(2);
    } else if (text.starts_with("=")) {
      text.remove_prefix(1);
    } else {
      return Error(Code::kInvalid,
                   "invalid field selector: expected '=', '==' or '!=' after '" + term.field + "'");
    }
    if (!IsSupported(kind, term.field)) {
      return Error(Code::kInvalid, "field label not supported: " + term.field);
    }
    term.value = TakeEscaped(text, false);
    selector.terms_.push_back(std::move(term));
    if (!text.empty()) text.remove_prefix(1);
  }
  return selector;
}

bool FieldSelector::Matches(const Object& object) const {
  return std::all_of(terms_.begin(), terms_.end(), [&](const Term& term) {
    return (FieldOf(object, term.field) == term.value) == term.equal;
  });
}

bool FieldSelector::SelectsMutable() const {
  return std::any_of(terms_.begin(), terms_.end(),
                     [](const Term& term) { return term.field.starts_with("status."); });
}

std::string_view FieldSelector::RequiredName() const {
  for (const Term& term : terms_) {
    if (term.field == "metadata.name" && term.equal) return term.value;
  }
  return {};
}

}  // namespace detent
