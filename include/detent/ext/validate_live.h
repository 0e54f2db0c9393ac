/* detent/ext/validate_live.h: executor extension: check a spec against the world as it is.
 *
 * Returned by detent_executor.extension("detent.validate_live/1"). Where `validate` is pure, this
 * one may look: does the CRD exist, may we create that resource, does the image pull secret
 * exist. Findings are warnings to the user whatever their severity, because the world may be
 * different by the time the Job runs; unless the instance's config wants refusals, which the answer
 * says by DETENT_VALIDATE_LIVE_REFUSES.
 *
 * The host asks where an object is written, by a user who waits: on creation, and when the spec
 * changes. It does not ask an instance that is not open or is being drained, unless the table says
 * DETENT_VALIDATE_LIVE_BEFORE_OPEN. Hosts before 0.3 leave this extension unused.
 */
#ifndef DETENT_EXT_VALIDATE_LIVE_H_
#define DETENT_EXT_VALIDATE_LIVE_H_

#include "detent/status.h"

DETENT_EXTERN_C_BEGIN

#define DETENT_EXT_VALIDATE_LIVE "detent.validate_live/1"

/* detent_result.flags of a check that answers OK (since 0.3) */
#define DETENT_VALIDATE_LIVE_REFUSES (1u << 0) /* findings of severity ERROR refuse the spec */

/* detent_validate_live.flags (since 0.3) */
/* check may come as soon as `create` has answered OK. A host that waits to lead answers for
 * admission as well, and opens nothing: it makes such an instance early, opens it once it leads, or
 * closes it without. What it sends meanwhile must change nothing (DETENT_KUBE_DRY_RUN). */
#define DETENT_VALIDATE_LIVE_BEFORE_OPEN (1u << 0)

typedef struct detent_validate_live {
  uint32_t size;
  uint32_t flags; /* DETENT_VALIDATE_LIVE_BEFORE_OPEN, or 0 */

  /* [strand] Checks spec (valid by `validate`, for use in that namespace). Changes nothing outside.
   * Findings go to diag, which is valid until op is completed; pointers are into spec. Deadline
   * 2 s. OK: looked, whatever was found. E_UNSUPPORTED: this instance never looks, by its config;
   * it is not asked again, and nothing is said. Any other error: not checked, and the spec is
   * accepted with a note that has the message. Again: harmless.
   * spec is filled in as for start, but with "1" as the value of each variable, for there is no
   * task yet. The host drops findings at a place that a variable is at or below; what is found in
   * the spec as a whole never refuses one that has variables. */
  void (*check)(void* self, detent_op op, const detent_str* namespace_, const detent_bytes* spec,
                detent_diag* diag);
} detent_validate_live;

DETENT_EXTERN_C_END

#endif /* DETENT_EXT_VALIDATE_LIVE_H_ */
