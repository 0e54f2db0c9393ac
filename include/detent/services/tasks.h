/* detent/services/tasks.h: a task that makes further tasks, and the values between them.
 *
 * Dynamic work: while a task runs, its executor may create Task objects beside it, and read or
 * write TaskObjects: immutable values that are futures until their writer has finished. The host
 * admits and runs children like all other tasks; the parent may be configured to wait for them.
 *
 * A host may answer DETENT_E_UNSUPPORTED in ABI 0, or NULL from detent_host.service. All functions
 * are [any]; answers come on the strand. 1000 children in one call, values <= 1 MiB (E_TOO_LARGE).
 */
#ifndef DETENT_SERVICES_TASKS_H_
#define DETENT_SERVICES_TASKS_H_

#include "detent/status.h"

DETENT_EXTERN_C_BEGIN

#define DETENT_SVC_TASKS "detent.tasks/1"

/* One child, lent for the call.
 * name    of the Task object; DNS-1123, <= 63 bytes; unique in the namespace.
 * spec    JSON object: the Task's spec, as a user would write it. */
typedef struct detent_child {
  uint32_t size;
  uint32_t flags; /* none defined: 0 */
  detent_str name;
  detent_bytes spec;
} detent_child;

typedef struct detent_tasks {
  uint32_t size;
  uint32_t count_max; /* of children in one call */

  /* Creates children of `parent`, all or none, durably; the answer says OK after that. Idempotent
   * by name: a child of that name, parent and spec is left as it is; of another parent or spec:
   * E_ALREADY_EXISTS, NameTaken, none is made. E_INVALID: a spec, with the finding in message.
   * E_STALE: parent has ended. E_FENCED. */
  detent_status (*create)(detent_instance inst, detent_task parent,
                          const detent_child* const* children, uint32_t count, detent_cb cb,
                          void* ctx);

  /* The value of a TaskObject in parent's namespace: body is its JSON, when there is one. Waits for
   * the writer up to timeout_ms (0: does not wait), else E_DEADLINE. E_NOT_FOUND: no such object.
   * E_UNAVAILABLE, reason WriterFailed: it will never have a value. */
  detent_status (*read_object)(detent_instance inst, detent_task parent, const detent_str* name,
                               uint32_t timeout_ms, detent_cb cb, void* ctx);

  /* Gives a TaskObject its value, once and for all. Again with the same bytes: OK. With others:
   * E_ALREADY_EXISTS. */
  detent_status (*write_object)(detent_instance inst, detent_task parent, const detent_str* name,
                                const detent_bytes* value, detent_cb cb, void* ctx);
} detent_tasks;

DETENT_EXTERN_C_END

#endif /* DETENT_SERVICES_TASKS_H_ */
