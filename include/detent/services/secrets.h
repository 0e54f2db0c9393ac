/* detent/services/secrets.h: use a secret without seeing it.
 *
 * A plugin names a secret and gets a handle at once. It puts the handle into a slot of a request
 * (detent_http_slot), and the host fills in the value while sending; the value is read anew each
 * time, so a rotated secret needs nothing. Only a plugin whose configuration grants `reveal` may
 * see the bytes. No secret may appear in a log, status, blob or metric (D-SEC-1).
 *
 * A host may answer DETENT_E_UNSUPPORTED in ABI 0, or NULL from detent_host.service. All functions
 * are [any].
 */
#ifndef DETENT_SERVICES_SECRETS_H_
#define DETENT_SERVICES_SECRETS_H_

#include "detent/status.h"

DETENT_EXTERN_C_BEGIN

#define DETENT_SVC_SECRETS "detent.secrets/1"

/* Which secret: for a Kubernetes Secret its namespace, name and key. Standalone: the host's own
 * store, under the same three words. Lent for the call. */
typedef struct detent_secret_ref {
  uint32_t size;
  uint32_t flags; /* none defined: 0 */
  detent_str namespace_;
  detent_str name;
  detent_str key;
} detent_secret_ref;

typedef struct detent_secrets {
  uint32_t size;
  uint32_t reserved; /* 0 */

  /* A handle for ref, for the work on `task` (whose namespace must be the secret's, else
   * E_DENIED). Whether the secret exists shows at its use: E_NOT_FOUND, reason SecretNotFound. At
   * most 4 for each live task + 64 (E_BUSY). Again: another handle to the same. */
  detent_status (*open)(detent_instance inst, detent_task task, const detent_secret_ref* ref,
                        detent_secret* out);

  /* Ends a handle; requests under way keep what they need. 0 and a second time: nothing. */
  void (*release)(detent_instance inst, detent_secret secret);

  /* Asks for the value: the answer's body holds it, in memory that is wiped when its last reference
   * ends. Each call is written to the audit log. E_DENIED unless the configuration grants it;
   * E_NOT_FOUND; E_UNAVAILABLE. */
  detent_status (*reveal)(detent_instance inst, detent_secret secret, detent_cb cb, void* ctx);
} detent_secrets;

DETENT_EXTERN_C_END

#endif /* DETENT_SERVICES_SECRETS_H_ */
