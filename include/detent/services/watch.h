/* detent/services/watch.h: follow Kubernetes objects, without a watch of one's own.
 *
 * The host keeps one watch of the API server for each (resource, scope) and shares it between all
 * plugins. Bookmarks, reconnects and 410 relists are hidden; what is seen is a level: the newest
 * state of each object, older ones may be skipped under pressure. Events of one object keep their
 * order. An object that carries a task's label comes with that task's handle.
 *
 * A host may answer DETENT_E_UNSUPPORTED in ABI 0, or NULL from detent_host.service when it has no
 * cluster at all. All functions are [any]; events come on the strand. 32 subscriptions for an
 * instance (E_BUSY).
 */
#ifndef DETENT_SERVICES_WATCH_H_
#define DETENT_SERVICES_WATCH_H_

#include "detent/status.h"

DETENT_EXTERN_C_BEGIN

#define DETENT_SVC_WATCH "detent.watch/1"

/* detent_watch_event.kind */
#define DETENT_WATCH_UPSERT 1u    /* there is this object, in this state */
#define DETENT_WATCH_DELETE 2u    /* it is gone; object is its last known state */
#define DETENT_WATCH_SYNCED 3u    /* every object that was there at the start has been said */
#define DETENT_WATCH_RESTARTED 4u /* events may be missing; all is said again */
#define DETENT_WATCH_FAILED 5u    /* no such resource, or no permission; the host keeps trying */

/* Lent for the callback; retain `object` to keep it. For SYNCED, RESTARTED and FAILED only kind is
 * set, and for FAILED message. */
typedef struct detent_watch_event {
  uint32_t size;
  uint32_t kind;    /* DETENT_WATCH_* */
  detent_task task; /* 0: carries no label of a task of this instance */
  detent_str namespace_;
  detent_str name;
  detent_str uid;
  detent_str resource_version;
  detent_buf object; /* JSON */
  detent_str message;
} detent_watch_event;

/* detent_watch_request.flags */
#define DETENT_WATCH_TRACKED (1u << 0) /* only objects that this host tracks (kube.h, ensure) */

/* What to follow, lent for the call. Empty namespace_: all. gvr as in kube.h. What no longer
 * matches the selectors, or is no longer tracked, is reported as a DELETE.
 *
 * only: what of each object is of interest, besides apiVersion, kind and metadata, which come
 * always: "spec.nodeName,spec.containers.name,status". Names of members, '.' between one and a
 * member of it, lists looked through; <= 4096 bytes. Empty: all. The host keeps every object that
 * is followed, so this is what an object costs. More may come than is asked for. */
typedef struct detent_watch_request {
  uint32_t size;
  uint32_t flags; /* DETENT_WATCH_* flags */
  detent_str gvr;
  detent_str namespace_;
  detent_str label_selector;
  detent_str field_selector;
  detent_str only;
} detent_watch_request;

/* [strand] Any number of times, until stop. */
typedef void (*detent_watch_cb)(void* ctx, const detent_watch_event* event);

typedef struct detent_watches {
  uint32_t size;
  uint32_t reserved; /* 0 */

  /* Subscribes. *out is set before any event. First come UPSERTs for what exists, then SYNCED, then
   * changes. E_INVALID: gvr, selector or only. E_BUSY. E_UNSUPPORTED. E_CLOSING. Two calls are two
   * subscriptions of one shared watch. */
  detent_status (*start)(detent_instance inst, const detent_watch_request* request,
                         detent_watch_cb cb, void* ctx, detent_watch* out);

  /* Ends it. On the strand no event comes after it returns; from elsewhere one may be under way.
   * E_STALE: ended already, harmless. At close the host ends all, without a last event. */
  detent_status (*stop)(detent_instance inst, detent_watch watch);
} detent_watches;

DETENT_EXTERN_C_END

#endif /* DETENT_SERVICES_WATCH_H_ */
