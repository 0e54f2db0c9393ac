#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/spelling.h"
#include "core/expr/jsonpath_parser.h"
#include "core/expr/jsonpath_slips.h"

namespace detent::jsonpath {
namespace {

struct FunctionInfo {
  const char* name;
  Function function;
  size_t arguments;
  bool takes_nodes;  // A path with all that it selects; else values.
  bool is_logical;   // True or false, to be tested; else a value, to be compared.
};
constexpr FunctionInfo kFunctions[] = {
    {"length", Function::kLength, 1, false, false}, {"count", Function::kCount, 1, true, false},
    {"match", Function::kMatch, 2, false, true},    {"search", Function::kSearch, 2, false, true},
    {"value", Function::kValue, 1, true, false},
};

const FunctionInfo& InfoOf(Function function) {
  return *std::find_if(std::begin(kFunctions), std::end(kFunctions),
                       [function](const FunctionInfo& info) { return info.function == function; });
}

const FunctionInfo* InfoNamed(std::string_view name) {
  const auto found = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                  [name](const FunctionInfo& info) { return info.name == name; });
  return found == std::end(kFunctions) ? nullptr : found;
}

struct ComparisonSign {
  std::string_view sign;
  Comparison comparison;
};
// Those that begin another come after it.
constexpr ComparisonSign kComparisonSigns[] = {
    {"==", Comparison::kEqual},          {"!=", Comparison::kNotEqual},
    {"<=", Comparison::kLessOrEqual},    {"<", Comparison::kLess},
    {">=", Comparison::kGreaterOrEqual}, {">", Comparison::kGreater},
};

// What compares in other languages.
bool BeginsForeignSign(std::string_view rest) {
  if (rest.starts_with('=') && !rest.starts_with("==")) return true;
  constexpr std::string_view kSigns[] = {"===", "!==", "<>", "~", "!~"};
  return std::any_of(std::begin(kSigns), std::end(kSigns),
                     [rest](std::string_view sign) { return rest.starts_with(sign); });
}

const Query* QueryOf(const Operand& operand) {
  const auto* query = std::get_if<std::unique_ptr<Query>>(&operand);
  return query == nullptr ? nullptr : query->get();
}

std::string HintForFunction(std::string_view name) {
  std::vector<std::string> known;
  for (const FunctionInfo& info : kFunctions) known.emplace_back(info.name);
  const std::string nearest = NearestWord(name, known);
  if (!nearest.empty()) return "did you mean '" + nearest + "'?";
  const std::string slip = HintAt(name);
  return slip.empty() ? "there are length, count, match, search and value" : slip;
}

const Call* CallOf(const Operand& operand) {
  const auto* call = std::get_if<std::unique_ptr<Call>>(&operand);
  return call == nullptr ? nullptr : call->get();
}

}  // namespace

bool Parser::ReadLogic(Logic& out) {
  return ReadJoined(Logic::Kind::kOr, out);
}

// && binds more tightly than ||.
bool Parser::ReadJoined(Logic::Kind kind, Logic& out) {
  const bool alternatives = kind == Logic::Kind::kOr;
  const auto read = [&](Logic& part) {
    return alternatives ? ReadJoined(Logic::Kind::kAnd, part) : ReadBasic(part);
  };
  Logic first;
  if (!read(first)) return false;
  std::vector<Logic> parts;
  for (;;) {
    const size_t end = scanner_.at();
    scanner_.SkipSpace();
    if (!scanner_.Take(alternatives ? "||" : "&&")) {
      scanner_.Return(end);
      break;
    }
    scanner_.SkipSpace();
    if (parts.empty()) parts.push_back(std::move(first));
    if (!read(parts.emplace_back())) return false;
  }
  if (parts.empty()) {
    out = std::move(first);
  } else {
    out.kind = kind;
    out.parts = std::move(parts);
  }
  return true;
}

bool Parser::ReadBasic(Logic& out) {
  const char next = scanner_.Peek();
  if (next == '!' && scanner_.Peek(1) != '=') return ReadNegation(out);
  if (next != '(') return ReadTestOrComparison(out);
  if (!ReadParentheses(out)) return false;
  const size_t end = scanner_.at();
  scanner_.SkipSpace();
  const size_t at = scanner_.at();
  Comparison comparison{};
  if (ReadOperator(comparison)) {
    return scanner_.Fail(at, "a condition in parentheses has no value to compare",
                         "leave the parentheses out");
  }
  scanner_.Return(end);
  return true;
}

