// detent.expr/1, by its table and by the SDK over it; as in a pure call, without an instance.

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "core/base/json.h"
#include "core/plugin/buffer.h"
#include "core/plugin/diag_sink.h"
#include "core/plugin/host_table.h"
#include "detent/sdk/expr.h"

namespace detent {
namespace {

constexpr const char* kPod = R"({
  "status": {"phase": "Running", "conditions": [
    {"type": "PodScheduled", "status": "True"}, {"type": "Ready", "status": "False"}]}
})";

const detent_expr& Api() {
  return *static_cast<const detent_expr*>(ServiceTable(DETENT_SVC_EXPR, false));
}

class ExprServiceTest : public ::testing::Test {
 protected:
  // A document, until the test ends.
  sdk::Json Document(const std::string& text) {
    auto doc = sdk::JsonDoc::Parse(HostTable(), 0, text);
    EXPECT_TRUE(doc) << text;
    return documents_.emplace_back(std::move(*doc)).root();
  }
  detent_status Compile(uint32_t dialect, std::string_view text) {
    const detent_str view = sdk::Str(text);
    return Api().compile(0, dialect, &view, &program_, &diag_);
  }
  // What a program selects, or the name of its error.
  std::string Select(std::string_view text, const sdk::Json& root) {
    const auto expression = sdk::Expression::Condition(host_, text, &diag_);
    if (!expression) return expression.status().reason();
    const auto found = expression->Select(root);
    return found ? std::string(found->view()) : found.status().reason();
  }
  std::string Holds(std::string_view text, const sdk::Json& root) {
    const auto expression = sdk::Expression::Condition(host_, text, &diag_);
    if (!expression) return expression.status().reason();
    const auto holds = expression->Holds(root);
    if (!holds) return holds.status().reason();
    return *holds ? "true" : "false";
  }

  const sdk::Host host_{HostTable(), 0};
  std::vector<sdk::JsonDoc> documents_;
  detent_diag diag_;
  detent_program program_ = 0;
};

TEST_F(ExprServiceTest, SelectsAsAJsonArray) {
  const size_t buffers = LiveBuffers();
  const sdk::Json pod = Document(kPod);
  EXPECT_EQ(Select("$.status.phase", pod), R"(["Running"])");
  EXPECT_EQ(Select(".status.phase", pod), R"(["Running"])");
  EXPECT_EQ(Select(".status.conditions[?@.type=='Ready'].status", pod), R"(["False"])");
  EXPECT_EQ(Select("$..type", pod), R"(["PodScheduled","Ready"])");
  EXPECT_EQ(Select("$.none", pod), "[]");
  EXPECT_EQ(Select(".status.phase == 'Running'", pod), "NotAPath");
  EXPECT_EQ(LiveBuffers(), buffers) << "all were released";
}

TEST_F(ExprServiceTest, TakesTheNodeForTheRoot) {
  const sdk::Json condition = Document(kPod).Pointer("/status/conditions/1");
  EXPECT_EQ(Select("$.status", condition), R"(["False"])");
  EXPECT_EQ(Holds(".type == 'Ready'", condition), "true");
}

TEST_F(ExprServiceTest, HoldsOrDoesNotOrCannotTell) {
  const sdk::Json pod = Document(kPod);
  EXPECT_EQ(Holds(".status.phase == 'Running'", pod), "true");
  EXPECT_EQ(Holds(".status.phase == 'Failed'", pod), "false");
  EXPECT_EQ(Holds(".status.reason == 'Failed'", pod), "NothingSelected");
  EXPECT_EQ(Holds(".status.reason != 'Failed'", pod), "NothingSelected");
  EXPECT_EQ(Holds(".status.conditions[*].status == 'True'", pod), "AmbiguousMatch");
  EXPECT_EQ(Holds(".status.conditions", pod), "true");
}

TEST_F(ExprServiceTest, SaysWhatIsWrongWithAnExpression) {
  EXPECT_EQ(Compile(DETENT_EXPR_CONDITION, ".status.phase = 'x'"), DETENT_E_INVALID);
  ASSERT_EQ(diag_.mistakes.size(), 1u);
  EXPECT_EQ(diag_.mistakes[0].pointer, "");
  EXPECT_EQ(diag_.mistakes[0].message, "column 15: expected a comparison, not '='");
  EXPECT_EQ(diag_.mistakes[0].hint, "equality is written ==");
  EXPECT_EQ(Compile(DETENT_EXPR_JSONPATH, ".status.phase"), DETENT_E_INVALID) << "it has no root";
  EXPECT_EQ(Compile(DETENT_EXPR_JSONPATH, "$\xff"), DETENT_E_INVALID) << "no UTF-8";
  EXPECT_EQ(Compile(DETENT_EXPR_JSONPATH, std::string(4097, '$')), DETENT_E_TOO_LARGE);
  EXPECT_EQ(diag_.mistakes.back().message, "an expression has at most 4096 bytes");
  EXPECT_EQ(Compile(2, "$"), DETENT_E_UNSUPPORTED) << "a dialect of another time";
  const detent_str text = sdk::Str(".a =");
  EXPECT_EQ(Api().compile(0, DETENT_EXPR_CONDITION, &text, &program_, nullptr), DETENT_E_INVALID)
      << "without a place for findings";
  EXPECT_EQ(Api().compile(0, DETENT_EXPR_CONDITION, nullptr, &program_, nullptr), DETENT_E_INVALID);
  EXPECT_EQ(program_, 0u);
}

