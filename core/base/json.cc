#include "core/base/json.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>

#include "core/base/text_position.h"

namespace detent {

namespace {

// Poco::JSON was measured first: its errors carry no position, integers beyond 64 bits wrap or are
// refused, and it needs 9 microseconds for 800 bytes before a single value is built. simdjson's
// on-demand parser tells where it stands, and leaves the spelling of numbers to us.
namespace ondemand = simdjson::ondemand;

constexpr std::string_view kSpace = " \t\n\r";

std::string_view TrimEnd(std::string_view text) {
  const size_t last = text.find_last_not_of(kSpace);
  return last == text.npos ? std::string_view() : text.substr(0, last + 1);
}

size_t SkipDigits(std::string_view text, size_t at) {
  while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
  return at;
}

// Where the number's integer part ends, or 0 if it has none ("-", "01").
size_t IntegerEnd(std::string_view text) {
  const size_t begin = !text.empty() && text[0] == '-' ? 1 : 0;
  const size_t end = SkipDigits(text, begin);
  if (end == begin || (text[begin] == '0' && end > begin + 1)) return 0;
  return end;
}

bool HasNumberTail(std::string_view text, size_t at) {
  if (at < text.size() && text[at] == '.') {
    const size_t end = SkipDigits(text, at + 1);
    if (end == at + 1) return false;
    at = end;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    const size_t end = SkipDigits(text, at);
    if (end == at) return false;
    at = end;
  }
  return at == text.size();
}

// A number too small for a double is 0. One too large has no value that could stand for it.
bool IsTiny(std::string_view text) {
  if (text[0] == '-') text.remove_prefix(1);
  const bool negative_exponent = text.find("e-") != text.npos || text.find("E-") != text.npos;
  const bool has_exponent = text.find_first_of("eE") != text.npos;
  if (text.substr(0, 2) == "0." && !has_exponent) return true;
  return negative_exponent && text.size() < 300;
}

// Null if `text` is a number, else what is wrong with it.
const char* ReadNumber(std::string_view text, Json& out) {
  const size_t integer_end = IntegerEnd(text);
  if (integer_end == 0 || !HasNumberTail(text, integer_end)) return "malformed number";
  const char* const end = text.data() + text.size();
  if (integer_end == text.size()) {
    int64_t integer = 0;
    if (std::from_chars(text.data(), end, integer).ec == std::errc()) {
      out = integer;
      return nullptr;
    }
  }
  double number = 0;
  if (std::from_chars(text.data(), end, number).ec != std::errc()) {
    if (!IsTiny(text)) return "number too large";
    number = 0;
  }
  out = number;
  return nullptr;
}

// The names of one object so far. Most objects are small: their names are compared one by one.
class NameSet {
 public:
  // False if it is there already. `name` must outlive the set.
  bool Add(std::string_view name) {
    if (count_ == kFew && many_.empty()) many_.insert(few_.begin(), few_.end());
    if (!many_.empty()) return many_.insert(name).second;
    if (std::find(few_.begin(), few_.begin() + count_, name) != few_.begin() + count_) return false;
    few_[count_++] = name;
    return true;
  }

 private:
  static constexpr size_t kFew = 16;
  std::array<std::string_view, kFew> few_;
  size_t count_ = 0;
  std::set<std::string_view> many_;
};

class Reader {
 public:
  // Both are borrowed. simdjson reads up to SIMDJSON_PADDING bytes behind the text.
  Reader(const simdjson::padded_string& text, size_t depth_max)
      : text_(text), depth_max_(depth_max) {}

  Result<Json> Read() {
    ondemand::parser parser;
    ondemand::document document;
    if (const auto error = parser.iterate(text_).get(document)) return TextError(error);
    document_ = &document;
    Json value;
    if (!ReadRoot(document, value)) return Failure();
    return value;
  }

 private:
  static constexpr size_t kFirstReserve = 4;

  bool ReadRoot(ondemand::document& document, Json& out) {
    ondemand::json_type type;
    if (const auto error = document.type().get(type)) return Fail(error);
    const bool bare = type == ondemand::json_type::number || type == ondemand::json_type::boolean ||
                      type == ondemand::json_type::null;
    if (bare) {
      // A token ends where the next begins, and the root's must be the last.
      const std::string_view text(text_);
      return ReadBare(TrimEnd(text.substr(text.find_first_not_of(kSpace))), out);
    }
    if (!ReadValue(document, 0, out)) return false;
    if (document.current_location().error() == simdjson::OUT_OF_BOUNDS) return true;
    return FailAt(Location(), "unexpected text after the end of the value");
  }