bool Parser::ReadNegation(Logic& out) {
  const size_t begin = scanner_.at();
  scanner_.Take('!');
  scanner_.SkipSpace();
  out.kind = Logic::Kind::kNot;
  Logic& inner = out.parts.emplace_back();
  if (scanner_.Peek() == '(') {
    if (!ReadParentheses(inner)) return false;
  } else {
    const size_t operand_begin = scanner_.at();
    Operand operand;
    if (scanner_.Peek() == '!') {
      return scanner_.FailExpected("a path, a function or '('", "leave both '!' out");
    }
    if (!ReadOperand(operand)) return false;
    if (!MakeTest(operand_begin, std::move(operand), inner)) return false;
  }
  const size_t end = scanner_.at();
  scanner_.SkipSpace();
  Comparison comparison{};
  if (ReadOperator(comparison)) {
    return scanner_.Fail(begin, "'!' negates a whole comparison only around parentheses",
                         "write !(a == b), or a != b");
  }
  scanner_.Return(end);
  return true;
}

bool Parser::ReadParentheses(Logic& out) {
  const size_t begin = scanner_.at();
  if (!Nest()) return false;
  scanner_.Take('(');
  scanner_.SkipSpace();
  if (!ReadLogic(out)) return false;
  scanner_.SkipSpace();
  if (!scanner_.Take(')')) {
    if (scanner_.AtEnd()) return scanner_.Fail(begin, "this '(' is not closed");
    return scanner_.FailExpected("an operator or ')'");
  }
  --nesting_;
  return true;
}

bool Parser::ReadTestOrComparison(Logic& out) {
  const size_t left_begin = scanner_.at();
  Operand left;
  if (!ReadOperand(left)) return false;
  const size_t end = scanner_.at();
  scanner_.SkipSpace();
  if (BeginsForeignSign(scanner_.rest())) return scanner_.FailExpected("a comparison");
  if (!ReadOperator(out.comparison)) {
    scanner_.Return(end);
    return MakeTest(left_begin, std::move(left), out);
  }
  scanner_.SkipSpace();
  const size_t right_begin = scanner_.at();
  Operand right;
  if (!ReadOperand(right)) return false;
  if (!CheckComparable(left_begin, left) || !CheckComparable(right_begin, right)) return false;
  out.kind = Logic::Kind::kCompare;
  out.left = std::move(left);
  out.right = std::move(right);
  return true;
}

bool Parser::ReadOperator(Comparison& out) {
  for (const ComparisonSign& known : kComparisonSigns) {
    if (!scanner_.Take(known.sign)) continue;
    out = known.comparison;
    return true;
  }
  return false;
}

bool Parser::ReadOperand(Operand& out) {
  const char next = scanner_.Peek();
  const bool implied = dialect_ == ExprDialect::kCondition && (next == '.' || next == '[');
  if (next == '$' || next == '@' || implied) {
    auto query = std::make_unique<Query>();
    if (!ReadQuery(*query)) return false;
    out = std::move(query);
    return true;
  }
  if (next == '"' || next == '\'') {
    std::string text;
    if (!scanner_.ReadString(text)) return false;
    out = Json(std::move(text));
    return true;
  }
  if (next == '-' || (next >= '0' && next <= '9')) return scanner_.ReadNumber(out.emplace<Json>());
  return ReadWord(out);
}

bool Parser::ReadWord(Operand& out) {
  const std::string_view word = scanner_.PeekWord();
  if (word.empty()) {
    return scanner_.FailExpected("a path, a value or a function",
                                 HintForValue(scanner_.rest(), dialect_));
  }
  const std::string_view behind = scanner_.rest().substr(word.size());
  if (behind.starts_with('(')) return ReadCall(word, out);
  if (word == "true" || word == "false") {
    out = Json(word == "true");
  } else if (word == "null") {
    out = Json();
  } else {
    return scanner_.Fail(scanner_.at(),
                         "expected a path, a value or a function, not " + Shown(word),
                         HintForWord(word, behind, dialect_));
  }
  scanner_.Take(word);
  return true;
}

