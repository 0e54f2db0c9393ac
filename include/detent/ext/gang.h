/* detent/ext/gang.h: executor extension and host service: a task that is many.
 *
 * A gang is one task with N members that start together or not at all. The task's own status goes
 * by task_update as always; this says how its members do, by counters and by those members only
 * that changed, because a gang of 10,000 must not be said again for each one of them.
 *
 * The same id names two tables: detent_gang_host, from detent_host.service, takes what the
 * executor reports; detent_gang, from detent_executor.extension, lets the host ask.
 *
 * A host may answer DETENT_E_UNSUPPORTED in ABI 0, or NULL from detent_host.service.
 */
#ifndef DETENT_EXT_GANG_H_
#define DETENT_EXT_GANG_H_

#include "detent/task.h"

DETENT_EXTERN_C_BEGIN

#define DETENT_EXT_GANG "detent.gang/1"

/* One member. index counts from 0 within the gang; role is the user's word ("worker"). */
typedef struct detent_gang_member {
  uint32_t size;
  uint32_t index;
  uint32_t phase;  /* DETENT_PHASE_* */
  uint32_t result; /* DETENT_RESULT_* */
  int32_t exit_code;
  uint32_t restarts;
  detent_str role;
  detent_str object_ref;
  detent_str reason;
} detent_gang_member;

/* What changed. The counters are of all members, the array only of changed ones.
 * seq rises like that of a task; an update out of date is dropped whole. */
typedef struct detent_gang_update {
  uint32_t size;
  uint32_t member_count; /* of the gang */
  uint64_t seq;
  uint32_t starting;
  uint32_t running;
  uint32_t succeeded;
  uint32_t failed;
  uint32_t scheduled; /* 0, or all: the gang was admitted as a whole */
  uint32_t changed_count;
  const detent_gang_member* const* changed;
} detent_gang_update;

typedef struct detent_gang_host {
  uint32_t size;
  uint32_t reserved; /* 0 */

  /* [any] Reports members. At most 1000 in one call (E_TOO_LARGE). After TERMINATED of the task
   * dropped. Idempotent by seq. */
  detent_status (*update)(detent_instance inst, detent_task task, const detent_gang_update* update);
} detent_gang_host;

typedef struct detent_gang {
  uint32_t size;
  uint32_t reserved; /* 0 */

  /* [strand] Report members [first, first + count) again by `update`, for a page that shows them;
   * then complete op with OK. E_NOT_FOUND: beyond the end. Again: harmless. */
  void (*report)(void* self, detent_op op, detent_task task, void* user, uint32_t first,
                 uint32_t count);
} detent_gang;

DETENT_EXTERN_C_END

#endif /* DETENT_EXT_GANG_H_ */
