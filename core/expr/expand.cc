#include "core/expr/expand.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/spelling.h"

namespace detent {
namespace {

constexpr std::string_view kReference = "${";
constexpr size_t kMistakesMax = 100;

class Expander {
 public:
  // All are borrowed. Requires: `values` is an object of strings.
  Expander(const Json::Object& values, size_t bytes_max, Diagnostics& mistakes)
      : bytes_max_(bytes_max), mistakes_(mistakes) {
    for (const auto& [name, value] : values) values_.emplace(name, &value.as_string());
  }

  // False: over bytes_max.
  bool Append(const Json& value) {
    if (value.is_object()) return AppendObject(value.as_object());
    if (value.is_array()) return AppendArray(value.as_array());
    if (!value.is_string()) {
      AppendJson(out_, value);
    } else if (std::string text; Fill(value.as_string(), text)) {
      AppendJsonString(out_, text);
    } else {
      return false;
    }
    return out_.size() <= bytes_max_;
  }

  std::string& out() { return out_; }

 private:
  bool AppendObject(const Json::Object& members) {
    const size_t parent = pointer_.size();
    char separator = '{';
    for (const auto& [name, member] : members) {
      out_ += std::exchange(separator, ',');
      AppendJsonString(out_, name);
      out_ += ':';
      pointer_ += PointerToken(name);
      if (!Append(member)) return false;
      pointer_.resize(parent);
    }
    out_ += members.empty() ? "{}" : "}";
    return true;
  }

  bool AppendArray(const Json::Array& elements) {
    const size_t parent = pointer_.size();
    char separator = '[';
    for (size_t i = 0; i < elements.size(); ++i) {
      out_ += std::exchange(separator, ',');
      pointer_ += "/" + std::to_string(i);
      if (!Append(elements[i])) return false;
      pointer_.resize(parent);
    }
    out_ += elements.empty() ? "[]" : "]";
    return true;
  }

  // False: over bytes_max.
  bool Fill(std::string_view text, std::string& filled) {
    while (filled.size() <= bytes_max_) {
      const size_t open = text.find(kReference);
      filled += text.substr(0, open);
      if (open == text.npos) return true;
      const bool escaped = open > 0 && text[open - 1] == '$';
      text.remove_prefix(open + kReference.size());
      if (escaped) {
        filled += '{';
        continue;
      }
      const size_t end = NameEnd(text);
      if (end == text.size() || text[end] != '}') {
        filled += kReference;
        continue;
      }
      AppendValue(text.substr(0, end), filled);
      text.remove_prefix(end + 1);
    }
    return false;
  }

  // Where a name that begins `text` ends: at its '}', at another reference, or with the text.
  static size_t NameEnd(std::string_view text) {
    size_t end = 0;
    while (end < text.size() && text[end] != '}' && !text.substr(end).starts_with(kReference)) {
      ++end;
    }
    return end;
  }

  void AppendValue(std::string_view name, std::string& filled) {
    const auto found = values_.find(name);
    if (found != values_.end()) {
      filled += *found->second;
      return;
    }
    if (mistakes_.size() >= kMistakesMax) return;
    std::vector<std::string> known;
    for (const auto& [value_name, value] : values_) known.emplace_back(value_name);
    const std::string nearest = NearestWord(name, known);
    Diagnostic mistake;
    mistake.pointer = pointer_;
    mistake.message = "there is no value for ${" + std::string(name) + "}";
    mistake.hint = nearest.empty() ? "if it is meant literally, write $${"
                                   : "did you mean ${" + nearest + "}?";
    mistakes_.push_back(std::move(mistake));
  }

  std::map<std::string_view, const std::string*> values_;
  const size_t bytes_max_;
  Diagnostics& mistakes_;
  std::string pointer_;
  std::string out_;
};

}  // namespace

Result<std::string> ExpandStrings(const Json& document, const Json& values, size_t bytes_max,
                                  Diagnostics& mistakes) {
  if (!values.is_object()) return Error(Code::kInvalid, "the values must be an object of strings");
  for (const auto& [name, value] : values.as_object()) {
    if (value.is_string()) continue;
    return Error(Code::kInvalid, "the value of '" + name + "' must be a string, not " +
                                     value.type_name() + "; write a number in quotes");
  }
  const size_t before = mistakes.size();
  Expander expander(values.as_object(), bytes_max, mistakes);
  if (!expander.Append(document)) {
    return Error(Code::kTooLarge,
                 "the expanded document has more than " + std::to_string(bytes_max) + " bytes");
  }
  if (mistakes.size() > before) {
    return Error(Code::kInvalid, Sentence(mistakes[before]));
  }
  return std::move(expander.out());
}

}  // namespace detent
