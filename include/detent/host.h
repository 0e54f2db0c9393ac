/* detent/host.h: what every plugin may ask of its host.
 *
 * One table for the process. It is given to each [pure] call and to create, is valid until the
 * process ends, and may be kept in a global. It holds what every executor needs; everything else
 * is a service, a table of its own that is looked up by id:
 *
 *   const detent_http *http = host->service(inst, DETENT_SVC_HTTP);   -- NULL: not in this host
 *
 * All functions are [any]. None blocks, none calls back into the plugin before it returns, all copy
 * what they are given. This is what lets the same plugin run in the host's process or in a child,
 * with the same behaviour: no function here needs an answer from afar before it returns.
 *
 * `inst` names the caller. A handle that is not the caller's is DETENT_E_STALE. Where a function's
 * statuses are not listed, they are: OK, E_STALE (a handle has ended), E_INVALID (a struct without
 * size, a pointer that must not be NULL), E_NO_MEMORY. After `close` was completed every call that
 * would start something answers E_CLOSING.
 */
#ifndef DETENT_HOST_H_
#define DETENT_HOST_H_

#include "detent/task.h"
#include "detent/threads.h"

DETENT_EXTERN_C_BEGIN

/* Log levels. HOST_MISBEHAVING is for a plugin that saw its host break a rule of rules.h. */
#define DETENT_LOG_TRACE 0
#define DETENT_LOG_DEBUG 1
#define DETENT_LOG_INFO 2
#define DETENT_LOG_WARN 3
#define DETENT_LOG_ERROR 4
#define DETENT_LOG_HOST_MISBEHAVING 5

/* One line of log. msg is a constant sentence, <= 8 KiB; what varies goes into fields, a JSON
 * object ({"url":"...","status":503}) or empty. task 0: not about one task. Never log a secret. */
typedef struct detent_log {
  uint32_t size;
  int32_t level; /* DETENT_LOG_* */
  detent_task task;
  detent_str msg;
  detent_bytes fields;
} detent_log;

/* Clocks for now_ns. */
#define DETENT_CLOCK_WALL 0u      /* since 1970-01-01 UTC; may jump */
#define DETENT_CLOCK_MONOTONIC 1u /* of one life; never goes back, nor stands still */

/* What an instance found out about its backend (health). */
#define DETENT_HEALTH_UNDETECTED 0u /* the backend is not there: no CRD, no tool */
#define DETENT_HEALTH_UNHEALTHY 1u  /* there, but not usable now */
#define DETENT_HEALTH_HEALTHY 2u

/* Work for a pool thread. [offload] */
typedef void (*detent_work)(void* ctx);

