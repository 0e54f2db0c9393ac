/* detent/task.h: what a task is at the border: what to run, how it goes, how it ends.
 *
 * A task is one attempt at one index of a Job. Its identity is the text `key`, derived by the host
 * from (Job UID, index, attempt): the same attempt has the same key in every life of the host, so
 * starting it twice is harmless and counting it twice is impossible. An executor derives the name
 * of whatever it creates from `name` or `key`, and nothing else.
 *
 * Status is a level, not an edge: each update is the full picture, and a newer one replaces an
 * older one. Updates may be merged on their way; what matters is the last.
 */
#ifndef DETENT_TASK_H_
#define DETENT_TASK_H_

#include "detent/status.h"

DETENT_EXTERN_C_BEGIN

/* Phases, in their only order; KILLING may be skipped, and so may STARTING and RUNNING when a task
 * is over before anybody looked. A phase never goes back, but UNKNOWN may come at any time before
 * the end; TERMINATED is final, later updates are dropped. */
#define DETENT_PHASE_UNKNOWN 0u    /* not known at the moment; never a reason to kill or restart */
#define DETENT_PHASE_STARTING 1u   /* accepted; queued, pulling, connecting */
#define DETENT_PHASE_RUNNING 2u    /* doing its work */
#define DETENT_PHASE_KILLING 3u    /* asked to stop, not yet known to have stopped */
#define DETENT_PHASE_TERMINATED 4u /* over; result is set */

/* Results; other than NONE only with DETENT_PHASE_TERMINATED. */
#define DETENT_RESULT_NONE 0u
#define DETENT_RESULT_SUCCEEDED 1u
#define DETENT_RESULT_FAILED 2u /* it ran, or was refused, and did not do its work */
#define DETENT_RESULT_KILLED 3u /* it ended because of kill or force_delete */
#define DETENT_RESULT_LOST 4u   /* whether it did its work cannot be known */

/* detent_task_status.flags */
/* This attempt, lost or failed, may be repeated without harm: no effect took place, or its effects
 * are idempotent. The only thing that makes the host repeat a LOST task by itself. */
#define DETENT_TASK_RERUN_SAFE (1u << 0)
/* No further attempt can help: a bad spec, refused by policy. */
#define DETENT_TASK_NEVER_RETRY (1u << 1)
/* `output` is not all of it. */
#define DETENT_TASK_OUTPUT_TRUNCATED (1u << 2)
/* A process or container ended, and `exit_code` is its: 0 is an exit code then, not its absence. */
#define DETENT_TASK_EXITED (1u << 3)

/* How a task goes, as the plugin says it by detent_host.task_update.
 *
 * seq         rises with each update of one handle, whatever happens in between; an update whose
 *             seq is not higher than the last one is dropped as out of date. Begins at 1.
 * *_ns        wall clock, nanoseconds since 1970-01-01 UTC, 0 = unknown. The time at which it
 *             happened as the backend says, not the time at which the plugin heard of it.
 * exit_code   of a process or container (DETENT_TASK_EXITED), else 0; -1 when `signal` ended it.
 * signal      number of the signal that ended it, else 0.
 * reason      CamelCase, <= 64 bytes ("OOMKilled", "UnexpectedStatus").
 * message     <= 1 KiB, for people.
 * object_ref  <= 512 bytes: the handle, the executor's own name for the task ("default/hello-0-1",
 *             "pid 4711"). Kept in the task's record, shown to users, never interpreted.
 * output      the task's result: one JSON value, <= 64 KiB, kept in the task's record and readable
 *             by later tasks. Only with TERMINATED. Empty: none.
 * extra       JSON object, <= 4 KiB: details for people (timings, node, http status). Kept in the
 *             task's record like object_ref, and replaced by the next update like all the rest.
 */
typedef struct detent_task_status {
  uint32_t size;
  uint32_t phase;  /* DETENT_PHASE_* */
  uint32_t result; /* DETENT_RESULT_* */
  uint32_t flags;  /* DETENT_TASK_* */
  uint64_t seq;
  int64_t created_ns;
  int64_t running_ns;
  int64_t finished_ns;
  int32_t exit_code;
  int32_t signal;
  detent_str reason;
  detent_str message;
  detent_str object_ref;
  detent_bytes output;
  detent_bytes extra;
} detent_task_status;

