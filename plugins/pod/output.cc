#include "plugins/pod/output.h"

#include "detent/sdk/buffer.h"
#include "detent/sdk/json.h"
#include "detent/sdk/json_writer.h"
#include "detent/services/expr.h"

namespace detent::pod {
namespace {

constexpr size_t kOutputMost = 64 * 1024;

const detent_expr* ExprOf(const Evaluator& evaluator) {
  return static_cast<const detent_expr*>(
      evaluator.host->service(evaluator.instance, DETENT_SVC_EXPR));
}

// A compiled path, as long as it is needed.
class Program {
 public:
  Program(const Evaluator& evaluator, std::string_view path, detent_diag* diag)
      : api_(ExprOf(evaluator)), evaluator_(evaluator) {
    const detent_str text = sdk::Str(path);
    // The superset: `.result.rows` means `$.result.rows`, as everywhere in Detent.
    code_ = api_ == nullptr
                ? DETENT_E_UNSUPPORTED
                : api_->compile(evaluator.instance, DETENT_EXPR_CONDITION, &text, &program_, diag);
  }
  ~Program() {
    if (code_ == DETENT_OK) api_->release(program_);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  detent_status code() const { return code_; }

  // A JSON array of what it selects; empty: it could not be told.
  std::string Select(const sdk::Json& root) const {
    detent_buf found = 0;
    const detent_status code =
        api_->select(evaluator_.instance, program_, root.doc(), root.node(), &found);
    if (code != DETENT_OK) return {};
    return std::string(sdk::Buffer::Own(evaluator_.host, found).view());
  }

 private:
  const detent_expr* api_;
  Evaluator evaluator_;
  detent_program program_ = 0;
  detent_status code_;
};

std::string AsText(std::string_view message) {
  sdk::JsonWriter json;
  json.String(message);
  return std::move(json).text();
}

std::string Selected(const sdk::Json& root, std::string_view path, const Evaluator& evaluator) {
  const Program program(evaluator, path, nullptr);
  const std::string list = program.code() == DETENT_OK ? program.Select(root) : std::string();
  const auto doc = sdk::JsonDoc::Parse(evaluator.host, evaluator.instance, list);
  if (!doc || doc->root().size() == 0) return "null";
  if (doc->root().size() > 1) return list;
  return doc->root()[uint64_t{0}].Serialise(evaluator.host, evaluator.instance);
}

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

}  // namespace

Output OutputOf(const Pod& pod, std::string_view path, const Evaluator& evaluator) {
  const Container* const main = pod.main();
  if (main == nullptr || !main->ended.there) return {};
  const std::string_view message = Trimmed(main->ended.message);
  if (message.empty()) return {};
  const auto doc = sdk::JsonDoc::Parse(evaluator.host, evaluator.instance, message);
  if (!doc) return {AsText(message)};
  if (path.empty()) return {std::string(message)};
  std::string selected = Selected(doc->root(), path, evaluator);
  // A path may select the same value many times over.
  if (selected.size() > kOutputMost) return {AsText(message), true};
  return {std::move(selected)};
}

sdk::Status CheckPath(std::string_view path, const Evaluator& evaluator, detent_diag* diag) {
  const Program program(evaluator, path, diag);
  if (program.code() == DETENT_E_UNSUPPORTED) {
    return {DETENT_E_UNSUPPORTED, "NotOffered",
            "this host evaluates no expressions (detent.expr/1)"};
  }
  if (program.code() != DETENT_OK) return sdk::Invalid("BadExpression", "is no JSONPath");
  // A comparison is an expression as well, but selects nothing.
  const auto doc = sdk::JsonDoc::Parse(evaluator.host, evaluator.instance, "null");
  if (doc && !program.Select(doc->root()).empty()) return {};
  return sdk::Invalid("BadExpression", "must be a path, not a comparison");
}

}  // namespace detent::pod