typedef struct detent_host {
  uint32_t size;
  uint16_t abi_major;
  uint16_t abi_minor;

  /* The table of a service ("detent.json/1"), NULL if this host does not have it. `id` is a C
   * string, compared whole. Local and cheap; the answer never changes within a process, so ask
   * once in create. inst 0 is allowed for detent.json/1 and detent.expr/1. */
  const void* (*service)(detent_instance inst, const char* id);

  /* Writes a line to the host's log. Over 200 lines/s (burst 1000) they are dropped, counted. */
  void (*log)(detent_instance inst, const detent_log* line);

  /* The time of DETENT_CLOCK_*, in nanoseconds. Virtual under `detent plugin check`: a plugin that
   * asks the system instead cannot be checked. An unknown clock answers 0. */
  int64_t (*now_ns)(detent_instance inst, uint32_t clock);

  /* Completes an op that the host gave to the executor. Exactly once for each op, from any thread,
   * also before the call that brought it returns. A second completion is E_STALE and is counted
   * against the plugin (D-OP-1). result.body stays the plugin's (status.h). */
  detent_status (*op_complete)(detent_instance inst, detent_op op, const detent_result* result);

  /* Says that a long op lives: 0 to 1000 permille, and a note or NULL. Extends the op's patience,
   * not its deadline. Merged at will. */
  detent_status (*op_progress)(detent_instance inst, detent_op op, uint32_t permille,
                               const detent_str* note);

  /* Reports how a task goes (task.h). Saying the same twice is harmless: an update whose seq is not
   * higher than the last, and any update after TERMINATED, is dropped and answered OK. E_INVALID:
   * an unknown phase or result, a result without TERMINATED or TERMINATED without a result, bad
   * UTF-8, output or extra that is no JSON. E_TOO_LARGE: a limit of task.h, except that reason and
   * message are cut instead. E_CLOSING: after close was entered, TERMINATED is not recorded; the
   * task is recovered later. Allowed from within start on, before its op is completed. */
  detent_status (*task_update)(detent_instance inst, detent_task task,
                               const detent_task_status* status);

  /* Ties the plugin's own pointer to the task; it is handed back as `user` in observe, kill,
   * force_delete, release and detach. NULL until bound. Binding again replaces it. The host never
   * looks at it; the plugin frees it in release and detach. On the strand only takes effect at
   * once; from elsewhere with the next turn. */
  detent_status (*task_bind)(detent_instance inst, detent_task task, void* user);

  /* Makes `blob` the task's durable state; the last one wins. cb (may be NULL) runs when it is on
   * stable storage, with OK, or with the error that prevented it: E_FENCED, E_UNAVAILABLE,
   * E_CANCELLED when a later checkpoint overtook it before it was written (the later one's callback
   * tells), E_CLOSING. Call it before an effect that must not be repeated, and have the effect in
   * the callback. Immediate: E_TOO_LARGE over 16 KiB; E_UNSUPPORTED for an executor with
   * DETENT_CAP_BACKEND_RECORD, of whose tasks the backend's object is the only record. */
  detent_status (*task_checkpoint)(detent_instance inst, detent_task task, const detent_blob* blob,
                                   detent_cb cb, void* ctx);

  /* Calls cb once after delay_ns (0: in a later turn), with OK. Not early; late by the resolution
   * of the host's wheel (<= 10 ms) and by its load. E_BUSY: over 1000 + 4 for each live task. */
  detent_status (*timer_start)(detent_instance inst, uint64_t delay_ns, detent_cb cb, void* ctx,
                               detent_timer* out);

  /* Ends a timer early: its callback still runs once, in a later turn, with E_CANCELLED (free ctx
   * there). On the strand that holds for a timer that is due but has not been called yet, too.
   * E_STALE: its callback has run, or is running. Harmless twice. */
  detent_status (*timer_cancel)(detent_instance inst, detent_timer timer);

  /* Calls cb on the strand in a later turn, with OK, or E_CLOSING if the instance closed before.
   * The way from a foreign thread to the strand. Posts of one thread keep their order. */
  detent_status (*post)(detent_instance inst, detent_cb cb, void* ctx);

  /* Calls work [offload], then done on the strand. done has OK; or E_CLOSING, after work has
   * returned or instead of it. E_BUSY: over 16 in flight. work cannot be cancelled: keep it short
   * of a few seconds, close waits for it. */
  detent_status (*offload)(detent_instance inst, detent_work work, detent_cb done, void* ctx);

  /* What is known about the backend: state DETENT_HEALTH_*, why (or NULL), attrs a JSON object of
   * strings (or NULL) such as {"argo.version":"3.6"}. A level: the last one holds. The first within
   * 10 s of open, else the host reports the instance as unresponsive. Without any, it counts as
   * HEALTHY once open was completed with OK. */
  detent_status (*health)(detent_instance inst, uint32_t state, const detent_str* why,
                          const detent_bytes* attrs);

  /* A read-only copy of bytes, with one reference that the caller owns. 0: out of memory, or over
   * 32 MiB. inst 0 is allowed in [pure] calls. */
  detent_buf (*buf_new)(detent_instance inst, const detent_bytes* bytes);
  /* The bytes of buf, valid while the caller holds a reference or was lent one by a callback. */
  detent_status (*buf_view)(detent_buf buf, detent_bytes* out);
  /* One reference more, one less. buf 0 does nothing. Leaks are reported at close. */
  void (*buf_retain)(detent_buf buf);
  void (*buf_release)(detent_buf buf);

  /* Adds one finding to a sink: severity DETENT_DIAG_*, the place as RFC 6901 JSON pointer into the
   * document ("" = the whole), a CamelCase reason, a sentence, and a hint or NULL ("did you mean
   * `image`?"). From the 101st on they are counted only. The sink is used by one thread. */
  void (*diag_add)(detent_diag* diag, uint32_t severity, const detent_str* json_pointer,
                   const detent_str* reason, const detent_str* message, const detent_str* hint);

  /* DETENT_ON_*: what the calling thread is for this instance. */
  uint32_t (*where)(detent_instance inst);
} detent_host;

DETENT_EXTERN_C_END

#endif /* DETENT_HOST_H_ */
