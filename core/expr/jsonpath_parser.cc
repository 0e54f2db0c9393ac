#include "core/expr/jsonpath_parser.h"

#include <utility>

#include "core/expr/jsonpath_slips.h"

namespace detent::jsonpath {

bool Parser::Parse(Program& out) {
  return dialect_ == ExprDialect::kJsonPath ? ParseJsonPath(out) : ParseCondition(out);
}

bool Parser::ParseJsonPath(Program& out) {
  if (scanner_.Peek() != '$') {
    return scanner_.Fail(0, "a JSONPath begins with $", HintForRoot(scanner_.rest()));
  }
  auto query = std::make_unique<Query>();
  if (!ReadQuery(*query)) return false;
  if (!scanner_.AtEnd()) {
    const size_t end = scanner_.at();
    scanner_.SkipSpace();
    Comparison comparison{};
    if (ReadOperator(comparison)) {
      return scanner_.Fail(end, "a JSONPath ends where its path ends",
                           "a comparison is a condition, or stands in a filter: [?@.a == 1]");
    }
    scanner_.Return(end);
    return scanner_.FailExpected("'.', '[' or the end");
  }
  out.whole.left = std::move(query);
  return true;
}

bool Parser::ParseCondition(Program& out) {
  scanner_.SkipSpace();
  const bool braces = scanner_.Take('{');
  scanner_.SkipSpace();
  if (scanner_.AtEnd()) {
    return scanner_.Fail(scanner_.at(), "the expression is empty", "the document itself is $");
  }
  if (!ReadLogic(out.whole)) return false;
  scanner_.SkipSpace();
  if (braces && !scanner_.Take('}')) return scanner_.FailExpected("an operator or '}'");
  scanner_.SkipSpace();
  if (scanner_.AtEnd()) return true;
  return braces ? scanner_.FailExpected("the end", "the braces stand around the whole")
                : scanner_.FailExpected("an operator or the end");
}

bool Parser::ReadQuery(Query& out) {
  out.column = scanner_.ColumnOf(scanner_.at());
  out.absolute = scanner_.Take('$');
  if (!out.absolute) scanner_.Take('@');
  for (;;) {
    const size_t end = scanner_.at();
    scanner_.SkipSpace();
    if (scanner_.Peek() != '.' && scanner_.Peek() != '[') {
      scanner_.Return(end);
      return true;
    }
    Segment& segment = out.segments.emplace_back();
    if (!ReadSegment(out, segment)) return false;
    const Selector& first = segment.selectors.front();
    const bool one = segment.selectors.size() == 1 && (std::holds_alternative<std::string>(first) ||
                                                       std::holds_alternative<int64_t>(first));
    if (segment.descendant || !one) out.singular = false;
  }
}

bool Parser::ReadSegment(Query& query, Segment& out) {
  if (scanner_.Take("..")) {
    out.descendant = true;
    return scanner_.Peek() == '[' ? ReadSelection(query, out) : ReadNameOrWildcard(out);
  }
  return scanner_.Take('.') ? ReadNameOrWildcard(out) : ReadSelection(query, out);
}

bool Parser::ReadNameOrWildcard(Segment& out) {
  if (scanner_.Take('*')) {
    out.selectors.emplace_back(Wildcard());
    return true;
  }
  if (!scanner_.NextBeginsName()) {
    return scanner_.FailExpected("a name or '*'", HintAfterDot(scanner_.rest()));
  }
  std::string name;
  if (!scanner_.ReadName(name)) return false;
  out.selectors.emplace_back(std::move(name));
  return true;
}

bool Parser::ReadSelection(Query& query, Segment& out) {
  const size_t begin = scanner_.at();
  scanner_.Take('[');
  do {
    if (scanner_.SkipSpace()) query.spaced = true;
    if (!ReadSelector(out)) return false;
    if (scanner_.SkipSpace()) query.spaced = true;
  } while (scanner_.Take(','));
  if (scanner_.Take(']')) return true;
  if (scanner_.AtEnd()) return scanner_.Fail(begin, "this '[' is not closed");
  return scanner_.FailExpected("',' or ']'");
}

bool Parser::ReadSelector(Segment& out) {
  const char next = scanner_.Peek();
  if (next == '\'' || next == '"') {
    std::string name;
    if (!scanner_.ReadString(name)) return false;
    out.selectors.emplace_back(std::move(name));
    return true;
  }
  if (scanner_.Take('*')) {
    out.selectors.emplace_back(Wildcard());
    return true;
  }
  if (scanner_.Take('?')) return ReadFilter(out);
  if (next == ':' || next == '-' || (next >= '0' && next <= '9')) return ReadIndexOrSlice(out);
  return scanner_.FailExpected("a quoted name, an index, '*', ':' or '?'",
                               HintForSelector(scanner_.rest()));
}

bool Parser::ReadIndexOrSlice(Segment& out) {
  Slice slice;
  const auto read = [this](int64_t& bound) {
    if (!scanner_.ReadInteger(bound)) return false;
    scanner_.SkipSpace();
    return true;
  };
  const auto next_is_bound = [this] {
    const char next = scanner_.Peek();
    return next != ':' && next != ',' && next != ']';
  };
  if (next_is_bound() && !read(slice.start.emplace())) return false;
  if (!scanner_.Take(':')) {
    out.selectors.emplace_back(*slice.start);
    return true;
  }
  scanner_.SkipSpace();
  if (next_is_bound() && !read(slice.end.emplace())) return false;
  if (scanner_.Take(':')) {
    scanner_.SkipSpace();
    if (next_is_bound() && !read(slice.step)) return false;
  }
  out.selectors.emplace_back(slice);
  return true;
}

bool Parser::ReadFilter(Segment& out) {
  if (!Nest()) return false;
  ++filters_;
  scanner_.SkipSpace();
  auto filter = std::make_unique<Logic>();
  if (!ReadLogic(*filter)) return false;
  out.selectors.emplace_back(std::move(filter));
  --filters_;
  --nesting_;
  return true;
}

bool Parser::Nest() {
  if (++nesting_ <= kExpressionNestingMax) return true;
  return scanner_.FailTooLarge(scanner_.at(),
                               "nested deeper than " + std::to_string(kExpressionNestingMax));
}

}  // namespace detent::jsonpath
