// The condition dialect: what it adds to RFC 9535, and the mistakes that it explains.

#include <gtest/gtest.h>

#include "tests/expr/jsonpath_table.h"

namespace detent {
namespace {

using testing::MistakeIn;
using testing::VerdictOn;

constexpr const char* kRay = R"({
  "metadata": {"generation": 3, "labels": {"app.kubernetes.io/name": "y", "a-b": "c"}},
  "status": {
    "phase": "Succeeded", "observedGeneration": 3, "succeeded": 1, "failed": 0,
    "ready-replicas": 2, "message": "", "none": null, "list": [], "object": {}, "off": false,
    "conditions": [{"type": "Complete", "status": "True"}, {"type": "Failed", "status": "False"}]
  },
  "result": {"jobs": ["a", "b"], "text": "false"}
})";

struct VerdictRow {
  const char* condition;
  const char* verdict;
  const char* because;
};

void ExpectVerdicts(const std::vector<VerdictRow>& rows) {
  for (const VerdictRow& row : rows) {
    EXPECT_EQ(VerdictOn(kRay, row.condition), row.verdict)
        << row.condition << ": " << MistakeIn(row.condition, ExprDialect::kCondition)
        << row.because;
  }
}

TEST(Condition, ComparesAtTheTop) {
  ExpectVerdicts({
      {R"(.status.phase == "Succeeded")", "true", "the root may be left out"},
      {R"(.status.phase=="Succeeded")", "true", "without space"},
      {R"(  .status.phase == "Succeeded"  )", "true", "with space around"},
      {R"({.status.phase == "Succeeded"})", "true", "in braces"},
      {R"( { .status.phase == "Succeeded" } )", "true", "with space around these"},
      {R"($.status.phase == 'Succeeded')", "true", "with a root"},
      {R"(@.status.phase == 'Succeeded')", "true", "the current node is the root"},
      {R"(["status"].phase == "Succeeded")", "true", "a bracket first"},
      {R"([ "status" ].phase == "Succeeded")", "true", "with space in it"},
      {R"("Succeeded" == .status.phase)", "true", "the other way round"},
      {R"(.status.phase == "Failed")", "false", "another value"},
      {R"(.status.phase != "Failed")", "true", "unequal"},
      {".metadata.generation == .status.observedGeneration", "true", "two paths"},
      {"$.metadata.generation == .status.observedGeneration", "true", "one with a root"},
      {".status.succeeded >= 1 && !.status.failed", "true", "joined"},
      {".status.succeeded > 1 || .status.failed > 0", "false", "neither"},
      {"!(.status.succeeded > 1)", "true", "negated"},
      {"count(.status.conditions[*]) == 2", "true", "a function"},
      {"length(.result.jobs) == 2", "true", "of a value"},
      {R"(match(.status.phase, "Succ.*"))", "true", "a match"},
      {R"(search(.status.phase, "ucc") && .result)", "true", "a search"},
      {"1 == 1", "true", "literals"},
      {".status.none == null", "true", "null is a value"},
  });
}

TEST(Condition, TakesKubernetesNamesAfterADot) {
  ExpectVerdicts({
      {".status.ready-replicas == 2", "true", "a hyphen"},
      {R"(.metadata.labels.app\.kubernetes\.io/name == "y")", "true", "escaped dots, a slash"},
      {R"(.metadata.labels['app.kubernetes.io/name'] == "y")", "true", "the same in brackets"},
      {R"(.metadata.labels.a-b == "c")", "true", "no subtraction"},
      {R"(.metadata.labels[?@ == "y"] == "y")", "true", "in a filter, too"},
  });
}

