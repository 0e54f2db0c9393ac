/* detent/threads.h: the words [strand], [any], [pure] and [offload]. Prose only.
 *
 * Each function of these headers carries one tag that says where it runs or may be called.
 *
 * [strand]   Called by the host. Calls on one instance never overlap, and each happens after the
 *            one before; the operating system thread may differ from call to call. So an executor
 *            that touches its state on the strand only needs no lock and no atomic. Two instances,
 *            even of one kind, run in parallel: state hangs off `self`, never off a global.
 *            A [strand] call returns within 10 ms, usually within 1 ms, and never blocks: no sleep,
 *            no connect, no read from a disk that may be slow, no lock that another thread holds
 *            for long. The host measures each: over 1 s the instance is `Slow`, over 30 s `Stuck`.
 *
 * [any]      May be called from any thread, the strand included, also at the same time from
 *            several. Every function of the host and of its services is [any]; it takes at most a
 *            short lock, never blocks, and NEVER calls back into the plugin before it returns. So a
 *            plugin may hold its own lock while it calls the host. A foreign thread must be
 *            stopped before the plugin completes `close`.
 *
 * [pure]     Called by the host from any thread, also before any instance exists and at the same
 *            time from several. Depends on its arguments only: no I/O, no clock, no randomness, no
 *            state; the same answer every time; under 100 ms for a spec of 1 MiB. May use, with
 *            instance 0: buf_*, diag_add, and the functions of detent.json/1 and detent.expr/1.
 *
 * [offload]  On a thread of the host's pool, by detent_host.offload. May block and may compute. It
 *            may call any [any] function, and hands its findings to the strand by its `done`
 *            callback or by post.
 *
 * Callbacks (detent_cb and its like) are [strand] unless their declaration says otherwise. An
 * answer to a request never arrives inside the call that made the request, even if it is known at
 * once: first the call returns, then, in a later turn of the strand, the callback runs.
 *
 * Order. Events that concern one task arrive in the order in which they happened. Between tasks,
 * and between a timer and a request, no order is promised.
 *
 * detent_host.where tells a thread what it is: a plugin's tests use it, plain code has no need to.
 */
#ifndef DETENT_THREADS_H_
#define DETENT_THREADS_H_

/* What detent_host.where answers. */
#define DETENT_ON_FOREIGN 0u /* a thread of the plugin's own, or inside a [pure] call */
#define DETENT_ON_STRAND 1u  /* on the strand of the instance that asked */
#define DETENT_ON_OFFLOAD 2u /* on the host's pool */

#endif /* DETENT_THREADS_H_ */
