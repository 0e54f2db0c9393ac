/* detent/services/kv.h: a few durable values that belong to an instance.
 *
 * For cursors and small caches that outlive the host, such as the resource version a sweep had
 * reached. Not for the state of tasks: that is detent_host.task_checkpoint. The values move with
 * the instance when it moves to another machine, as files in state_dir do not.
 *
 * A host may answer DETENT_E_UNSUPPORTED in ABI 0, or NULL from detent_host.service. All functions
 * are [any]; answers come on the strand, in the order of the calls. 64 keys for an instance, keys
 * <= 64 bytes of [A-Za-z0-9._-], values <= 4 KiB (E_TOO_LARGE).
 */
#ifndef DETENT_SERVICES_KV_H_
#define DETENT_SERVICES_KV_H_

#include "detent/status.h"

DETENT_EXTERN_C_BEGIN

#define DETENT_SVC_KV "detent.kv/1"

typedef struct detent_kv {
  uint32_t size;
  uint32_t reserved; /* 0 */

  /* The answer's body is the value; E_NOT_FOUND if there is none. Sees every put that was called
   * before it. */
  detent_status (*get)(detent_instance inst, const detent_str* key, detent_cb cb, void* ctx);

  /* Sets the value; OK in the answer means that it is on stable storage. The last one wins. cb may
   * be NULL. E_TOO_LARGE at once. E_FENCED, E_UNAVAILABLE, E_CLOSING in the answer. */
  detent_status (*put)(detent_instance inst, const detent_str* key, const detent_bytes* value,
                       detent_cb cb, void* ctx);

  /* Removes the key; OK too if it was not there. cb may be NULL. */
  detent_status (*remove)(detent_instance inst, const detent_str* key, detent_cb cb, void* ctx);
} detent_kv;

DETENT_EXTERN_C_END

#endif /* DETENT_SERVICES_KV_H_ */
