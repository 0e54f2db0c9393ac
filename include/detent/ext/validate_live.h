/* detent/ext/validate_live.h: executor extension: check a spec against the world as it is.
 *
 * Returned by detent_executor.extension("detent.validate_live/1"). Where `validate` is pure, this
 * one may look: does the CRD exist, may we create that resource, does the image pull secret
 * exist. Findings are warnings to the user whatever their severity, because the world may be
 * different by the time the Job runs.
 *
 * A host may leave this extension unused in ABI 0.
 */
#ifndef DETENT_EXT_VALIDATE_LIVE_H_
#define DETENT_EXT_VALIDATE_LIVE_H_

#include "detent/status.h"

DETENT_EXTERN_C_BEGIN

#define DETENT_EXT_VALIDATE_LIVE "detent.validate_live/1"

typedef struct detent_validate_live {
  uint32_t size;
  uint32_t reserved; /* 0 */

  /* [strand] Checks spec (valid by `validate`, for use in that namespace). Changes nothing outside.
   * Findings go to diag, which is valid until op is completed. Deadline 2 s. OK: looked, whatever
   * was found. Any error: not checked, and the spec is accepted with a note. Again: harmless. */
  void (*check)(void* self, detent_op op, const detent_str* namespace_, const detent_bytes* spec,
                detent_diag* diag);
} detent_validate_live;

DETENT_EXTERN_C_END

#endif /* DETENT_EXT_VALIDATE_LIVE_H_ */
