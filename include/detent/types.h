/* detent/types.h: the words of the border: views, handles, and who owns what.
 *
 * Only these kinds of value cross: fixed-width integers, double (IEEE 754 binary64), pointers, and
 * (pointer, length) views. There is no C enum, bool, long, time_t, bit field or union, no variable
 * argument list, and no struct passed by value.
 *
 * Ownership in one sentence: whatever is passed to a call is lent until the call returns, both
 * sides copy what they keep, and nobody frees the other side's memory (rule D-MEM-1). The two
 * things that outlive a call are handles (integers) and the static tables of a plugin.
 */
#ifndef DETENT_TYPES_H_
#define DETENT_TYPES_H_

#include "detent/abi.h"

DETENT_EXTERN_C_BEGIN

/* Text: UTF-8, not necessarily NUL-terminated; {NULL, 0} and {p, 0} both mean "empty". Text that
 * comes from the host does have a NUL at ptr[len], so it may be handed to C functions. Names,
 * keys and reasons must not contain NUL; text that is not UTF-8 is answered with
 * DETENT_E_INVALID, except in log messages, which are repaired. This struct is frozen. */
typedef struct detent_str {
  const char* ptr;
  size_t len;
} detent_str;

/* Bytes: JSON documents, bodies, blobs. Frozen like detent_str. */
typedef struct detent_bytes {
  const uint8_t* ptr;
  size_t len;
} detent_bytes;

/* Handles are index + generation, never pointers. 0 is "none". Using one after its end is safe and
 * is answered with DETENT_E_STALE. A handle belongs to the instance it was given to, and means
 * nothing in another instance, process or life of the host. */
typedef uint64_t detent_instance; /* one configured executor; names the caller in host calls */
typedef uint64_t detent_op;       /* one question that is completed exactly once */
typedef uint64_t detent_task;     /* one task, from start or recover to release or detach */
typedef uint64_t detent_timer;    /* from timer_start to its callback */
typedef uint64_t detent_watch;    /* a subscription, until it is stopped */
typedef uint64_t detent_buf;      /* read-only bytes, counted references, see host.h */
typedef uint64_t detent_secret;   /* a secret's place; its value stays in the host */
typedef uint64_t detent_doc;      /* a parsed JSON document, see services/json.h */

/* A node of a detent_doc. 0 is "no such node"; each accessor takes it and answers "nothing". */
typedef uint32_t detent_node;

/* Where diagnostics go. The host owns it; it is valid during the call it is passed to, or until
 * the op is completed where a function says so. Used only with detent_host.diag_add. */
typedef struct detent_diag detent_diag;

/* For static text:  static const detent_str kind = DETENT_STR_INIT("hello"); */
#define DETENT_STR_INIT(literal) \
  { (literal), sizeof(literal) - 1 }

DETENT_EXTERN_C_END

#endif /* DETENT_TYPES_H_ */