  template <typename Value>
  bool ReadValue(Value& value, size_t depth, Json& out) {
    ondemand::json_type type;
    if (const auto error = value.type().get(type)) return Fail(error);
    switch (type) {
      case ondemand::json_type::array:
        return ReadArray(value, depth, out);
      case ondemand::json_type::object:
        return ReadObject(value, depth, out);
      case ondemand::json_type::string: {
        std::string_view text;
        if (const auto error = value.get_string().get(text)) return Fail(error);
        out = text;
        return true;
      }
      default:
        return ReadBare(TrimEnd(value.raw_json_token()), out);
    }
  }

  bool ReadBare(std::string_view token, Json& out) {
    if (token == "true") {
      out = true;
    } else if (token == "false") {
      out = false;
    } else if (token != "null") {
      const bool number = token[0] == '-' || (token[0] >= '0' && token[0] <= '9');
      const char* problem = number ? ReadNumber(token, out) : "unknown word";
      if (problem != nullptr) return FailAt(token.data(), problem);
    }
    return true;
  }

  template <typename Value>
  bool ReadArray(Value& value, size_t depth, Json& out) {
    if (depth == depth_max_) return FailTooDeep();
    ondemand::array array;
    if (const auto error = value.get_array().get(array)) return Fail(error);
    Json::Array items;
    items.reserve(kFirstReserve);
    for (auto item : array) {
      ondemand::value child;
      if (const auto error = item.get(child)) return Fail(error);
      if (!ReadValue(child, depth + 1, items.emplace_back())) return false;
    }
    out = std::move(items);
    return true;
  }

  template <typename Value>
  bool ReadObject(Value& value, size_t depth, Json& out) {
    if (depth == depth_max_) return FailTooDeep();
    ondemand::object object;
    if (const auto error = value.get_object().get(object)) return Fail(error);
    Json::Object members;
    members.reserve(kFirstReserve);
    NameSet names;
    for (auto member : object) {
      ondemand::field field;
      if (const auto error = std::move(member).get(field)) return Fail(error);
      const char* const place = field.key().raw() - 1;
      std::string_view name;
      if (const auto error = field.unescaped_key().get(name)) return FailAt(place, Phrase(error));
      if (!names.Add(name))
        return FailAt(place, "the member " + DumpJson(name) + " is given twice");
      ondemand::value& child = field.value();
      if (!ReadValue(child, depth + 1, members.emplace_back(name, Json()).second)) return false;
    }
    out = std::move(members);
    return true;
  }

  bool FailTooDeep() {
    return FailAt(Location(), "nested deeper than " + std::to_string(depth_max_));
  }

  bool Fail(simdjson::error_code error) { return FailAt(Location(), Phrase(error)); }

  bool FailAt(const char* place, std::string message) {
    place_ = static_cast<size_t>(place - text_.data());
    message_ = std::move(message);
    return false;
  }

  const char* Location() {
    const char* place = nullptr;
    if (document_->current_location().get(place)) return text_.data() + text_.size();
    return place;
  }

  Error Failure() const {
    return Error(Code::kInvalid, Where(PositionAt(std::string_view(text_), place_)) + message_);
  }

  // Of the errors that concern the text as a whole simdjson does not tell the place.
  Error TextError(simdjson::error_code error) {
    const std::string_view text(text_);
    if (error == simdjson::UTF8_ERROR) {
      FailAt(text.data() + Utf8Prefix(text), "invalid UTF-8");
    } else if (error == simdjson::EMPTY) {
      FailAt(text.data() + text.size(), "no JSON value");
    } else {
      FailAt(text.data() + BadStringAt(text), Phrase(error));
    }
    return Failure();
  }

  // The control character within a string, or the quote that opens one without an end.
  static size_t BadStringAt(std::string_view text) {
    size_t opened = text.npos;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '"') {
        opened = opened == text.npos ? i : text.npos;
      } else if (opened != text.npos) {
        if (static_cast<unsigned char>(text[i]) < 0x20) return i;
        if (text[i] == '\\') ++i;
      }
    }
    return std::min(opened, text.size());
  }

  static std::string Phrase(simdjson::error_code error) {
    switch (error) {
      case simdjson::STRING_ERROR:
        return "malformed escape in a string";
      case simdjson::UNCLOSED_STRING:
        return "a string has no end";
      case simdjson::UNESCAPED_CHARS:
        return "a control character in a string must be escaped";
      case simdjson::INCOMPLETE_ARRAY_OR_OBJECT:
        return "the array or object at the beginning is not closed at the end";
      case simdjson::TAPE_ERROR:
        return "unexpected character";
      default:
        return "malformed JSON";
    }
  }

