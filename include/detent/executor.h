/* detent/executor.h: what a plugin is asked to do. The heart of the border.
 *
 * An executor carries out the tasks of one kind. Its table is static and immutable; each entry of
 * the host's configuration that names the kind makes one instance of it.
 *
 * The order of calls on one instance, as a regular expression (the host keeps it, D-LIFE-1):
 *
 *   create open ( reconfigure | cancel | TASK )* drain? close detach* destroy
 *
 * and for one task, where `:x` is the completion of the op with code x:
 *
 *   TASK   = ( start | recover )  FOLLOW*  ( release | detach )
 *   FOLLOW = observe | kill | force_delete
 *          | recover      after recover:RETRY_LATER, after a start whose effect is unknown, or
 *                         when the task's state is in doubt
 *          | start        after start:E_BUSY and start:E_UNAVAILABLE, and after recover:NOT_FOUND
 *                         of a task that was never seen alive
 *
 * kill and force_delete may come while start or recover is still open. Nothing but `release` or
 * `detach` ends a task for the plugin, and exactly one of the two comes for each handle, after the
 * last of its ops was completed. If create fails, no further call comes; an instance whose open
 * fails gets close and destroy, and is tried again later as a new instance. One that checks specs
 * before it is open (ext/validate_live.h) may never be opened: `create cancel* close destroy`.
 *
 * Slots. `create`, `open`, `close`, `destroy`, `start` and `kill` must be filled. Any other may be
 * NULL; the comment says what the host does then. Ops: each call with a detent_op is answered
 * through detent_host.op_complete exactly once, inline or later. The host waits for an op until
 * its deadline (defaults: open 30 s, start 60 s, recover 60 s, observe 30 s, kill 60 s,
 * force_delete 60 s, drain 10 s, close 10 s), then calls `cancel`, and the plugin still completes.
 */
#ifndef DETENT_EXECUTOR_H_
#define DETENT_EXECUTOR_H_

#include "detent/host.h"

DETENT_EXTERN_C_BEGIN

/* detent_executor.caps: what the host may rely on. */
#define DETENT_CAP_TASK_STRANDS (1u << 0)     /* calls of different tasks may overlap (D-THR-2) */
#define DETENT_CAP_KILL_GRACEFUL (1u << 1)    /* grace_ns is honoured */
#define DETENT_CAP_IN_PROCESS_TASKS (1u << 2) /* a task dies with the plugin's process */
#define DETENT_CAP_NEEDS_NET (1u << 3)        /* opens sockets of its own, besides detent.http/1 */
#define DETENT_CAP_BACKEND_RECORD (1u << 4)   /* the backend's object is the record (Pod, CR) */

/* detent_executor.schema: which document. */
#define DETENT_SCHEMA_SPEC 0u   /* of a task's spec */
#define DETENT_SCHEMA_CONFIG 1u /* of the instance's `config` in the host's configuration */

/* detent_instance_info.mode. For information: nothing may depend on it. */
#define DETENT_MODE_IN_PROCESS 0u
#define DETENT_MODE_CHILD 1u
#define DETENT_MODE_CHECK 2u /* under `detent plugin check`: time is virtual */

/* What an instance is told about itself, lent for create.
 * name       its name in the configuration, unique in the host; [a-z0-9-], for logs and metrics.
 * kind       the kind it serves (detent_executor.kind).
 * state_dir  absolute path of a directory of its own: it exists, has mode 0700, belongs to the
 *            user the plugin runs as, outlives host and plugin, and is never used by two instances
 *            at a time. The plugin cleans up in it; the host removes it with the configuration.
 * config     JSON object, valid by the config schema; empty means {}. */
typedef struct detent_instance_info {
  uint32_t size;
  uint32_t mode;
  detent_str name;
  detent_str kind;
  detent_str state_dir;
  detent_bytes config;
} detent_instance_info;

/* Input of substitute: the spec and the variables, both JSON objects. */
typedef struct detent_subst {
  uint32_t size;
  uint32_t flags; /* none defined yet */
  detent_bytes spec;
  detent_bytes vars;
} detent_subst;