TEST(Condition, TakesAPathAloneForATruthyValue) {
  ExpectVerdicts({
      {".result.jobs", "true", "an array with elements"},
      {"{.result.jobs}", "true", "in braces"},
      {".status.phase", "true", "text"},
      {".result.text", "true", "even this text"},
      {".status.succeeded", "true", "a number"},
      {".status", "true", "an object"},
      {"$", "true", "the document"},
      {".status.failed", "false", "zero"},
      {".status.message", "false", "empty text"},
      {".status.none", "false", "null"},
      {".status.list", "false", "an empty array"},
      {".status.object", "false", "an empty object"},
      {".status.off", "false", "false"},
      {"!.status.off", "true", "not false"},
      {"!.status.failed", "true", "not zero"},
      {".status.conditions[*].status", "true", "one of several is enough"},
      {".status['failed','off','message']", "false", "none of several"},
      {".status['failed','phase']", "true", "the last of several"},
      {"(.status.off)", "false", "in parentheses"},
      {".status.conditions[?@.type == 'Complete' && @.status == 'True']", "true", "a filter"},
      {".status.conditions[?@.type == 'Complete' && @.status == 'False']", "nothing",
       "a filter that nothing passes"},
  });
}

TEST(Condition, FilterIsOfTheRfcButForTheCurrentNode) {
  ExpectVerdicts({
      {"count(.status[?@ == 0]) == 1", "true", "a value"},
      {"count($[?@.off]) == 1", "true", "existence, not truth"},
      {"count($[?.off]) == 1", "true", "the current node left out"},
      {R"(.status.conditions[?(.type=="Complete")].status == "True")", "true", "and compared"},
      {"count(.status.conditions[?['type'] == 'Failed']) == 1", "true", "a bracket first"},
  });
}

TEST(Condition, TakesAnyPathWhereOneValueIsNeeded) {
  ExpectVerdicts({
      {R"(.status.conditions[?(@.type=="Complete")].status == "True")", "true", "one is selected"},
      {R"(.status.conditions[?(@.type=="Failed")].status == "True")", "false", "another"},
      {R"(.status.conditions[?(@.type=="Ready")].status == "True")", "nothing", "none"},
      {R"(..phase == "Succeeded")", "true", "a descendant"},
      {R"(length(.status.conditions[?@.type=="Failed"].status) == 5)", "true", "as an argument"},
      {R"(match(.status.conditions[0:1].type, "Comp.*"))", "true", "as a text"},
      {R"(.status.conditions[*].status == "True")",
       "error: AmbiguousMatch: the path at column 1 selects several values where one is needed; "
       "narrow it by a filter, or use count()",
       "several are an error"},
      {R"("True" == .status.conditions[*].status)",
       "error: AmbiguousMatch: the path at column 11 selects several values where one is needed; "
       "narrow it by a filter, or use count()",
       "on the right, too"},
  });
  EXPECT_NE(MistakeIn(".a[?@.* == 1] == 1", ExprDialect::kCondition), "") << "not in filters";
}

TEST(Condition, DependsOnWhatItsPathsSelect) {
  ExpectVerdicts({
      {R"(.status.nope == "x")", "nothing", "a comparison"},
      {R"(.status.nope != "x")", "nothing", "and its opposite"},
      {R"(!(.status.nope == "x"))", "nothing", "and its negation"},
      {".status.nope == null", "nothing", "with null, too"},
      {".status.nope == .status.neither", "nothing", "of two paths"},
      {".status.nope <= .status.neither", "nothing", "by order"},
      {"length(.status.nope) == 0", "nothing", "through a function"},
      {"length(.status.failed) == 0", "nothing", "a number has no length"},
      {"value(.status.nope) == 0", "nothing", "or value()"},
      {"count(.status.nope) == 0", "true", "but nothing can be counted"},
      {R"(match(.status.nope, "x"))", "nothing", "a match"},
      {R"(!match(.status.nope, "x"))", "nothing", "and its negation"},
      {R"(match("x", .status.nope))", "nothing", "a pattern"},
      {R"(match(.status.failed, "x"))", "false", "a number does not match"},
      {".status.nope", "nothing", "a path alone"},
      {"!.status.nope", "true", "is false for its negation"},
      {"!(.status.nope)", "true", "in parentheses, too"},
      {"!(.status.nope || .status.neither)", "true", "and of two"},
      {"!(.status.nope && .status.phase)", "true", "of one and another"},
  });
}

