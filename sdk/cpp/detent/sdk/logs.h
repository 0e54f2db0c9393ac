// LogReader: what an executor inherits beside Executor to let users read what its tasks wrote (the
// extension detent.logs/1). Format, offsets and rotation are described in detent/ext/logs.h.
// Overrides must be public and run on the strand.

#pragma once

#include <string_view>
#include <utility>

#include "detent/ext/logs.h"
#include "detent/sdk/buffer.h"
#include "detent/sdk/host.h"
#include "detent/sdk/op.h"

namespace detent::sdk {

// Borrowed for the call; a task is named by its key, because it may have ended in an earlier life.
struct LogRequest {
  std::string_view key, name, namespace_;
  uint64_t offset = 0;
  uint32_t max_bytes = 0;
  bool want_stdout = true, want_stderr = true;
  bool tail = false;  // the last max_bytes instead of `offset`
};

struct LogPiece {
  std::string_view lines;      // CRI lines, whole ones
  uint64_t next_offset = 0;    // where to read on
  uint64_t oldest_offset = 0;  // where the log begins now
  bool gap = false;            // the asked offset is rotated away
  bool end = false;            // the task is over and this reaches its last byte
};

// Answers a read.
inline void AnswerLog(Op op, const Host& host, const LogPiece& piece) {
  const Buffer body = piece.lines.empty() ? Buffer() : host.NewBuffer(piece.lines);
  detent_result result{};
  result.size = sizeof(result);
  result.body = body.handle();
  result.value = piece.next_offset;
  result.value2 = piece.oldest_offset;
  result.flags = (piece.gap ? DETENT_LOGS_GAP : 0) | (piece.end ? DETENT_LOGS_END : 0);
  op.Complete(result);
}

class LogReader {
 public:
  virtual ~LogReader() = default;
  // Answer with AnswerLog, or Fail with DETENT_E_NOT_FOUND when there is no such log.
  virtual void ReadLog(Op op, const LogRequest& request) = 0;
  // Nobody will read this log again. Also for unknown keys, and again.
  virtual void DiscardLog(std::string_view key) = 0;
};

// The C table for an executor T that is a LogReader. Used by table.h.
template <typename T>
struct LogTrampolines {
  static void Read(void* self, detent_op op, const detent_log_read* what) noexcept;
  static void Discard(void* self, const detent_str* key) noexcept {
    auto* executor = static_cast<T*>(self);
    border::Guarded(executor->host().table(), executor->instance(),
                    [&] { executor->DiscardLog(View(*key)); });
  }
  static constexpr detent_logs kTable{sizeof(detent_logs), 0, &Read, &Discard};
};

template <typename T>
struct Trampolines;

template <typename T>
void LogTrampolines<T>::Read(void* self, detent_op op, const detent_log_read* what) noexcept {
  LogRequest request;
  request.key = View(what->key);
  request.name = View(what->name);
  request.namespace_ = View(what->namespace_);
  request.offset = what->offset;
  request.max_bytes = what->max_bytes;
  request.want_stdout = what->streams == 0 || (what->streams & DETENT_LOGS_STDOUT) != 0;
  request.want_stderr = what->streams == 0 || (what->streams & DETENT_LOGS_STDERR) != 0;
  request.tail = (what->flags & DETENT_LOGS_TAIL) != 0;
  Trampolines<T>::WithOp(
      self, op, [&](T& executor, Op question) { executor.ReadLog(std::move(question), request); });
}

}  // namespace detent::sdk
