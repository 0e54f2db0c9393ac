/* detent/services/expr.h: the host's one expression engine, for plugins too.
 *
 * Conditions and paths in specs mean the same in every executor because one engine reads them:
 * RFC 9535 JSONPath in full, and `condition`, a superset with an implicit root and comparisons at
 * the top level (".status.phase == \"Succeeded\""). An expression is compiled once, at validation,
 * and evaluated as often as needed.
 *
 * A host may answer DETENT_E_UNSUPPORTED in ABI 0, or NULL from detent_host.service. All functions
 * are [any] and local, and may be used with instance 0 in [pure] calls. Expressions <= 4 KiB;
 * evaluation stops after 10 million steps (E_TOO_LARGE, reason ExpressionBudget).
 */
#ifndef DETENT_SERVICES_EXPR_H_
#define DETENT_SERVICES_EXPR_H_

#include "detent/status.h"

DETENT_EXTERN_C_BEGIN

#define DETENT_SVC_EXPR "detent.expr/1"

/* Dialects. */
#define DETENT_EXPR_JSONPATH 0u  /* RFC 9535 as it stands */
#define DETENT_EXPR_CONDITION 1u /* the superset; a bare query means "there is a truthy value" */

/* A compiled expression: index + generation like every handle. */
typedef uint64_t detent_program;

typedef struct detent_expr {
  uint32_t size;
  uint32_t reserved; /* 0 */

  /* Compiles text. The caller owns *out. E_INVALID: findings in diag (may be NULL), with the column
   * in the message and a hint where a slip is likely. E_TOO_LARGE: longer or deeper than any
   * expression may be. E_UNSUPPORTED: an unknown dialect. */
  detent_status (*compile)(detent_instance inst, uint32_t dialect, const detent_str* text,
                           detent_program* out, detent_diag* diag);

  /* Ends a program. 0 and a second time: nothing happens. */
  void (*release)(detent_program program);

  /* All values that a query selects, below node of doc, as a JSON array in a new buffer with one
   * reference for the caller; an empty one if nothing is selected. E_INVALID: a comparison, not a
   * query. E_TOO_LARGE. */
  detent_status (*select)(detent_instance inst, detent_program program, detent_doc doc,
                          detent_node node, detent_buf* out);

  /* Whether a condition holds: *out is 1 or 0. E_NOT_FOUND: a path it depends on selects nothing,
   * which a caller usually takes as "not yet". E_INVALID: out is NULL, or the document makes it
   * impossible to say. */
  detent_status (*holds)(detent_program program, detent_doc doc, detent_node node, uint32_t* out);

  /* Expands ${name} in every string below node by `vars`, a JSON object of strings keyed by name;
   * one pass, on the parsed document, "$${" stands for "${". The result as JSON in a new buffer.
   * E_INVALID: unknown names, each a finding with its pointer. */
  detent_status (*expand)(detent_instance inst, detent_doc doc, detent_node node,
                          const detent_bytes* vars, detent_buf* out, detent_diag* diag);
} detent_expr;

DETENT_EXTERN_C_END

#endif /* DETENT_SERVICES_EXPR_H_ */
