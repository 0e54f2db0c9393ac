/* detent/ext/permissions.h: executor extension: what an executor needs of a cluster.
 *
 * Returned by detent_executor.extension("detent.permissions/1"): constant, and valid as long as the
 * plugin is mapped. `detent install` makes a ClusterRole of it for the host's service account,
 * detent-executor-KIND, so that whoever does not use the kind takes the role away. The API server
 * enforces it, not the host. An executor that asks nothing of a cluster needs no extension. Read
 * without an instance, on any thread. Since 0.3.
 *
 * Source: Kubernetes documentation, "Using RBAC Authorization".
 */
#ifndef DETENT_EXT_PERMISSIONS_H_
#define DETENT_EXT_PERMISSIONS_H_

#include "detent/types.h"

DETENT_EXTERN_C_BEGIN

#define DETENT_EXT_PERMISSIONS "detent.permissions/1"

/* A rule: these verbs of one resource, in all namespaces. Frozen: it has no size to grow by. */
typedef struct detent_permission {
  detent_str gvr;   /* as in kube.h: "v1/pods", "v1/pods/log". RBAC has no versions. */
  detent_str verbs; /* of RBAC, separated by commas: "get,list,watch". "*" is refused. */
} detent_permission;

typedef struct detent_permissions {
  uint32_t size;
  uint32_t count; /* of items */
  const detent_permission* items;
} detent_permissions;

DETENT_EXTERN_C_END

#endif /* DETENT_EXT_PERMISSIONS_H_ */