TEST(Condition, IsDecidedByWhatDoesNotDependOnNothing) {
  ExpectVerdicts({
      {R"(.status.nope == "x" || .status.phase == "Succeeded")", "true", "a true alternative"},
      {R"(.status.phase == "Succeeded" || .status.nope == "x")", "true", "in any order"},
      {R"(.status.nope == "x" || .status.phase == "x")", "nothing", "a false one does not"},
      {R"(.status.nope == "x" && .status.phase == "x")", "false", "a false conjunct"},
      {R"(.status.phase == "x" && .status.nope == "x")", "false", "in any order"},
      {R"(.status.nope == "x" && .status.phase == "Succeeded")", "nothing", "a true one does not"},
      {R"(.status.nope && .status.phase == "x")", "false", "a path alone and a false conjunct"},
      {R"(.status.nope || .status.phase == "Succeeded")", "true", "or a true alternative"},
      {".status.nope || .status.failed", "nothing", "or a false one"},
      {R"(!.status.nope && .status.neither == 1)", "nothing", "a true conjunct that is a negation"},
      {R"(!(.status.nope == 1 && .status.neither))", "true", "whatever it is, the second is false"},
      {R"(!(.status.nope == 1 || .status.neither))", "nothing", "here the first would decide"},
  });
}

TEST(Condition, KnowsWhetherItIsAPath) {
  const std::pair<const char*, bool> rows[] = {
      {".a", true},   {"{.a}", true},     {"(.a)", true},      {"$..a[?@.b == 1]", true},
      {"!.a", false}, {".a == 1", false}, {".a && .b", false}, {"match(.a, 'b')", false}};
  for (const auto& [text, path] : rows) {
    const auto expression = Expression::Compile(text, ExprDialect::kCondition);
    ASSERT_TRUE(expression) << text;
    EXPECT_EQ(expression->is_query(), path) << text;
    EXPECT_EQ(expression->Select(Json()).has_value(), path) << text;
    EXPECT_EQ(expression->Locate(Json()).has_value(), path) << text;
  }
}

TEST(Condition, HoldsOfAJsonPathToo) {
  const auto path = Expression::Compile("$.a", ExprDialect::kJsonPath);
  EXPECT_EQ(*path->Holds(*ParseJson(R"({"a":1})")), Expression::Verdict::kTrue);
  EXPECT_EQ(*path->Holds(*ParseJson(R"({"a":0})")), Expression::Verdict::kFalse);
  EXPECT_EQ(*path->Holds(*ParseJson("{}")), Expression::Verdict::kNothing);
}

struct SlipRow {
  const char* text;
  const char* mistake;
};

