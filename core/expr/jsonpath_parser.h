// From the text of an expression to its program: the grammar of RFC 9535, appendix A, and what the
// condition dialect adds. Which functions exist and what they take is checked here, too. One
// thread; one text.

#pragma once

#include <string>
#include <string_view>

#include "core/expr/jsonpath_program.h"
#include "core/expr/jsonpath_scanner.h"

namespace detent::jsonpath {

class Parser {
 public:
  // Requires: UTF-8. Borrowed.
  Parser(std::string_view text, ExprDialect dialect) : dialect_(dialect), scanner_(text, dialect) {}

  // False: the scanner has the mistake.
  bool Parse(Program& out);
  const Scanner& scanner() const { return scanner_; }

 private:
  // jsonpath_parser.cc: queries. All return false if something failed.
  bool ParseJsonPath(Program& out);
  bool ParseCondition(Program& out);
  bool ReadQuery(Query& out);
  bool ReadSegment(Query& query, Segment& out);
  bool ReadNameOrWildcard(Segment& out);
  bool ReadSelection(Query& query, Segment& out);
  bool ReadSelector(Segment& out);
  bool ReadIndexOrSlice(Segment& out);
  bool ReadFilter(Segment& out);

  // jsonpath_parser_logic.cc: conditions, in and outside of filters.
  bool ReadLogic(Logic& out);
  bool ReadJoined(Logic::Kind kind, Logic& out);
  bool ReadBasic(Logic& out);
  bool ReadNegation(Logic& out);
  bool ReadParentheses(Logic& out);
  bool ReadTestOrComparison(Logic& out);
  bool ReadOperator(Comparison& out);
  bool ReadOperand(Operand& out);
  bool ReadWord(Operand& out);
  bool ReadCall(std::string_view name, Operand& out);
  bool ReadArguments(Call& call);
  // What begins at `begin` was read; may it stand there?
  bool CheckArgument(size_t begin, Call& call);
  bool CheckValue(size_t begin, const Operand& operand);
  bool CheckComparable(size_t begin, const Operand& operand);
  bool CompilePattern(size_t begin, Call& call);
  bool MakeTest(size_t begin, Operand operand, Logic& out);

  bool Nest();
  // Outside of filters a condition takes any path where it needs one value.
  bool IsLenient() const { return dialect_ == ExprDialect::kCondition && filters_ == 0; }

  ExprDialect dialect_;
  Scanner scanner_;
  int nesting_ = 0;
  int filters_ = 0;  // How many filters we are in.
};

}  // namespace detent::jsonpath