bool Parser::ReadCall(std::string_view name, Operand& out) {
  const size_t begin = scanner_.at();
  const FunctionInfo* const info = InfoNamed(name);
  if (info == nullptr) {
    return scanner_.Fail(begin, "there is no function " + Shown(name), HintForFunction(name));
  }
  if (!Nest()) return false;
  scanner_.Take(name);
  auto call = std::make_unique<Call>();
  call->function = info->function;
  if (!ReadArguments(*call)) return false;
  if (call->arguments.size() != info->arguments) {
    return scanner_.Fail(begin,
                         std::string(name) + "() takes " + std::to_string(info->arguments) +
                             (info->arguments == 1 ? " argument, not " : " arguments, not ") +
                             std::to_string(call->arguments.size()));
  }
  --nesting_;
  out = std::move(call);
  return true;
}

bool Parser::ReadArguments(Call& call) {
  scanner_.Take('(');
  scanner_.SkipSpace();
  if (scanner_.Take(')')) return true;
  for (;;) {
    const size_t begin = scanner_.at();
    if (!ReadOperand(call.arguments.emplace_back())) return false;
    if (!CheckArgument(begin, call)) return false;
    scanner_.SkipSpace();
    if (scanner_.Take(')')) return true;
    if (!scanner_.Take(',')) return scanner_.FailExpected("',' or ')'", "");
    scanner_.SkipSpace();
  }
}

bool Parser::CheckArgument(size_t begin, Call& call) {
  const FunctionInfo& info = InfoOf(call.function);
  const Operand& argument = call.arguments.back();
  if (info.takes_nodes) {
    if (QueryOf(argument) != nullptr) return true;
    return scanner_.Fail(begin, std::string(info.name) + "() takes a path");
  }
  if (!CheckValue(begin, argument)) return false;
  return !info.is_logical || call.arguments.size() != 2 || CompilePattern(begin, call);
}

bool Parser::CompilePattern(size_t begin, Call& call) {
  const Json* const literal = std::get_if<Json>(&call.arguments.back());
  if (literal == nullptr || !literal->is_string()) return true;
  call.constant_pattern = true;
  auto pattern = IRegexp::Compile(literal->as_string());
  if (pattern) {
    call.pattern = std::move(*pattern);
    return true;
  }
  if (pattern.error().code() == Code::kTooLarge) {
    return scanner_.FailTooLarge(begin, pattern.error().message());
  }
  // RFC 9535 has it match nothing.
  if (dialect_ == ExprDialect::kJsonPath) return true;
  return scanner_.Fail(begin, "the regular expression: " + pattern.error().message());
}

bool Parser::MakeTest(size_t begin, Operand operand, Logic& out) {
  if (std::holds_alternative<Json>(operand)) {
    return scanner_.Fail(begin, "a literal alone is no condition", "compare it with something");
  }
  const Call* const call = CallOf(operand);
  if (call != nullptr && !InfoOf(call->function).is_logical) {
    const std::string name = InfoOf(call->function).name;
    return scanner_.Fail(begin, "what " + name + "() yields must be compared",
                         "as in " + name + "(...) > 0");
  }
  out.kind = Logic::Kind::kTest;
  out.left = std::move(operand);
  return true;
}

bool Parser::CheckComparable(size_t begin, const Operand& operand) {
  if (!CheckValue(begin, operand)) return false;
  const Query* const query = QueryOf(operand);
  if (query == nullptr || !query->spaced || dialect_ == ExprDialect::kCondition) return true;
  return scanner_.Fail(begin, "what is compared has no space within its brackets",
                       "leave the space out");
}

bool Parser::CheckValue(size_t begin, const Operand& operand) {
  const Query* const query = QueryOf(operand);
  if (query != nullptr && !query->singular && !IsLenient()) {
    return scanner_.Fail(begin, "one value is needed, and this path may select several",
                         "use count() or value()");
  }
  const Call* const call = CallOf(operand);
  if (call == nullptr || !InfoOf(call->function).is_logical) return true;
  return scanner_.Fail(
      begin,
      std::string(InfoOf(call->function).name) + "() is true or false by itself, and no value",
      "leave the comparison out; its negation is written !");
}

}  // namespace detent::jsonpath
