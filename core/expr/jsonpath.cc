#include "core/expr/jsonpath.h"

#include <utility>

#include "core/expr/jsonpath_evaluator.h"
#include "core/expr/jsonpath_parser.h"
#include "core/expr/jsonpath_program.h"

namespace detent {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

// As the name selector of a normalized path.
void AppendNormalizedName(std::string& out, std::string_view name) {
  static constexpr std::pair<char, char> kEscapes[] = {
      {'\b', 'b'}, {'\f', 'f'}, {'\n', 'n'}, {'\r', 'r'}, {'\t', 't'}, {'\'', '\''}, {'\\', '\\'}};
  const auto escape_of = [](char c) -> char {
    for (const auto& [meant, letter] : kEscapes) {
      if (c == meant) return letter;
    }
    return '\0';
  };
  out += "['";
  for (const char c : name) {
    if (const char letter = escape_of(c)) {
      out += {'\\', letter};
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += "\\u00";
      out += {kHexDigits[c >> 4], kHexDigits[c & 15]};
    } else {
      out += c;
    }
  }
  out += "']";
}

std::string NormalizedPath(const jsonpath::Trail& trail) {
  std::string path = "$";
  for (const jsonpath::Step& step : trail) {
    if (step.name != nullptr) {
      AppendNormalizedName(path, *step.name);
    } else {
      path += "[" + std::to_string(step.index) + "]";
    }
  }
  return path;
}

const jsonpath::Query* QueryIn(const jsonpath::Program& program) {
  if (program.whole.kind != jsonpath::Logic::Kind::kTest) return nullptr;
  const auto* query = std::get_if<std::unique_ptr<jsonpath::Query>>(&program.whole.left);
  return query == nullptr ? nullptr : query->get();
}

Error TooManySelected() {
  return Error(Code::kTooLarge,
               "the path selects more than " + std::to_string(kExpressionSelectedMax) + " values");
}

Error NoQuery() {
  return Error(Code::kInvalid, "this is a condition, not a path: it selects nothing");
}

Error AsError(Code code, const ExpressionMistake& mistake) {
  return Error(
      code, mistake.hint.empty() ? mistake.message : mistake.message + " (" + mistake.hint + ")");
}

// What concerns the text as a whole; none: it can be parsed.
std::optional<Error> CheckText(std::string_view text) {
  if (text.size() > kExpressionBytesMax) {
    return Error(Code::kTooLarge,
                 "an expression has at most " + std::to_string(kExpressionBytesMax) + " bytes");
  }
  if (!IsUtf8(text)) return Error(Code::kInvalid, "an expression is UTF-8, and this is not");
  return std::nullopt;
}

}  // namespace

Expression::Expression(std::shared_ptr<const jsonpath::Program> program)
    : program_(std::move(program)) {}

Result<Expression> Expression::Compile(std::string_view text, ExprDialect dialect,
                                       ExpressionMistake* mistake) {
  if (auto wrong = CheckText(text)) {
    if (mistake != nullptr) *mistake = {0, wrong->message(), ""};
    return *std::move(wrong);
  }
  auto program = std::make_shared<jsonpath::Program>();
  jsonpath::Parser parser(text, dialect);
  if (parser.Parse(*program)) return Expression(std::move(program));
  const jsonpath::Scanner& scanner = parser.scanner();
  if (mistake != nullptr) *mistake = scanner.mistake();
  return AsError(scanner.code(), scanner.mistake());
}

bool Expression::is_query() const {
  return QueryIn(*program_) != nullptr;
}

Result<std::vector<const Json*>> Expression::Select(const Json& root) const {
  const jsonpath::Query* const query = QueryIn(*program_);
  if (query == nullptr) return NoQuery();
  jsonpath::Evaluator evaluator(root, kExpressionStepsMax);
  std::vector<const Json*> values;
  evaluator.Walk(*query, root, [&values](const Json& value) {
    values.push_back(&value);
    return values.size() <= kExpressionSelectedMax;
  });
  if (evaluator.failure()) return *evaluator.failure();
  if (values.size() > kExpressionSelectedMax) return TooManySelected();
  return values;
}

Result<std::vector<Expression::Located>> Expression::Locate(const Json& root) const {
  const jsonpath::Query* const query = QueryIn(*program_);
  if (query == nullptr) return NoQuery();
  jsonpath::Evaluator evaluator(root, kExpressionStepsMax);
  jsonpath::Trail trail;
  std::vector<Located> located;
  evaluator.Walk(
      *query, root,
      [&](const Json& value) {
        located.push_back({&value, NormalizedPath(trail)});
        // Names may be long, and then many paths are longer than their document.
        return evaluator.Spend(located.back().path.size()) &&
               located.size() <= kExpressionSelectedMax;
      },
      &trail);
  if (evaluator.failure()) return *evaluator.failure();
  if (located.size() > kExpressionSelectedMax) return TooManySelected();
  return located;
}

Result<Expression::Verdict> Expression::Holds(const Json& root) const {
  jsonpath::Evaluator evaluator(root, kExpressionStepsMax);
  const jsonpath::Truth truth = evaluator.Judge(program_->whole);
  if (evaluator.failure()) return *evaluator.failure();
  switch (truth) {
    case jsonpath::Truth::kTrue:
      return Verdict::kTrue;
    case jsonpath::Truth::kFalse:
      return Verdict::kFalse;
    default:
      return Verdict::kNothing;
  }
}

}  // namespace detent
