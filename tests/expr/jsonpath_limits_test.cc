// No expression and no document takes longer, or more, than the header says.

#include <gtest/gtest.h>

#include "tests/expr/jsonpath_table.h"

namespace detent {
namespace {

using testing::MistakeIn;

std::string Repeat(const std::string& text, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += text;
  return out;
}

Result<std::vector<const Json*>> Select(const std::string& query, const Json& document) {
  auto expression = Expression::Compile(query, ExprDialect::kJsonPath);
  if (!expression) return std::move(expression).error();
  return expression->Select(document);
}

// An array of `width` arrays of `width` numbers.
Json Wide(size_t width) {
  Json rows = Json::Array();
  for (size_t i = 0; i < width; ++i) {
    Json row = Json::Array();
    for (size_t j = 0; j < width; ++j) row.Append(static_cast<int64_t>(j));
    rows.Append(std::move(row));
  }
  return rows;
}

TEST(ExpressionLimits, HoldForTheText) {
  const auto spaced = [](size_t size) { return "$" + std::string(size - 3, ' ') + ".a"; };
  EXPECT_EQ(MistakeIn(spaced(kExpressionBytesMax), ExprDialect::kJsonPath), "");
  const auto longer = Expression::Compile(spaced(kExpressionBytesMax + 1), ExprDialect::kJsonPath);
  ASSERT_FALSE(longer);
  EXPECT_EQ(longer.error().code(), Code::kTooLarge);
  EXPECT_EQ(longer.error().message(), "an expression has at most 4096 bytes");
}

TEST(ExpressionLimits, HoldForNesting) {
  struct Bracket {
    const char* open;
    const char* close;
    const char* end;
  };
  const Bracket brackets[] = {
      {"(", ")", ""}, {"!(", ")", ""}, {"length(", ")", "==1"}, {"@[?", "]", ""}};
  for (const Bracket& bracket : brackets) {
    const auto nested = [&bracket](size_t depth) {
      // The filter is one of them.
      return "$[?" + Repeat(bracket.open, depth - 1) + "@" + Repeat(bracket.close, depth - 1) +
             bracket.end + "]";
    };
    EXPECT_EQ(MistakeIn(nested(kExpressionNestingMax), ExprDialect::kJsonPath), "");
    const auto deeper =
        Expression::Compile(nested(kExpressionNestingMax + 1), ExprDialect::kJsonPath);
    ASSERT_FALSE(deeper) << bracket.open;
    EXPECT_EQ(deeper.error().code(), Code::kTooLarge);
    EXPECT_TRUE(deeper.error().message().ends_with(": nested deeper than 64"))
        << deeper.error().message();
  }
}

TEST(ExpressionLimits, AllowManySegmentsAndConditions) {
  EXPECT_EQ(MistakeIn("$" + Repeat(".a", 2047), ExprDialect::kJsonPath), "");
  EXPECT_EQ(MistakeIn("$" + Repeat("..*", 1365), ExprDialect::kJsonPath), "");
  EXPECT_EQ(MistakeIn("$[?@" + Repeat("||@", 1360) + "]", ExprDialect::kJsonPath), "");
  EXPECT_TRUE(Select("$" + Repeat("..*", 1365), Wide(30)));
}

TEST(ExpressionLimits, StopWhatTakesTooManySteps) {
  const Json wide = Wide(100);
  Json members = Json::Object();
  for (int i = 0; i < 10'000; ++i) members.as_object().emplace_back(std::to_string(i), Json(i));
  Json text = Json::Object();
  text.Set("t", std::string(1 << 20, 'a')).Set("p", "((a|aa|a?){40})*b");
  const std::string slices = "$..[" + Repeat("::0,", 1000) + "0]";
  const std::tuple<const char*, const Json*, const char*> rows[] = {
      {slices.c_str(), &wide, "selectors that select nothing"},
      {"$..[?$..[?@.x]]", &wide, "filters within filters"},
      {"$..[?count($..*) == 0]", &wide, "a count for each"},
      {"$..[?$ == $]", &wide, "a comparison of all with all"},
      {"$[?$.none == 1]", &members, "a name that is not there, among many"},
      {"$[?search($.t, $.p)]", &text, "a regular expression"},
  };
  for (const auto& [query, document, because] : rows) {
    const auto selected = Select(query, *document);
    ASSERT_FALSE(selected) << query << ": " << because;
    EXPECT_EQ(selected.error().code(), Code::kTooLarge);
    EXPECT_TRUE(selected.error().message().starts_with("ExpressionBudget: ")) << query;
  }
  const auto condition =
      Expression::Compile("count(..[?count($..*) == 0]) > 0", ExprDialect::kCondition);
  ASSERT_TRUE(condition);
  EXPECT_EQ(condition->Holds(wide).error().code(), Code::kTooLarge);
  EXPECT_TRUE(Select("$..*", wide)) << "the next evaluation begins anew";
}

TEST(ExpressionLimits, StopAtTheFirstThatIsEnough) {
  Json many = Json::Array();
  for (int i = 0; i < 10'000; ++i) many.Append(i);
  Json document = Json::Object();
  document.Set("many", many);
  // Each test of existence would take 10,000 steps, 10,000 times, if it did not stop at the first.
  EXPECT_EQ(Select("$.many[?$.many[*]]", document)->size(), 10'000u);
  EXPECT_EQ(Select("$.many[?value($.many[*]) == 1]", document)->size(), 0u);
}

TEST(ExpressionLimits, HoldForWhatIsSelectedAndForItsPaths) {
  const Json wide = Wide(1001);
  const auto selected = Select("$[*][*]", wide);
  ASSERT_FALSE(selected);
  EXPECT_EQ(selected.error().message(), "the path selects more than 1000000 values");
  EXPECT_EQ(selected.error().code(), Code::kTooLarge);

  Json document = Json::Object();
  document.Set(std::string(1 << 20, 'n'), Wide(10));
  const auto path = Expression::Compile("$[*][*]", ExprDialect::kJsonPath);
  EXPECT_EQ(path->Select(document)->size(), 10u);
  const auto located = path->Locate(document);
  ASSERT_FALSE(located) << "each path is as long as its names";
  EXPECT_EQ(located.error().code(), Code::kTooLarge);
}

TEST(ExpressionLimits, HoldForPatternsOfTheDocument) {
  Json document = Json::Array();
  document.Append("a{5000}");
  const auto selected = Select("$[?search('a', @)]", document);
  ASSERT_FALSE(selected);
  EXPECT_EQ(selected.error().code(), Code::kTooLarge);
  EXPECT_EQ(MistakeIn("$[?search(@, 'a{5000}')]", ExprDialect::kJsonPath),
            "column 14: a pattern may have at most 4096 states; {n,m} copies what it repeats");
}

TEST(ExpressionLimits, AllowDeepDocuments) {
  const auto deep = ParseJson(Repeat("[", 128) + Repeat("]", 128), 128);
  ASSERT_TRUE(deep);
  EXPECT_EQ(Select("$..*", *deep)->size(), 127u);
  EXPECT_EQ(Select("$..[?@ == @]", *deep)->size(), 127u);
}

}  // namespace
}  // namespace detent
