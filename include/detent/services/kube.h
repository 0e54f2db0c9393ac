/* detent/services/kube.h: Kubernetes through the host.
 *
 * The host holds the credentials, TLS, flow control, retries of reads, the field manager, and the
 * fencing of a host that does not lead any more: its change is not sent and answers E_FENCED, or
 * E_UNAVAILABLE where an earlier try of it was sent. Reads go on.
 * So a plugin needs no client of its own, and must not have one (D-NET-1).
 *
 * A host may answer DETENT_E_UNSUPPORTED in ABI 0, or NULL from detent_host.service when it has no
 * cluster at all. All functions are [any]; answers come as detent_result on the strand.
 * Limits: 64 requests in flight for an instance (E_BUSY), 3 MiB out, 32 MiB in (E_TOO_LARGE).
 */
#ifndef DETENT_SERVICES_KUBE_H_
#define DETENT_SERVICES_KUBE_H_

#include "detent/status.h"

DETENT_EXTERN_C_BEGIN

#define DETENT_SVC_KUBE "detent.kube/1"

/* Verbs. */
#define DETENT_KUBE_GET 1u
#define DETENT_KUBE_LIST 2u
#define DETENT_KUBE_CREATE 3u
#define DETENT_KUBE_UPDATE 4u
#define DETENT_KUBE_PATCH 5u
#define DETENT_KUBE_DELETE 6u
#define DETENT_KUBE_DELETE_COLLECTION 7u

/* detent_kube_request.flags */
#define DETENT_KUBE_DRY_RUN (1u << 0)    /* ask the server to check only */
#define DETENT_KUBE_IDEMPOTENT (1u << 1) /* may be repeated by the host when the reply was lost */
#define DETENT_KUBE_METADATA (1u << 2)   /* answer with PartialObjectMetadata */

/* Lent for the call.
 * gvr           "v1/pods", "argoproj.io/v1alpha1/workflows"; a sub-resource follows the plural:
 *               "v1/pods/status".
 * name          of the object. Empty for LIST and DELETE_COLLECTION, and for CREATE, whose object
 *               says it itself; a sub-resource is created under its object's name.
 * query         raw query string without "?" ("labelSelector=a%3Db&limit=500"). With watch= the
 *               request is E_UNSUPPORTED: detent.watch/1 is for that.
 * content_type  of the body; empty: application/json. A PATCH must say it (else E_INVALID), for it
 *               selects the kind of patch: "application/merge-patch+json".
 * body          JSON or whatever content_type says; DELETE takes DeleteOptions.
 * task          the task this is done for, or 0. On CREATE the host adds the tracking marks: the
 *               task's and the Job's labels, the tracking label and finalizer, and the Job as the
 *               controller where the Job is an object of the same cluster. */
typedef struct detent_kube_request {
  uint32_t size;
  uint32_t verb; /* DETENT_KUBE_* */
  detent_str gvr;
  detent_str namespace_;
  detent_str name;
  detent_str query;
  detent_str content_type;
  detent_bytes body;
  detent_task task;
  uint32_t flags;      /* DETENT_KUBE_* */
  uint32_t timeout_ms; /* 0 = 30 s */
} detent_kube_request;

/* detent_kube_object.flags */
#define DETENT_KUBE_REMOVE (1u << 0) /* let_go: delete it as well, with no grace */
/* let_go: it has ended, and nobody applies to it any more, so its metadata.managedFields go in the
 * same patch. That spares the server a third of the patch, and whoever keeps the object two
 * fifths of a small Pod. Since 0.3. */
#define DETENT_KUBE_ENDED (1u << 1)

/* One object that exists, lent for the call. uid empty: whatever has the name. */
typedef struct detent_kube_object {
  uint32_t size;
  uint32_t flags; /* DETENT_KUBE_REMOVE, DETENT_KUBE_ENDED */
  detent_str gvr;
  detent_str namespace_;
  detent_str name;
  detent_str uid;
} detent_kube_object;

typedef struct detent_kube {
  uint32_t size;
  uint32_t reserved; /* 0 */

  /* One request. The answer: OK with the object or list in body; or E_NOT_FOUND (404, 410),
   * E_ALREADY_EXISTS (409 on create), E_CONFLICT (409 else), E_INVALID (400, 422), E_DENIED (401,
   * 403), E_BUSY (429 after the host's patience, with retry_after_ms), E_UNAVAILABLE (5xx, no
   * connection), E_DEADLINE, E_FENCED, E_CANCELLED, E_CLOSING; always with http_status, reason and
   * message of the server's Status. Since 0.3 the body of an error is what the server sent with it,
   * a Status as JSON whose details.causes name fields; empty: nothing, or over 64 KiB.
   * Not idempotent by itself. *out may be NULL. */
  detent_status (*request)(detent_instance inst, const detent_kube_request* request, detent_cb cb,
                           void* ctx, detent_op* out);

  /* Create or adopt: makes `start` idempotent in one line. request is a CREATE with task set. When
   * the name is taken the host reads the object back with a quorum read: it carries this task's key
   * and owner => OK with that object and value = 1 (adopted); otherwise E_ALREADY_EXISTS,
   * NameTaken, and the object is left alone. Again: the same object. METADATA is for what is
   * created: an object that is adopted has a past, and is answered whole. With DRY_RUN it is
   * E_UNSUPPORTED at once: what is only checked is not there afterwards. */
  detent_status (*ensure)(detent_instance inst, const detent_kube_request* request, detent_cb cb,
                          void* ctx, detent_op* out);

  /* The counterpart of ensure, for `release`: takes the tracking label and finalizer off, in one
   * patch that leaves the rest as it is, and so ends the host's interest in the object. What is
   * gone, or has another uid, is let go already: OK. The host repeats it until it succeeds or the
   * instance closes; what is left then is let go by the next life, for the outcome is recorded. cb
   * may be NULL. Not counted among the requests in flight. */
  detent_status (*let_go)(detent_instance inst, const detent_kube_object* object, detent_cb cb,
                          void* ctx);

  /* Stop waiting. The callback still comes once. What was sent may have had effect. */
  detent_status (*cancel)(detent_instance inst, detent_op request);

  /* What the cluster serves of a kind, from its names in a manifest ("apps/v1", "Deployment"). The
   * answer: OK with a body of JSON, {"gvr": "apps/v1/deployments", "namespaced": true, "verbs":
   * ["create", ...], "subresources": ["scale", "status"]}, members that are not known here to be
   * skipped; E_NOT_FOUND, with what the server has instead in message; E_INVALID; or as of a
   * request that could not be made. The host keeps what it has learned, looks again for a kind that
   * is missing every few seconds at the most, and needs no restart when a kind comes or goes.
   * fresh: 0, or 1 when a request to the gvr was answered as if it did not exist. Not counted among
   * the requests in flight, cannot be cancelled. Since 0.3. */
  detent_status (*find_kind)(detent_instance inst, const detent_str* api_version,
                             const detent_str* kind, uint32_t fresh, detent_cb cb, void* ctx);
} detent_kube;

DETENT_EXTERN_C_END

#endif /* DETENT_SERVICES_KUBE_H_ */
