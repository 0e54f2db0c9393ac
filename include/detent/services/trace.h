/* detent/services/trace.h: spans, so that a slow task shows where its time went.
 *
 * The host opens a span around each op and each request by itself. A plugin adds its own where a
 * step of its work deserves a bar of its own, and passes the W3C context on to its backend.
 *
 * A host may answer DETENT_E_UNSUPPORTED in ABI 0, or NULL from detent_host.service. All functions
 * are [any] and local. Spans that are not ended are ended at release, detach or close.
 */
#ifndef DETENT_SERVICES_TRACE_H_
#define DETENT_SERVICES_TRACE_H_

#include "detent/status.h"

DETENT_EXTERN_C_BEGIN

#define DETENT_SVC_TRACE "detent.trace/1"

/* A span under way; 0 = none, and then every function does nothing. */
typedef uint64_t detent_span;

typedef struct detent_trace {
  uint32_t size;
  uint32_t reserved; /* 0 */

  /* Begins a span below `parent`, or below the task's own when parent is 0. name is a constant
   * ("resolve"). Answers 0 when nobody is tracing, at the cost of one load. */
  detent_span (*begin)(detent_instance inst, detent_task task, detent_span parent,
                       const detent_str* name);

  /* Adds a fact. key is a constant; value <= 256 bytes, no secret. */
  void (*annotate)(detent_instance inst, detent_span span, const detent_str* key,
                   const detent_str* value);

  /* Ends it, with the status of what it was around. A second time: nothing happens. */
  void (*end)(detent_instance inst, detent_span span, detent_status status);

  /* The W3C `traceparent` of a span, to send along: exactly 55 bytes are written to out, no NUL.
   * E_NOT_FOUND: span 0 or ended; nothing is written. */
  detent_status (*context)(detent_instance inst, detent_span span, char* out);
} detent_trace;

DETENT_EXTERN_C_END

#endif /* DETENT_SERVICES_TRACE_H_ */