typedef struct detent_executor {
  uint32_t size;
  uint32_t caps;              /* DETENT_CAP_* */
  detent_str kind;            /* [a-z][A-Za-z0-9]*, <= 32: the field in taskTemplate */
  uint32_t state_version;     /* of the blobs this plugin writes; counted from 1 */
  uint32_t state_min_version; /* the oldest it can read */

  /* [pure] Puts the JSON Schema (2020-12, <= 256 KiB) of DETENT_SCHEMA_* into *out, with one
   * reference for the caller. E_UNSUPPORTED: none for this document, and anything goes.
   * NULL: none at all. */
  detent_status (*schema)(const detent_host* host, uint32_t which, detent_buf* out);

  /* [pure] Checks a spec, before any Job exists; ${...} may still stand in any string. All findings
   * go to diag. OK: no finding of severity ERROR. E_INVALID: at least one. Other statuses: the spec
   * could not be checked, it is refused with that. NULL: every JSON object is valid. */
  detent_status (*validate)(const detent_host* host, const detent_bytes* spec, detent_diag* diag);

  /* [pure] Expands a syntax of the plugin's own (the host has expanded ${...}); must leave foreign
   * delimiters alone, and give the same when applied twice. *out: the new spec. NULL: none.
   * Optional for the host: the hosts of ABI 0 do not call it, so the plugin expands in start. */
  detent_status (*substitute)(const detent_host* host, const detent_subst* input, detent_buf* out,
                              detent_diag* diag);

  /* [strand] Makes an instance: reads the config, keeps `inst`, allocates. No I/O and no thread yet
   * (that is open's). OK with *self set (NULL is allowed), or a status with findings in diag
   * (pointers into the config), and then nothing is left allocated. */
  detent_status (*create)(const detent_host* host, detent_instance inst,
                          const detent_instance_info* info, void** self, detent_diag* diag);

  /* [strand] Gets ready for tasks. May be long: connect, discover, look into state_dir. */
  void (*open)(void* self, detent_op op);

  /* [strand] New config for a running instance. All or nothing: on any error the old one holds, and
   * running tasks go on either way. NULL: the host makes a new instance instead.
   * Optional for the host: those of ABI 0 read the config once and always make a new instance. */
  void (*reconfigure)(void* self, detent_op op, const detent_bytes* config);

  /* [strand] The tasks will move to another instance, made by a reload or by the host's next life:
   * write the checkpoints that matter. deadline_ns is wall clock. Comes once, before close, of an
   * instance whose open succeeded; nothing is started any more. Close follows whatever the answer.
   * Tasks stay until detach. NULL: nothing to do. */
  void (*drain)(void* self, detent_op op, int64_t deadline_ns);

  /* [strand] The end of the instance, not of its tasks: leaves everything outside running as it
   * is, stops own threads, then completes. From here on terminal updates are not recorded. Once
   * completed, whatever is still open is answered with E_CLOSING: callbacks first, then detach for
   * each live task, then destroy. */
  void (*close)(void* self, detent_op op);

  /* [strand] Frees self. No host call but log and buf_release. Never on a stack of the plugin. */
  void (*destroy)(void* self);

  /* [strand] Starts ref's task. The intent is durable before this call.
   * Again: must be harmless. Start is idempotent on ref->key: if an object of that identity exists
   * and is ours, adopt it; if it exists and is not ours, fail with E_ALREADY_EXISTS, NameTaken.
   * A backend that cannot tell (a plain HTTP POST) calls task_checkpoint first, and acts in its
   * callback; with ref->blob and MAYBE_STARTED it then knows that it may have acted.
   * OK: accepted; how it goes comes by task_update. E_INVALID, E_DENIED, E_UNSUPPORTED,
   * E_ALREADY_EXISTS: this attempt has failed with that reason, nothing runs; release follows.
   * E_BUSY, E_UNAVAILABLE: not now, nothing runs; started again later under the same key.
   * Any other status: unknown whether it runs; `recover` decides. */
  void (*start)(void* self, detent_op op, const detent_task_ref* ref);

  /* [strand] Finds a task again after a restart, a crash, an upgrade, or when its state is in
   * doubt. Looks at the backend itself, never at a cache that may be cold. Never starts anything.
   * Again: same answer while nothing changed; also for a task this instance follows already.
   * Answers: DETENT_ADOPTED ... DETENT_INCOMPATIBLE (task.h). NULL: every task is LOST. */
  void (*recover)(void* self, detent_op op, const detent_task_ref* ref);

  /* [strand] Look now, and send an update if it differs. Sent as a resync every 10 min, spread.
   * OK: looked. Errors change nothing. NULL: updates are always up to date. */
  void (*observe)(void* self, detent_op op, detent_task task, void* user);

  /* [strand] Stop the task. Completing means: asked, not ended; the end comes as a TERMINATED
   * update (KILLED, or what it was if it ended by itself first). Allowed while start is open: then
   * nothing may be left running once both are completed.
   * Again: harmless; IMMEDIATE after GRACEFUL shortens the grace, never the other way round.
   * OK. E_NOT_FOUND: there is nothing (more); success too. If no TERMINATED update came the host
   * records LOST, ObjectGone. E_UNAVAILABLE, E_BUSY: asked again with a backoff. */
  void (*kill)(void* self, detent_op op, detent_task task, void* user, const detent_kill* how);

  /* [strand] kill did not end it in time: remove whatever can be removed with no grace, stop
   * waiting, and send TERMINATED with what is known. Never called if the Job forbids it.
   * OK or E_NOT_FOUND: no longer held; if no TERMINATED update came the host records KILLED,
   * ForceDeleted, with the remark that it may still be running. Again: harmless.
   * NULL: kill with IMMEDIATE is sent, and the task stays until it ends. */
  void (*force_delete)(void* self, detent_op op, detent_task task, void* user);

  /* [strand] Let go: the outcome is durable in the host, or the task never ran. Take off the
   * finalizer, drop the response, delete the state on disk, free `user`. The handle ends with the
   * return of this call; effects outside are finished in the plugin's own time, and are repeated by
   * the plugin until they succeed. After a host crash the task may come back by recover: answer
   * what is still known (TERMINATED, or NOT_FOUND once all is gone), and be released again.
   * Logs stay readable until discard (ext/logs.h). NULL: nothing to let go. */
  void (*release)(void* self, detent_task task, void* user);

  /* [strand] Let go of memory only: the task lives on, and another instance, generation or life of
   * the host will recover it. Free `user`, cancel its timers; no effect outside. NULL: nothing. */
  void (*detach)(void* self, detent_task task, void* user);

  /* [strand] The host no longer wants to wait for op (which is not yet completed). The plugin
   * completes it soon, with E_CANCELLED or with what really happened. This is about the op, not
   * the task. NULL: ignored. */
  void (*cancel)(void* self, detent_op op);

  /* [pure] The table of an extension ("detent.logs/1"), NULL if not provided; compared whole.
   * Static. NULL: no extensions. */
  const void* (*extension)(const char* id);
} detent_executor;

DETENT_EXTERN_C_END

#endif /* DETENT_EXECUTOR_H_ */
