#include <mutex>
#include <optional>

#include "core/expr/expand.h"
#include "core/expr/jsonpath.h"
#include "core/plugin/abi_convert.h"
#include "core/plugin/buffer.h"
#include "core/plugin/diag_sink.h"
#include "core/plugin/handle_table.h"
#include "core/plugin/host_table.h"
#include "core/plugin/instance.h"
#include "detent/services/expr.h"

namespace detent {
namespace {

// Never destroyed, since plugin threads may end after main().
using Programs = HandleTable<std::optional<Expression>, std::mutex, 4096>;

Programs& LivePrograms() {
  static auto* const table = new Programs();
  return *table;
}

// The program and the value that it is about.
struct Evaluated {
  const Expression* expression = nullptr;
  const Json* root = nullptr;
};

detent_status FindEvaluated(detent_program program, detent_doc doc, detent_node node,
                            Evaluated& out) {
  const std::optional<Expression>* const found = LivePrograms().Find(program);
  if (found == nullptr) return DETENT_E_STALE;
  out.expression = &**found;
  return NodeValue(doc, node, out.root);
}

detent_status GiveJson(detent_instance inst, std::string json, detent_buf* out) {
  Instance* const instance = Instance::Of(inst);
  *out = NewBuffer(std::move(json), instance == nullptr ? nullptr : &instance->buffers());
  return *out == 0 ? DETENT_E_NO_MEMORY : DETENT_OK;
}

void AddInvalid(detent_diag* diag, Diagnostic finding) {
  if (diag != nullptr) AddFinding(*diag, DETENT_DIAG_ERROR, std::move(finding), "Invalid");
}

detent_status CompileInto(ExprDialect dialect, std::string_view text, detent_program* out,
                          detent_diag* diag) {
  ExpressionMistake mistake;
  auto compiled = Expression::Compile(text, dialect, &mistake);
  if (!compiled) {
    Diagnostic finding;
    finding.message = std::move(mistake.message);
    finding.hint = std::move(mistake.hint);
    AddInvalid(diag, std::move(finding));
    return ToStatus(compiled.error().code());
  }
  *out = LivePrograms().Take([&](std::optional<Expression>& slot) { slot = std::move(*compiled); });
  return *out == 0 ? DETENT_E_NO_MEMORY : DETENT_OK;
}

detent_status CompileExpr(detent_instance, uint32_t dialect, const detent_str* text,
                          detent_program* out, detent_diag* diag) {
  if (text == nullptr || out == nullptr) return DETENT_E_INVALID;
  if (dialect != DETENT_EXPR_JSONPATH && dialect != DETENT_EXPR_CONDITION) {
    return DETENT_E_UNSUPPORTED;
  }
  try {
    const bool strict = dialect == DETENT_EXPR_JSONPATH;
    return CompileInto(strict ? ExprDialect::kJsonPath : ExprDialect::kCondition, Text(*text), out,
                       diag);
  } catch (...) {
    return DETENT_E_NO_MEMORY;
  }
}

void ReleaseExpr(detent_program program) {
  if (!LivePrograms().End(program)) return;
  LivePrograms().Ended(program).reset();
  LivePrograms().Recycle(program);
}

// False: more than a buffer may hold.
bool AppendSelected(const std::vector<const Json*>& values, std::string& out) {
  out = "[";
  for (const Json* value : values) {
    if (out.size() > 1) out += ',';
    AppendJson(out, *value);
    if (out.size() >= kBufferBytesMax) return false;
  }
  out += ']';
  return true;
}

detent_status SelectExpr(detent_instance inst, detent_program program, detent_doc doc,
                         detent_node node, detent_buf* out) {
  if (out == nullptr) return DETENT_E_INVALID;
  Evaluated evaluated;
  const detent_status status = FindEvaluated(program, doc, node, evaluated);
  if (status != DETENT_OK) return status;
  try {
    const auto values = evaluated.expression->Select(*evaluated.root);
    if (!values) return ToStatus(values.error().code());
    std::string json;
    if (!AppendSelected(*values, json)) return DETENT_E_TOO_LARGE;
    return GiveJson(inst, std::move(json), out);
  } catch (...) {
    return DETENT_E_NO_MEMORY;
  }
}

detent_status HoldsExpr(detent_program program, detent_doc doc, detent_node node, uint32_t* out) {
  if (out == nullptr) return DETENT_E_INVALID;
  Evaluated evaluated;
  const detent_status status = FindEvaluated(program, doc, node, evaluated);
  if (status != DETENT_OK) return status;
  try {
    const auto verdict = evaluated.expression->Holds(*evaluated.root);
    if (!verdict) return ToStatus(verdict.error().code());
    if (*verdict == Expression::Verdict::kNothing) return DETENT_E_NOT_FOUND;
    *out = *verdict == Expression::Verdict::kTrue ? 1 : 0;
    return DETENT_OK;
  } catch (...) {
    return DETENT_E_NO_MEMORY;
  }
}

detent_status ExpandInto(detent_instance inst, const Json& root, std::string_view vars,
                         detent_buf* out, detent_diag* diag) {
  if (vars.size() > kBufferBytesMax) return DETENT_E_TOO_LARGE;
  Diagnostics mistakes;
  auto values = ParseJson(vars);
  auto expanded = values ? ExpandStrings(root, *values, kBufferBytesMax, mistakes)
                         : std::move(values).error().While("the values");
  if (expanded) return GiveJson(inst, std::move(*expanded), out);
  const bool pointed = !mistakes.empty();
  for (Diagnostic& mistake : mistakes) AddInvalid(diag, std::move(mistake));
  if (!pointed) {
    Diagnostic finding;
    finding.message = expanded.error().message();
    AddInvalid(diag, std::move(finding));
  }
  return ToStatus(expanded.error().code());
}

detent_status Expand(detent_instance inst, detent_doc doc, detent_node node,
                     const detent_bytes* vars, detent_buf* out, detent_diag* diag) {
  if (vars == nullptr || out == nullptr) return DETENT_E_INVALID;
  const Json* root = nullptr;
  const detent_status status = NodeValue(doc, node, root);
  if (status != DETENT_OK) return status;
  try {
    return ExpandInto(inst, *root, Text(*vars), out, diag);
  } catch (...) {
    return DETENT_E_NO_MEMORY;
  }
}

constexpr detent_expr kExprTable = {
    sizeof(detent_expr), 0, &CompileExpr, &ReleaseExpr, &SelectExpr, &HoldsExpr, &Expand,
};

}  // namespace

const void* ExprService() {
  return &kExprTable;
}

}  // namespace detent
