#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/text_position.h"
#include "core/expr/jsonpath.h"
#include "core/expr/jsonpath_evaluator.h"

namespace detent::jsonpath {
namespace {

// Text is compared and counted this fast.
constexpr size_t kTextBytesPerStep = 64;
// To read a category of five bytes takes that long.
constexpr size_t kStepsPerPatternByte = 64;

Truth TruthOf(bool holds) {
  return holds ? Truth::kTrue : Truth::kFalse;
}

bool IsTruthy(const Json& value) {
  if (value.is_bool()) return value.as_bool();
  if (value.is_number()) return value.as_double() != 0;
  if (value.is_string()) return !value.as_string().empty();
  if (value.is_array()) return !value.as_array().empty();
  return value.is_object() && !value.as_object().empty();
}

bool LessNumber(const Json& left, const Json& right) {
  constexpr double kTwoTo63 = 9223372036854775808.0;
  if (left.is_int() && right.is_int()) return left.as_int() < right.as_int();
  if (left.is_double() && right.is_double()) return left.as_double() < right.as_double();
  // Comparing as doubles would make neighbours beyond 2^53 equal.
  const bool int_is_left = left.is_int();
  const int64_t integer = (int_is_left ? left : right).as_int();
  const double number = (int_is_left ? right : left).as_double();
  if (number >= kTwoTo63) return int_is_left;
  if (number < -kTwoTo63) return !int_is_left;
  const double whole = std::floor(number);
  const auto floor = static_cast<int64_t>(whole);
  if (int_is_left) return integer < floor || (integer == floor && number > whole);
  return floor < integer;
}

}  // namespace

Truth Evaluator::Judge(const Logic& logic) {
  if (!Spend(1)) return Truth::kFalse;
  switch (logic.kind) {
    case Logic::Kind::kOr:
    case Logic::Kind::kAnd: {
      const bool any = logic.kind == Logic::Kind::kOr;
      Truth truth = any ? Truth::kFalse : Truth::kTrue;
      for (const Logic& part : logic.parts) {
        truth = any ? std::max(truth, Judge(part)) : std::min(truth, Judge(part));
        if (truth == TruthOf(any)) break;
      }
      return truth;
    }
    case Logic::Kind::kNot: {
      const Truth truth = Judge(logic.parts.front());
      return truth == Truth::kUnknown ? truth : TruthOf(truth != Truth::kTrue);
    }
    case Logic::Kind::kTest: {
      if (const auto* query = std::get_if<std::unique_ptr<Query>>(&logic.left)) {
        return JudgeQuery(**query);
      }
      const auto matches = MatchCall(*std::get<std::unique_ptr<Call>>(logic.left), root_);
      return matches ? TruthOf(*matches) : Truth::kUnknown;
    }
    case Logic::Kind::kCompare: {
      Json left_scratch, right_scratch;
      const Json* const left = ValueOf(logic.left, root_, left_scratch);
      const Json* const right = ValueOf(logic.right, root_, right_scratch);
      if (left == nullptr || right == nullptr) return Truth::kUnknown;
      return TruthOf(Compare(logic.comparison, left, right));
    }
  }
  return Truth::kFalse;
}

Truth Evaluator::JudgeQuery(const Query& query) {
  Truth truth = Truth::kAbsent;
  Walk(query, root_, [&truth](const Json& value) {
    truth = TruthOf(IsTruthy(value));
    return truth != Truth::kTrue;
  });
  return truth;
}

bool Evaluator::Matches(const Logic& logic, const Json& current) {
  if (!Spend(1)) return false;
  const auto matches = [&](const Logic& part) { return Matches(part, current); };
  switch (logic.kind) {
    case Logic::Kind::kOr:
      return std::any_of(logic.parts.begin(), logic.parts.end(), matches);
    case Logic::Kind::kAnd:
      return std::all_of(logic.parts.begin(), logic.parts.end(), matches);
    case Logic::Kind::kNot:
      return !Matches(logic.parts.front(), current);
    case Logic::Kind::kTest:
      if (const auto* query = std::get_if<std::unique_ptr<Query>>(&logic.left)) {
        return Exists(**query, current);
      }
      return MatchCall(*std::get<std::unique_ptr<Call>>(logic.left), current).value_or(false);
    case Logic::Kind::kCompare: {
      Json left_scratch, right_scratch;
      const Json* const left = ValueOf(logic.left, current, left_scratch);
      const Json* const right = ValueOf(logic.right, current, right_scratch);
      return Compare(logic.comparison, left, right);
    }
  }
  return false;
}

const Json* Evaluator::ValueOf(const Operand& operand, const Json& current, Json& scratch) {
  if (const auto* literal = std::get_if<Json>(&operand)) return literal;
  if (const auto* query = std::get_if<std::unique_ptr<Query>>(&operand)) {
    return Single(**query, current);
  }
  return ValueOfCall(*std::get<std::unique_ptr<Call>>(operand), current, scratch);
}

const Json* Evaluator::ValueOfCall(const Call& call, const Json& current, Json& scratch) {
  const Operand& argument = call.arguments.front();
  if (call.function == Function::kLength) {
    const Json* const value = ValueOf(argument, current, scratch);
    if (value == nullptr) return nullptr;
    size_t length = 0;
    if (value->is_string()) {
      if (!Spend(value->as_string().size() / kTextBytesPerStep)) return nullptr;
      length = static_cast<size_t>(CountCharacters(value->as_string()));
    } else if (value->is_array()) {
      length = value->as_array().size();
    } else if (value->is_object()) {
      length = value->as_object().size();
    } else {
      return nullptr;
    }
    scratch = static_cast<int64_t>(length);
    return &scratch;
  }
  const Query& query = *std::get<std::unique_ptr<Query>>(argument);
  const bool counts = call.function == Function::kCount;
  int64_t count = 0;
  const Json* last = nullptr;
  Walk(query, current, [&](const Json& value) {
    last = &value;
    return ++count == 1 || counts;
  });
  if (!counts) return count == 1 ? last : nullptr;
  scratch = count;
  return &scratch;
}

std::optional<bool> Evaluator::MatchCall(const Call& call, const Json& current) {
  Json text_scratch, pattern_scratch;
  const Json* const text = ValueOf(call.arguments[0], current, text_scratch);
  const Json* const given = ValueOf(call.arguments[1], current, pattern_scratch);
  if (text == nullptr || given == nullptr) return std::nullopt;
  if (!text->is_string() || !given->is_string()) return false;
  const IRegexp* pattern = call.pattern ? &*call.pattern : nullptr;
  if (!call.constant_pattern) pattern = PatternOf(given->as_string());
  if (pattern == nullptr) return false;
  const auto extent =
      call.function == Function::kMatch ? IRegexp::Extent::kWhole : IRegexp::Extent::kSomewhere;
  const auto matches = pattern->Matches(text->as_string(), extent, steps_left_);
  return matches ? *matches : Spend(1);
}

const IRegexp* Evaluator::PatternOf(const std::string& text) {
  if (text == pattern_text_) return pattern_ ? &*pattern_ : nullptr;
  auto pattern = IRegexp::Compile(text);
  if (!pattern && pattern.error().code() == Code::kTooLarge) {
    failure_ = std::move(pattern).error().While("a regular expression of the document");
    return nullptr;
  }
  Spend(text.size() * kStepsPerPatternByte + (pattern ? pattern->states() : 0));
  pattern_text_ = text;
  pattern_.reset();
  if (pattern) pattern_ = std::move(*pattern);
  return pattern_ ? &*pattern_ : nullptr;
}

bool Evaluator::Compare(Comparison comparison, const Json* left, const Json* right) {
  const auto equal = [&] {
    return left == nullptr || right == nullptr ? left == right : Equal(*left, *right);
  };
  const auto less = [this](const Json* a, const Json* b) {
    return a != nullptr && b != nullptr && Less(*a, *b);
  };
  switch (comparison) {
    case Comparison::kEqual:
      return equal();
    case Comparison::kNotEqual:
      return !equal();
    case Comparison::kLess:
      return less(left, right);
    case Comparison::kLessOrEqual:
      return less(left, right) || equal();
    case Comparison::kGreater:
      return less(right, left);
    case Comparison::kGreaterOrEqual:
      return less(right, left) || equal();
  }
  return false;
}

bool Evaluator::Equal(const Json& left, const Json& right) {
  if (!Spend(1)) return false;
  if (left.is_string() && right.is_string()) {
    const std::string& text = left.as_string();
    return text.size() == right.as_string().size() && Spend(text.size() / kTextBytesPerStep) &&
           text == right.as_string();
  }
  if (left.is_array() && right.is_array()) {
    const Json::Array& elements = left.as_array();
    const Json::Array& others = right.as_array();
    return std::equal(elements.begin(), elements.end(), others.begin(), others.end(),
                      [this](const Json& a, const Json& b) { return Equal(a, b); });
  }
  if (left.is_object() && right.is_object()) return EqualMembers(left.as_object(), right);
  return left == right;
}

// Members may come in any order, but mostly they come in the same.
bool Evaluator::EqualMembers(const Json::Object& left, const Json& right) {
  const Json::Object& others = right.as_object();
  if (left.size() != others.size()) return false;
  for (size_t i = 0; i < left.size(); ++i) {
    Step step;
    const bool same_place = left[i].first == others[i].first;
    const Json* const other = same_place ? &others[i].second : Member(right, left[i].first, step);
    if (other == nullptr || !Equal(left[i].second, *other)) return false;
  }
  return true;
}

bool Evaluator::Less(const Json& left, const Json& right) {
  if (left.is_number() && right.is_number()) return LessNumber(left, right);
  if (!left.is_string() || !right.is_string()) return false;
  // The order of bytes is that of code points, in UTF-8.
  const size_t common = std::min(left.as_string().size(), right.as_string().size());
  return Spend(common / kTextBytesPerStep) && left.as_string() < right.as_string();
}

}  // namespace detent::jsonpath
