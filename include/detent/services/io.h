/* detent/services/io.h: file descriptors on the host's loop.
 *
 * For plugins that talk to something of their own, such as a socket to a supervisor process: rather
 * than a thread that polls, the plugin hands its descriptor to the loop it already runs on.
 *
 * The descriptor stays the plugin's. The host never reads, writes, closes or duplicates it, and
 * never changes its flags; the plugin makes it non-blocking and close-on-exec itself. Order at the
 * end: unwatch, then close(fd). A watch whose descriptor was closed first is a defect: the number
 * may belong to someone else by then (D-IO-1).
 *
 * In a child process the loop is the child's; the service is local in both modes. It is there on
 * every POSIX host. All functions are [any].
 */
#ifndef DETENT_SERVICES_IO_H_
#define DETENT_SERVICES_IO_H_

#include "detent/status.h"

DETENT_EXTERN_C_BEGIN

#define DETENT_SVC_IO "detent.io/1"

/* Events. ERROR and HANGUP are always reported, asked for or not. */
#define DETENT_IO_READ (1u << 0)   /* a read would not block; also at end of file */
#define DETENT_IO_WRITE (1u << 1)  /* a write would not block */
#define DETENT_IO_ERROR (1u << 2)  /* an error is pending; comes with READ or WRITE */
#define DETENT_IO_HANGUP (1u << 3) /* the other end is gone; data may still be left to read */

/* [strand] fd has these events. Level triggered: while the condition holds the callback comes
 * again, after it has returned and the strand has had its turn; it is never queued twice. */
typedef void (*detent_fd_cb)(void* ctx, int32_t fd, uint32_t events);

typedef struct detent_io {
  uint32_t size;
  uint32_t reserved; /* 0 */

  /* Calls cb whenever one of `events` holds on fd, until unwatch. *out is set before any callback.
   * events 0 is allowed: only ERROR and HANGUP. E_INVALID: not an open descriptor, or one that
   * cannot be polled (a regular file). E_ALREADY_EXISTS: this instance watches fd already; use
   * modify. E_BUSY: over 65,536 watches. E_CLOSING. */
  detent_status (*watch_fd)(detent_instance inst, int32_t fd, uint32_t events, detent_fd_cb cb,
                            void* ctx, detent_watch* out);

  /* Other events for the same watch; takes effect before the next callback. E_STALE: ended. */
  detent_status (*modify)(detent_instance inst, detent_watch watch, uint32_t events);

  /* Ends the watch. Called on the strand, also from within its own callback: no callback comes
   * after it returns, so fd may be closed and ctx freed at once. From another thread: one callback
   * may still be under way; post, and unwatch there. E_STALE: ended already, harmless.
   * When the instance closes the host ends all its watches without a last callback. */
  detent_status (*unwatch)(detent_instance inst, detent_watch watch);
} detent_io;

DETENT_EXTERN_C_END

#endif /* DETENT_SERVICES_IO_H_ */
