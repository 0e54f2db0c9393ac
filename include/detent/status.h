/* detent/status.h: how an answer is said.
 *
 * Two forms. A function that can answer at once returns detent_status. A question that takes time
 * is an op: it is answered once, with a detent_result, which adds when to try again, a reason for
 * machines, a message for people, and a body.
 *
 *    0          done, or accepted
 *   < 0         not done: one of DETENT_E_* below, the same in every function
 *   > 0         an answer that belongs to one question only (task.h: the answers to recover)
 *
 * A negative status never means that something may have happened without you knowing, unless it is
 * DETENT_E_DEADLINE, DETENT_E_CANCELLED, DETENT_E_CLOSING or DETENT_E_UNAVAILABLE on a question
 * that has an effect outside: there the effect is unknown, and is to be looked up.
 */
#ifndef DETENT_STATUS_H_
#define DETENT_STATUS_H_

#include "detent/types.h"

DETENT_EXTERN_C_BEGIN

typedef int32_t detent_status;

#define DETENT_OK 0
#define DETENT_E_INVALID (-1)        /* an argument is wrong; the same call fails again */
#define DETENT_E_UNSUPPORTED (-2)    /* this side does not do that: flag, verb, slot, service */
#define DETENT_E_NOT_FOUND (-3)      /* there is no such thing */
#define DETENT_E_ALREADY_EXISTS (-4) /* there is one, and it is not ours (reason NameTaken) */
#define DETENT_E_BUSY (-5)           /* over a limit in flight; nothing was taken; try later */
#define DETENT_E_TOO_LARGE (-6)      /* over a limit in size; the message names the limit */
#define DETENT_E_CANCELLED (-7)      /* ended because somebody asked for it */
#define DETENT_E_CLOSING (-8)        /* ended because the instance closes. NEVER ends a task */
#define DETENT_E_UNAVAILABLE (-9)    /* the other end cannot be reached, or failed for now */
#define DETENT_E_DEADLINE (-10)      /* out of time */
#define DETENT_E_STALE (-11)         /* the handle has ended, or the op was completed already */
#define DETENT_E_FENCED (-12)        /* this host is no longer the leader; no effect took place */
#define DETENT_E_INTERNAL (-13)      /* a defect; the message says what was promised */
#define DETENT_E_NO_MEMORY (-14)     /* out of memory */
#define DETENT_E_DENIED (-15)        /* policy or permission says no */
#define DETENT_E_CONFLICT (-16)      /* the thing changed meanwhile (409); read it again */

/* detent_result.retry: what the answerer knows about doing it again. It is advice for the host's
 * own policy, which alone counts attempts. */
#define DETENT_HINT_UNKNOWN 0u   /* nothing is known: the host applies its policy */
#define DETENT_HINT_NEVER 1u     /* would fail the same way */
#define DETENT_HINT_LATER 2u     /* may succeed after retry_after_ms (0: the host chooses) */
#define DETENT_HINT_ELSEWHERE 3u /* may succeed on another replica */

/* The answer to an op or to a request. Fields that a question does not speak of are zero.
 * reason   CamelCase, at most 64 bytes, ends up in Conditions and metrics. Empty on an error is
 *          reported as "Unspecified".
 * message  for people, at most 1 KiB, one or two sentences, no secrets.
 * body     bytes that belong to the answer. The giver keeps its own reference and the taker gets
 *          none: a taker that keeps the body retains it before it returns (rule D-MEM-2). A plugin
 *          that answers with a body makes it by buf_new and releases it after op_complete.
 * value    } two numbers whose meaning the question defines (ext/logs.h: the next offset and the
 * value2   } oldest one).
 */
typedef struct detent_result {
  uint32_t size;
  detent_status code;
  uint32_t retry;          /* DETENT_HINT_* */
  uint32_t retry_after_ms; /* with DETENT_HINT_LATER or DETENT_E_BUSY */
  detent_str reason;
  detent_str message;
  detent_buf body;
  uint32_t http_status; /* when the answer came over HTTP, else 0 */
  uint32_t flags;       /* defined by the question */
  uint64_t value;
  uint64_t value2;
} detent_result;

/* How the answer to a request reaches a plugin. [strand], exactly once for each accepted request,
 * never before the call that made the request has returned, never after destroy was entered. `ctx`
 * is the plugin's own pointer, handed back as it was. `result` is lent for the call. */
typedef void (*detent_cb)(void* ctx, const detent_result* result);

/* Severity of a diagnostic (detent_host.diag_add). */
#define DETENT_DIAG_ERROR 1u   /* the document is refused */
#define DETENT_DIAG_WARNING 2u /* accepted, but probably not what was meant */
#define DETENT_DIAG_NOTE 3u    /* worth knowing */

DETENT_EXTERN_C_END

#endif /* DETENT_STATUS_H_ */