/* What the plugin wants to know again after a restart; opaque to the host, kept durably with the
 * task by detent_host.task_checkpoint. <= 16 KiB, no secrets, the same bytes for the same state.
 * A plugin reads every state_version in [state_min_version, state_version] of its executor table,
 * and any bytes at all without crashing. */
typedef struct detent_blob {
  uint32_t size;
  uint32_t state_version;
  detent_bytes data;
} detent_blob;

/* detent_task_ref.flags */
#define DETENT_REF_MAYBE_STARTED (1u << 0) /* start: an earlier start of this key may have run */
#define DETENT_REF_START_ACKED (1u << 1)   /* recover: start had been completed with DETENT_OK */
#define DETENT_REF_KILL_ASKED (1u << 2)    /* a kill was asked for earlier; it will come again */

/* What to run, lent for the call to start or recover.
 *
 * task         the handle to use in host calls, until release or detach.
 * key          stable identity, [a-z0-9.-], <= 128 bytes, the same in every life. Use it as
 *              idempotency key towards the backend.
 * name         DNS-1123 label, <= 63 bytes, derived from the key: for the backend's object.
 * namespace_   the Job's namespace, a DNS-1123 label.
 * spec         JSON object: the executor's own part of the task template (what stands under the
 *              field `pod`, `http`, ...). Valid by `validate`, all ${...} already substituted,
 *              defaults of the schema not applied. <= 1 MiB.
 * blob         the last durable checkpoint, or NULL.
 * last_phase   the last phase the host has recorded, DETENT_PHASE_UNKNOWN on the first start.
 * deadline_ns  wall clock at which the host will kill the task, 0 = none. For information: the host
 *              keeps the time, the executor need not.
 * attempt      counted from 1.     index  the parallel index, counted from 0.
 * job_*        the Job the task belongs to; for labels, owner references and messages.
 */
typedef struct detent_task_ref {
  uint32_t size;
  uint32_t attempt;
  detent_task task;
  detent_str key;
  detent_str name;
  detent_str namespace_;
  detent_bytes spec;
  const detent_blob* blob;
  uint32_t last_phase;
  uint32_t flags; /* DETENT_REF_* */
  int64_t deadline_ns;
  uint64_t index;
  detent_str job_name;
  detent_str job_uid;
} detent_task_ref;

/* How to kill. */
#define DETENT_KILL_GRACEFUL 0u  /* ask, and end it by force after grace_ns */
#define DETENT_KILL_IMMEDIATE 1u /* no grace */
typedef struct detent_kill {
  uint32_t size;
  uint32_t mode;     /* DETENT_KILL_* */
  uint64_t grace_ns; /* 0 with GRACEFUL: the executor's own default */
  detent_str reason; /* why: "UserRequested", "DeadlineExceeded", "JobDeleted", ... */
} detent_kill;

/* The six answers to recover, as detent_result.code, and what the host does. A negative code is
 * taken as RETRY_LATER: an error is never a reason to kill or to start again.
 *
 *   ADOPTED       found, and followed from here on; updates come.       -> goes on.
 *   TERMINATED    ended while nobody looked; a TERMINATED update was sent before this answer.
 *                 -> records it, then release.
 *   NOT_FOUND     certain: it never started, or is fully gone without a trace.
 *                 -> if only the intent was recorded: start, MAYBE_STARTED, on the same handle.
 *                    If it had been seen alive: result LOST, reason ObjectGone, then release.
 *   LOST          it lived in memory that is gone, its effect cannot be known.
 *                 -> result LOST; repeated if a TASK_RERUN_SAFE update preceded this answer or the
 *                    Job says its tasks are idempotent; release.
 *   RETRY_LATER   cannot tell now. -> the task keeps its last state; recover again after
 *                    retry_after_ms, or a backoff from 1 s to 5 min. Never kills, never starts.
 *   INCOMPATIBLE  the blob is of a version this plugin cannot read.
 *                 -> held with condition StateVersionUnreadable until another version is loaded.
 */
#define DETENT_ADOPTED 0
#define DETENT_TERMINATED 1
#define DETENT_NOT_FOUND 2
#define DETENT_LOST 3
#define DETENT_RETRY_LATER 4
#define DETENT_INCOMPATIBLE 5

DETENT_EXTERN_C_END

#endif /* DETENT_TASK_H_ */