TEST_F(ExprServiceTest, FindsOutHandlesThatHaveEnded) {
  ASSERT_EQ(Compile(DETENT_EXPR_JSONPATH, "$"), DETENT_OK);
  const sdk::Json document = Document("[1]");
  detent_buf buffer = 0;
  uint32_t holds = 7;
  EXPECT_EQ(Api().select(0, program_, document.doc(), 0, &buffer), DETENT_E_NOT_FOUND);
  EXPECT_EQ(Api().holds(program_, document.doc(), 99, &holds), DETENT_E_NOT_FOUND);
  const detent_doc doc = document.doc();
  documents_.clear();
  EXPECT_EQ(Api().select(0, program_, doc, 1, &buffer), DETENT_E_STALE);
  const detent_bytes values = sdk::Bytes("{}");
  EXPECT_EQ(Api().expand(0, doc, 1, &values, &buffer, nullptr), DETENT_E_STALE);
  const sdk::Json other = Document("[1]");
  Api().release(program_);
  Api().release(program_);
  Api().release(0);
  EXPECT_EQ(Api().select(0, program_, other.doc(), other.node(), &buffer), DETENT_E_STALE);
  EXPECT_EQ(Api().holds(program_, other.doc(), other.node(), &holds), DETENT_E_STALE);
  EXPECT_EQ(holds, 7u);
  EXPECT_EQ(buffer, 0u);
}

TEST_F(ExprServiceTest, StopsWhatTakesTooLongOrSelectsTooMuch) {
  std::string numbers = "[0";
  for (int i = 1; i < 10'000; ++i) numbers += "," + std::to_string(i);
  const sdk::Json many = Document(numbers + "]");
  EXPECT_EQ(Select("$[?count($[*]) == 0]", many), "ExpressionBudget");
  EXPECT_EQ(Holds("count($[?count($[*]) == 0]) > 0", many), "ExpressionBudget");
  const sdk::Json large = Document("[\"" + std::string(20 << 20, 'x') + "\"]");
  EXPECT_EQ(Select("$[0]", large).size(), (20u << 20) + 4);
  EXPECT_EQ(Select("$[0,0]", large), "ExpressionBudget") << "more than a buffer may hold";
}

TEST_F(ExprServiceTest, ExpandsNamesInStrings) {
  const sdk::Json spec = Document(R"({"args":["--host=${host}","$${host}",1]})");
  const auto expanded = sdk::ExpandStrings(host_, spec, R"({"host":"a\"b"})");
  ASSERT_TRUE(expanded) << expanded.status().message();
  EXPECT_EQ(expanded->view(), R"({"args":["--host=a\"b","${host}",1]})");
  const auto below = sdk::ExpandStrings(host_, spec["args"], R"({"host":"h"})");
  ASSERT_TRUE(below);
  EXPECT_EQ(below->view(), R"(["--host=h","${host}",1])");
}

TEST_F(ExprServiceTest, NamesWhatItCannotExpandByItsPlace) {
  const sdk::Json spec = Document(R"({"args":["${hots}","${x}"]})");
  const auto expanded = sdk::ExpandStrings(host_, spec, R"({"host":"h"})", &diag_);
  ASSERT_FALSE(expanded);
  EXPECT_EQ(expanded.status().code(), DETENT_E_INVALID);
  ASSERT_EQ(diag_.mistakes.size(), 2u);
  EXPECT_EQ(diag_.mistakes[0].pointer, "/args/0");
  EXPECT_EQ(diag_.mistakes[0].message, "there is no value for ${hots}");
  EXPECT_EQ(diag_.mistakes[0].hint, "did you mean ${host}?");
  EXPECT_EQ(diag_.mistakes[1].pointer, "/args/1");
  for (const char* values : {"", "[]", R"({"host":1})", "{"}) {
    EXPECT_EQ(sdk::ExpandStrings(host_, spec, values, &diag_).status().code(), DETENT_E_INVALID)
        << values;
  }
  EXPECT_EQ(diag_.mistakes.size(), 6u) << "each with a finding";
}

TEST_F(ExprServiceTest, EvaluatesOneProgramOnManyThreads) {
  const sdk::Json pod = Document(kPod);
  const auto expression =
      sdk::Expression::Condition(host_, "search(.status.conditions[?@.type=='Ready'].type, '^R')");
  ASSERT_TRUE(expression);
  std::atomic<int> held{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 500; ++j) held += *expression->Holds(pod) ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(held, 2000);
}

TEST_F(ExprServiceTest, OfTheSdkOwnsItsProgram) {
  const sdk::Json pod = Document(kPod);
  sdk::Expression empty;
  EXPECT_FALSE(empty);
  EXPECT_EQ(empty.Holds(pod).status().reason(), "NoExpression");
  EXPECT_EQ(empty.Select(pod).status().reason(), "NoExpression");
  auto compiled = sdk::Expression::JsonPath(host_, "$.status.phase");
  ASSERT_TRUE(compiled);
  empty = *std::move(compiled);
  EXPECT_TRUE(empty);
  EXPECT_EQ(empty.Select(pod)->view(), R"(["Running"])");
  EXPECT_EQ(sdk::Expression::JsonPath(host_, ".status").status().reason(), "BadExpression");
  EXPECT_EQ(sdk::Expression::JsonPath(host_, std::string(5000, '$')).status().reason(),
            "ExpressionTooLarge");
}

}  // namespace
}  // namespace detent