  const simdjson::padded_string& text_;
  const size_t depth_max_;
  ondemand::document* document_ = nullptr;
  size_t place_ = 0;
  std::string message_;
};

bool SameMembers(const Json::Object& a, const Json& b) {
  return std::all_of(a.begin(), a.end(), [&](const Json::Member& member) {
    const Json* other = b.Find(member.first);
    return other != nullptr && *other == member.second;
  });
}

bool SameNumber(int64_t integer, double number) {
  // Comparing as doubles would make 2^53 and 2^53 + 1 equal.
  constexpr double kTwoTo63 = 9223372036854775808.0;
  return number >= -kTwoTo63 && number < kTwoTo63 && std::trunc(number) == number &&
         static_cast<int64_t>(number) == integer;
}

}  // namespace

Result<Json> ParseJson(std::string_view text, size_t depth_max) {
  const simdjson::padded_string padded(text);
  return Reader(padded, depth_max).Read();
}

const char* Json::type_name() const {
  static constexpr const char* kNames[] = {"null",   "bool",  "integer", "number",
                                           "string", "array", "object"};
  return kNames[value_.index()];
}

double Json::as_double() const {
  return is_int() ? static_cast<double>(as_int()) : std::get<double>(value_);
}

const Json* Json::Find(std::string_view name) const {
  if (!is_object()) return nullptr;
  for (const Member& member : as_object()) {
    if (member.first == name) return &member.second;
  }
  return nullptr;
}

Json* Json::Find(std::string_view name) {
  return const_cast<Json*>(std::as_const(*this).Find(name));
}

const Json* Json::At(std::string_view pointer) const {
  const auto steps = SplitPointer(pointer);
  if (!steps) return nullptr;
  const Json* at = this;
  for (const std::string& step : *steps) {
    if (at->is_array()) {
      const auto index = ArrayIndex(step);
      at = index && *index < at->as_array().size() ? &at->as_array()[*index] : nullptr;
    } else {
      at = at->Find(step);
    }
    if (at == nullptr) return nullptr;
  }
  return at;
}

Json& Json::Set(std::string_view name, Json value) {
  if (is_null()) value_ = Object();
  if (Json* member = Find(name)) {
    *member = std::move(value);
  } else {
    as_object().emplace_back(name, std::move(value));
  }
  return *this;
}

bool Json::Remove(std::string_view name) {
  if (!is_object()) return false;
  Object& members = as_object();
  const auto it = std::find_if(members.begin(), members.end(),
                               [&](const Member& member) { return member.first == name; });
  if (it == members.end()) return false;
  members.erase(it);
  return true;
}

Json& Json::Append(Json value) {
  if (is_null()) value_ = Array();
  as_array().push_back(std::move(value));
  return *this;
}

bool Json::operator==(const Json& other) const {
  if (is_int() && other.is_double()) return SameNumber(as_int(), other.as_double());
  if (is_double() && other.is_int()) return SameNumber(other.as_int(), as_double());
  if (is_object() && other.is_object()) {
    return as_object().size() == other.as_object().size() && SameMembers(as_object(), other);
  }
  return value_ == other.value_;
}

std::string PointerToken(std::string_view name) {
  std::string token = "/";
  for (const char c : name) {
    if (c == '~') {
      token += "~0";
    } else if (c == '/') {
      token += "~1";
    } else {
      token += c;
    }
  }
  return token;
}

std::optional<std::vector<std::string>> SplitPointer(std::string_view pointer) {
  std::vector<std::string> steps;
  if (!pointer.empty() && pointer[0] != '/') return std::nullopt;
  for (size_t i = 0; i < pointer.size(); ++i) {
    if (pointer[i] == '/') {
      steps.emplace_back();
    } else if (pointer[i] == '~') {
      ++i;
      if (i == pointer.size() || (pointer[i] != '0' && pointer[i] != '1')) return std::nullopt;
      steps.back() += pointer[i] == '0' ? '~' : '/';
    } else {
      steps.back() += pointer[i];
    }
  }
  return steps;
}

std::optional<size_t> ArrayIndex(std::string_view step) {
  size_t index = 0;
  const char* const end = step.data() + step.size();
  const auto [stopped, error] = std::from_chars(step.data(), end, index);
  if (error != std::errc() || stopped != end || (step[0] == '0' && step.size() > 1)) {
    return std::nullopt;
  }
  return index;
}

}  // namespace detent
