// Expressions over the host's detent.expr/1: an Expression is a path or a condition, compiled once,
// at validation, and evaluated on parsed documents as often as needed. ExpandStrings fills names
// into a document. Any thread, also several at a time; in pure calls the host's instance is 0.

#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "detent/sdk/buffer.h"
#include "detent/sdk/host.h"
#include "detent/sdk/json.h"
#include "detent/sdk/status.h"
#include "detent/services/expr.h"

namespace detent::sdk {

class Expression {
 public:
  Expression() = default;
  Expression(Expression&& other) noexcept
      : host_(other.host_),
        api_(other.api_),
        program_(std::exchange(other.program_, detent_program{0})) {}
  Expression& operator=(Expression&& other) noexcept {
    std::swap(host_, other.host_);
    std::swap(api_, other.api_);
    std::swap(program_, other.program_);
    return *this;
  }
  ~Expression() {
    if (program_ != 0) api_->release(program_);
  }

  // A condition, or a path whose `$` may be left out: ".status.phase == \"Succeeded\"". What is
  // wrong with it goes to diag, which may be null: the column, and a hint.
  static Result<Expression> Condition(const Host& host, std::string_view text,
                                      detent_diag* diag = nullptr) {
    return Compile(host, DETENT_EXPR_CONDITION, text, diag);
  }
  // A path as RFC 9535 has it, and nothing else.
  static Result<Expression> JsonPath(const Host& host, std::string_view text,
                                     detent_diag* diag = nullptr) {
    return Compile(host, DETENT_EXPR_JSONPATH, text, diag);
  }

  // False: default-constructed, or moved from.
  explicit operator bool() const { return program_ != 0; }

  // All values that a path selects below `root`, as a JSON array; an empty one if there are none.
  // E_INVALID: it is no path. E_TOO_LARGE: it takes too long on this document, or selects too much.
  Result<Buffer> Select(const Json& root) const {
    detent_buf found = 0;
    if (program_ == 0) return NotCompiled();
    const detent_status code =
        api_->select(host_.instance(), program_, root.doc(), root.node(), &found);
    if (code == DETENT_E_INVALID) return Status(code, "NotAPath", "a condition selects nothing");
    if (code != DETENT_OK) return Failed(code);
    return Buffer::Own(host_.table(), found);
  }

  // Whether a condition holds of `root`. E_NOT_FOUND: a path that it depends on selects nothing,
  // usually "not yet". E_INVALID: a path selects several values where one is needed. E_TOO_LARGE.
  Result<bool> Holds(const Json& root) const {
    uint32_t holds = 0;
    if (program_ == 0) return NotCompiled();
    const detent_status code = api_->holds(program_, root.doc(), root.node(), &holds);
    if (code == DETENT_E_INVALID) {
      return Status(code, "AmbiguousMatch",
                    "a path selects several values where one is needed; narrow it by a filter");
    }
    if (code != DETENT_OK) return Failed(code);
    return holds != 0;
  }

 private:
  Expression(const Host& host, const detent_expr* api, detent_program program)
      : host_(host), api_(api), program_(program) {}

  static Result<Expression> Compile(const Host& host, uint32_t dialect, std::string_view text,
                                    detent_diag* diag) {
    const auto* api = host.Service<detent_expr>(DETENT_SVC_EXPR);
    if (api == nullptr) return Failed(DETENT_E_UNSUPPORTED);
    const detent_str view = Str(text);
    detent_program program = 0;
    const detent_status code = api->compile(host.instance(), dialect, &view, &program, diag);
    if (code == DETENT_E_INVALID) return Status(code, "BadExpression", "this is no expression");
    if (code == DETENT_E_TOO_LARGE) {
      return Status(code, "ExpressionTooLarge", "the expression is too long or nested too deeply");
    }
    if (code != DETENT_OK) return Failed(code);
    return Expression(host, api, program);
  }

  static Status NotCompiled() { return Invalid("NoExpression", "there is no expression"); }
  static Status Failed(detent_status code) {
    if (code == DETENT_E_UNSUPPORTED) {
      return {code, "NoExpressions", "the host evaluates no expressions (detent.expr/1)"};
    }
    if (code == DETENT_E_NOT_FOUND) {
      return {code, "NothingSelected", "a path that the expression depends on selects nothing"};
    }
    if (code == DETENT_E_TOO_LARGE) {
      return {code, "ExpressionBudget", "the expression takes too long, or selects too much"};
    }
    return {code, "ExpressionFailed", "the expression could not be evaluated"};
  }

  Host host_;
  const detent_expr* api_ = nullptr;
  detent_program program_ = 0;
};

// Expands ${name} in every string below `root` by `vars`, a JSON object of strings, into JSON.
// E_INVALID: names that `vars` lacks, each a finding in diag, which may be null. E_TOO_LARGE.
inline Result<Buffer> ExpandStrings(const Host& host, const Json& root, std::string_view vars,
                                    detent_diag* diag = nullptr) {
  const auto* api = host.Service<detent_expr>(DETENT_SVC_EXPR);
  const detent_bytes values = Bytes(vars);
  detent_buf out = 0;
  const detent_status code =
      api == nullptr ? DETENT_E_UNSUPPORTED
                     : api->expand(host.instance(), root.doc(), root.node(), &values, &out, diag);
  if (code == DETENT_OK) return Buffer::Own(host.table(), out);
  if (code == DETENT_E_UNSUPPORTED) {
    return Status(code, "NoExpressions", "the host expands no names (detent.expr/1)");
  }
  if (code == DETENT_E_TOO_LARGE) {
    return Status(code, "TooLarge", "the document with its names filled in is too large");
  }
  return Status(code, "BadReference", "the names of the document could not be filled in");
}

}  // namespace detent::sdk
