/* detent/ext/logs.h: executor extension: read what a task wrote.
 *
 * Returned by detent_executor.extension("detent.logs/1"). The host asks for pieces at byte offsets
 * and keeps no copy; the plugin serves them from its files, or from the backend. It works for
 * running tasks and for ended ones, also after release and after any restart, until discard.
 * Therefore a task is named by its key here, not by its handle.
 *
 * Format, whatever the backend has: the lines of the Kubernetes CRI log format,
 *
 *   2026-11-20T10:00:00.123456789Z stdout F hello 42\n
 *
 * that is: RFC 3339 time in UTC with nanoseconds; stdout or stderr; F for a full line, P for a part
 * that the next line of that stream continues; one space; the text as it was written, any bytes but
 * LF. An offset counts bytes of this format over the whole life of the task, rotated parts
 * included, so an offset never changes its meaning.
 *
 * Rotation. The oldest part of a log may be gone. A read at an offset before the oldest byte that
 * is left starts at that byte, and says so: DETENT_LOGS_GAP is set, and value2 is where it began.
 */
#ifndef DETENT_EXT_LOGS_H_
#define DETENT_EXT_LOGS_H_

#include "detent/status.h"

DETENT_EXTERN_C_BEGIN

#define DETENT_EXT_LOGS "detent.logs/1"

/* detent_log_read.streams; 0 means both */
#define DETENT_LOGS_STDOUT (1u << 0)
#define DETENT_LOGS_STDERR (1u << 1)

/* detent_log_read.flags */
#define DETENT_LOGS_TAIL (1u << 0) /* no offset: the last max_bytes, whole lines */

/* detent_result.flags of a read */
#define DETENT_LOGS_GAP (1u << 0) /* that offset is gone; body begins at value2 */
#define DETENT_LOGS_END (1u << 1) /* the task is over and the body reaches its last byte */

/* Lent for the call.
 * key        the task (detent_task_ref.key).     name  its name, for backends that need it.
 * offset     the first byte wanted: 0, or `value` of an earlier answer.
 * max_bytes  most bytes wanted, 1 to 1 MiB; the answer may be shorter, and ends at the end of a
 *            line unless one line alone is longer. */
typedef struct detent_log_read {
  uint32_t size;
  uint32_t flags; /* DETENT_LOGS_TAIL */
  detent_str key;
  detent_str name;
  detent_str namespace_;
  uint64_t offset;
  uint32_t max_bytes;
  uint32_t streams; /* DETENT_LOGS_STDOUT | DETENT_LOGS_STDERR */
} detent_log_read;

typedef struct detent_logs {
  uint32_t size;
  uint32_t reserved; /* 0 */

  /* [strand] Reads a piece. Again: the same bytes, unless they were rotated away meanwhile.
   * Completes with OK: body = the lines (0: nothing there now), value = the next offset (at least
   * that of the asked one; skipped lines of other streams count), value2 = the oldest offset there
   * is, flags. "Nothing there now" and no END: read again later with the same offset.
   * E_NOT_FOUND: no such log, never written or discarded. E_BUSY. E_UNAVAILABLE: try later. */
  void (*read)(void* self, detent_op op, const detent_log_read* what);

  /* [strand] The Task object is deleted: nobody will read its log again; remove it. Called after
   * release, for tasks of any earlier life too. Again, or for an unknown key: harmless. Finished in
   * the plugin's own time. */
  void (*discard)(void* self, const detent_str* key);
} detent_logs;

DETENT_EXTERN_C_END

#endif /* DETENT_EXT_LOGS_H_ */
