/* detent/rules.h: what both sides promise, by id. Prose only.
 *
 * Each rule has an id that appears in log lines, in `detent plugin check` and in the comments of
 * these headers; a promise without an id is not one. In brackets: who enforces it.
 *   L the loader   R the host at run time   C `detent plugin check`   S the C++ SDK   - nobody can
 * After => what happens when it is broken.
 *
 * Loading
 *   D-LOAD-1 [L,C] id is reverse DNS, version is semantic, count >= 1, kinds differ, required slots
 *     are filled; the descriptor agrees with the configuration.  => refused, with the field's name
 *   D-LOAD-2 [C] detent_plugin_entry is pure, idempotent, callable from any thread, makes no host
 *     call, takes < 1 ms; another major => NULL.                 => refused, or the check fails
 *   D-LOAD-3 [C] loading makes no thread, descriptor, signal handler, and changes no environment,
 *     locale, umask or directory.                                => the check fails
 *   D-LOAD-4 [C] exactly one exported symbol; nothing undefined; bound now, relocations read-only,
 *     not unloadable.                                            => the check fails
 * Structs
 *   D-SIZE-1 [S,C] the first field is `size`, the writer's own sizeof; a reader uses only what is
 *     inside it; what is missing is zero.                        => E_INVALID
 *   D-SIZE-2 [C] structs that may grow are not embedded, not in arrays (arrays of pointers only),
 *     not passed by value.                                       => cannot be written
 *   D-SIZE-3 [R,C] an unknown flag or value: a plugin ignores it or answers E_UNSUPPORTED; the host
 *     answers E_UNSUPPORTED (E_INVALID for a phase or result).   => the check fails
 *   D-TYPE-1 [C] only fixed-width integers, double, pointers and sized views.
 *   D-STR-1 [R] text is UTF-8; the host's has a NUL behind it; names contain none.
 *                                                                => E_INVALID; log text is repaired
 * Memory
 *   D-MEM-1 [C] arguments are lent until the call returns; both sides copy what they keep; nobody
 *     frees the other's memory.                                  => use after free, found by check
 *   D-MEM-2 [R,C] a detent_buf in a result or event is lent; retain to keep, release on any thread.
 *                                                                => leak report at close
 *   D-MEM-3 [C] static tables stay valid and unchanged until the process ends.
 * Errors
 *   D-ERR-1 [R] every failure has a status, and a CamelCase reason.  => reason "Unspecified"
 *   D-EXC-1 [S,C] no exception and no longjmp leaves either side.    => the process aborts
 * Threads
 *   D-THR-1 [R] [strand] calls on an instance never overlap.         => a defect of the host
 *   D-THR-2 [R] with CAP_TASK_STRANDS calls of different tasks may overlap, those of one never.
 *   D-THR-3 [R] host functions are [any], never block, never call the plugin inline.
 *                                                                => a defect of the host
 *   D-THR-4 [R] a [strand] call returns in 10 ms.    => metric and log; 1 s `Slow`; 30 s `Stuck`: a
 *     child is killed and restarted, in-process the instance is marked and its thread replaced
 *   D-THR-5 [S] what blocks or computes long goes to offload or to own threads.
 * Ops and callbacks
 *   D-OP-1 [R] every op is completed exactly once.        => E_STALE, counted as misbehaviour
 *   D-OP-2 [R] after its deadline an op is cancelled, and completed soon after.
 *                                                         => it goes stale; 3 in 10 min: `Degraded`
 *   D-OP-3 [R,C] every accepted request is answered exactly once, on the strand, with E_CLOSING at
 *     the end, and never after destroy was entered. E_CLOSING never ends a task.
 *                                                                => dropped, counted
 * Life
 *   D-LIFE-1 [R] calls come in the order given in executor.h; destroy never runs on a plugin's
 *     stack.                                                     => a defect of the host
 *   D-LIFE-2 [C] all state hangs off `self` (the host table may be global); two instances of a kind
 *     work in one process.                                       => the check fails
 * Tasks
 *   D-TASK-1 [C] start is idempotent on the key; names derive from it; ours is adopted, a
 *     stranger is left alone: E_ALREADY_EXISTS, NameTaken.                   => the check fails
 *   D-TASK-2 [R] an update is the full picture; seq rises; phases go forward; TERMINATED is final.
 *                                                                => dropped, counted
 *   D-TASK-3 [C] kill and force_delete are idempotent, and allowed during start and recover;
 *     after a kill during start nothing is left running.                 => the check fails
 *   D-TASK-4 [C] schema, validate and substitute are [pure] and take < 100 ms for 1 MiB.
 *   D-TASK-5 [R] release comes only after the outcome is durable, and once for each handle; the
 *     same task may be released again in a later life.                => a defect of the host
 *   D-TASK-6 [R,C] recover and observe start nothing; RETRY_LATER, errors and a missing plugin
 *     never kill, fail or repeat a task.                               => a defect of the host
 * State, secrets, network, files
 *   D-STATE-1 [R,C] blob <= 16 KiB, any bytes are read without a crash, no secrets. => E_TOO_LARGE
 *   D-SEC-1 [C] secrets stay behind handles: never in a log, status, blob or metric.
 *   D-NET-1 [R,-] changes in Kubernetes go through detent.kube/1, which is fenced.   => review
 *   D-IO-1 [-] a descriptor is unwatched before it is closed; the host never closes it.
 */
#ifndef DETENT_RULES_H_
#define DETENT_RULES_H_
#endif /* DETENT_RULES_H_ */