TEST(Condition, ExplainsWhatBelongsToOtherLanguages) {
  const SlipRow rows[] = {
      {R"(status.phase == "x")",
       "column 1: expected a path, a value or a function, not 'status' (a path is written "
       ".status)"},
      {R"(.status.phase = "x")",
       "column 15: expected a comparison, not '=' (equality is written ==)"},
      {R"(.a === "x")", "column 4: expected a comparison, not '===' (equality is written ==)"},
      {R"(.a !== "x")", "column 4: expected a comparison, not '!==' (inequality is written !=)"},
      {R"(.a <> "x")", "column 4: expected a comparison, not '<>' (inequality is written !=)"},
      {R"(.a =~ "x")",
       "column 4: expected a comparison, not '=~' (regular expressions are match(value, \"...\"), "
       "and search(value, \"...\") for a part)"},
      {".status.phase == Succeeded",
       "column 18: expected a path, a value or a function, not 'Succeeded' (text is written "
       "\"Succeeded\", and a path .Succeeded)"},
      {".a == True", "column 7: expected a path, a value or a function, not 'True' (write true)"},
      {".a == nil", "column 7: expected a path, a value or a function, not 'nil' (write null)"},
      {".a and .b", "column 4: expected an operator or the end, not 'and' (and is written &&)"},
      {".a OR .b", "column 4: expected an operator or the end, not 'OR' (or is written ||)"},
      {"not .a", "column 1: expected a path, a value or a function, not 'not' (not is written !)"},
      {".a & .b", "column 4: expected an operator or the end, not '&' (and is written &&)"},
      {".a | .b", "column 4: expected an operator or the end, not '|' (or is written ||)"},
      {R"(.a in ["x"])",
       "column 4: expected an operator or the end, not 'in' (compare with each value, joined by "
       "||)"},
      {".a + 1 == 2",
       "column 4: expected an operator or the end, not '+' (there is no arithmetic)"},
      {"1 < .a < 3",
       "column 8: expected an operator or the end, not '<' (two comparisons are joined by &&)"},
      {".items.length() > 1",
       "column 14: expected an operator or the end, not '(' (a function stands in front: "
       "length($.items))"},
      {"len(.items) == 1",
       "column 1: there is no function 'len' (there are length, count, match, search and value)"},
      {"lenght(.items) == 1", "column 1: there is no function 'lenght' (did you mean 'length'?)"},
      {"length (.a) == 1",
       "column 1: expected a path, a value or a function, not 'length' (leave the space before '(' "
       "out)"},
      {"{range .items[*]}{.a}{end}",
       "column 2: expected a path, a value or a function, not 'range' (there are no templates; a "
       "path selects all by [*])"},
      {".a == \xE2\x80\x9Cx\xE2\x80\x9D",
       "column 7: expected a path, a value or a function, not '\xE2\x80\x9Cx\xE2\x80\x9D' (quotes "
       "are \" or ')"},
      {".a == []",
       "column 8: expected a quoted name, an index, '*', ':' or '?', not ']' (all elements are "
       "[*]; there are no array literals)"},
      {".a == {}",
       "column 7: expected a path, a value or a function, not '{' (there are no object literals; "
       "compare the members, or length())"},
  };
  for (const SlipRow& row : rows) {
    EXPECT_EQ(MistakeIn(row.text, ExprDialect::kCondition), row.mistake);
  }
}

TEST(Condition, SaysWhatIsMissingOrTooMuch) {
  const SlipRow rows[] = {
      {"", "column 1: the expression is empty (the document itself is $)"},
      {" \n ", "column 4: the expression is empty (the document itself is $)"},
      {"{ }", "column 3: expected a path, a value or a function, not '}'"},
      {".",
       "column 2: expected a name or '*', not the end (leave the dots at the end out; the document "
       "itself is $)"},
      {"\"x\"", "column 1: a literal alone is no condition (compare it with something)"},
      {"length(.a)", "column 1: what length() yields must be compared (as in length(...) > 0)"},
      {R"(match(.a, "x") == true)",
       "column 1: match() is true or false by itself, and no value (leave the comparison out; its "
       "negation is written !)"},
      {"! .a == 1",
       "column 1: '!' negates a whole comparison only around parentheses (write !(a == b), or a != "
       "b)"},
      {"!!.a", "column 2: expected a path, a function or '(', not '!' (leave both '!' out)"},
      {"(.a == 1) == true",
       "column 11: a condition in parentheses has no value to compare (leave the parentheses "
       "out)"},
      {".a == (.b)",
       "column 7: expected a path, a value or a function, not '(' (a value stands without "
       "parentheses)"},
      {"(.a == 1", "column 1: this '(' is not closed"},
      {"(.a == 1))", "column 10: expected an operator or the end, not ')'"},
      {"{.a", "column 4: expected an operator or '}', not the end"},
      {".a}", "column 3: expected an operator or the end, not '}'"},
      {"{.a} == 1", "column 6: expected the end, not '==' (the braces stand around the whole)"},
      {".a == 1 foo", "column 9: expected an operator or the end, not 'foo'"},
      {"count(1) == 1", "column 7: count() takes a path"},
      {"count(.a == 1) == 1", "column 10: expected ',' or ')', not '=='"},
      {R"(match(.a, "\\d+"))",
       "column 11: the regular expression: character 1: there is no \\d; write [0-9]"},
      {".a == 1e999", "column 7: malformed number (as in JSON: -1, 0.5, 1e9)"},
      {R"(.a\)", "column 4: expected a character behind the backslash"},
  };
  for (const SlipRow& row : rows) {
    EXPECT_EQ(MistakeIn(row.text, ExprDialect::kCondition), row.mistake);
  }
}

}  // namespace
}  // namespace detent
