#include "core/http/task_log.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/api/codec.h"
#include "core/base/names.h"
#include "core/http/list_options.h"
#include "core/http/status_error.h"

namespace detent {
namespace {

// While a task runs, its output is asked for this often.
constexpr auto kPoll = std::chrono::milliseconds(250);
constexpr size_t kTailBytes = 4 * 1024 * 1024;

struct LogOptions {
  bool follow = false;
  bool timestamps = false;
  bool raw = false;
  int64_t offset = 0;
  std::optional<int64_t> limit_bytes;
  std::optional<int64_t> tail_lines;
};

Outcome<std::optional<int64_t>> ReadNumber(const Request& request, const std::string& name) {
  const std::string_view text = request.ParameterOr(name);
  if (text.empty()) return std::optional<int64_t>();
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) {
    return BadRequest(name + ": Invalid value: \"" + std::string(text) +
                      "\": must be a whole number, 0 or greater");
  }
  return std::optional<int64_t>(value);
}

Outcome<LogOptions> ReadLogOptions(const Request& request) {
  LogOptions options;
  options.follow = IsTrue(request, "follow");
  options.timestamps = IsTrue(request, "timestamps");
  options.raw = IsTrue(request, "raw");
  options.offset = TRY(ReadNumber(request, "offset")).value_or(0);
  options.limit_bytes = TRY(ReadNumber(request, "limitBytes"));
  options.tail_lines = TRY(ReadNumber(request, "tailLines"));
  return options;
}

// The last `lines` lines of a text, within a bound on memory.
void KeepTail(std::string& text, int64_t lines) {
  if (text.size() > kTailBytes) {
    const size_t cut = text.find('\n', text.size() - kTailBytes);
    text.erase(0, cut == std::string::npos ? 0 : cut + 1);
  }
  size_t at = text.size();
  if (at > 0 && text[at - 1] == '\n') --at;
  for (; lines > 0 && at != std::string::npos; --lines) {
    if (at == 0) return;
    at = text.rfind('\n', at - 1);
  }
  if (lines == 0 && at != std::string::npos) text.erase(0, at == text.size() ? at : at + 1);
}

// What is read, and from which object one sees that nothing more will come.
struct LogSource {
  LogQuery query;
  ObjectKey key;
  std::function<bool(const Object& object)> has_ended;
};

class LogStream {
 public:
  LogStream(const ApiContext& context, LogOptions options, LogSource source)
      : context_(context),
        options_(options),
        source_(std::move(source)),
        query_(source_.query),
        text_(options.timestamps),
        left_(options.limit_bytes) {}

  // Reads one chunk. kNotFound is an executor that has not heard of the task yet: no output.
  Result<bool> Fetch() {
    Result<LogChunk> chunk = context_.admin->ReadLog(query_);
    if (!chunk && chunk.error().code() == Code::kNotFound) return false;
    if (!chunk) return std::move(chunk).error();
    const bool any = chunk->next_offset > query_.offset;
    query_.offset = chunk->next_offset;
    if (options_.raw) {
      piece_ += chunk->lines;
    } else {
      text_.Append(chunk->lines, piece_);
    }
    return any;
  }

  bool Run(BodySink& sink) {
    if (!sink.Write("")) return false;
    if (options_.tail_lines) {
      if (!Tail()) return false;
      if (!Flush(sink) || IsFull()) return true;
    }
    while (true) {
      // Looked at before the output: what an ended task wrote is then all there.
      const bool ended = !options_.follow || HasEnded();
      if (!Drain(sink)) return false;
      if (ended || IsFull()) return true;
      if (!WaitForNews(sink)) return true;
    }
  }

 private:
  bool IsFull() const { return left_ && *left_ == 0; }

  bool Flush(BodySink& sink) {
    if (left_ && piece_.size() > static_cast<size_t>(*left_)) {
      piece_.resize(static_cast<size_t>(*left_));
    }
    if (left_) *left_ -= static_cast<int64_t>(piece_.size());
    const bool sent = piece_.empty() || sink.Write(piece_);
    piece_.clear();
    return sent;
  }

  bool Drain(BodySink& sink) {
    for (bool any = true; any && !IsFull();) {
      const Result<bool> fetched = Fetch();
      if (!fetched || !Flush(sink)) return false;
      any = *fetched;
    }
    return true;
  }

  // All output there is now, cut to its last lines.
  bool Tail() {
    for (bool any = true; any;) {
      const Result<bool> fetched = Fetch();
      if (!fetched) return false;
      any = *fetched;
      KeepTail(piece_, *options_.tail_lines);
    }
    return true;
  }

  bool HasEnded() {
    const Result<ObjectPtr> object = context_.store->Read(source_.key);
    return !object || source_.has_ended(**object);
  }

  // Until the object changes or it is time to ask again. False: nobody is there to tell.
  bool WaitForNews(BodySink& sink) {
    ChangeLog& changes = context_.store->changes(source_.key.kind);
    if (cursor_ == 0) cursor_ = changes.version();
    const MonoTime until = context_.clock->Mono() + kPoll;
    while (true) {
      const MonoTime now = context_.clock->Mono();
      if (now >= until) return sink.Alive();
      const ChangeLog::ReadResult read = changes.Read(cursor_, 256, until - now, changes_);
      if (read == ChangeLog::ReadResult::kClosed) return false;
      if (read == ChangeLog::ReadResult::kExpired) cursor_ = changes.version();
      if (read != ChangeLog::ReadResult::kChanges) continue;
      cursor_ = changes_.back().version;
      const bool concerned =
          std::any_of(changes_.begin(), changes_.end(),
                      [this](const Change& change) { return change.object->key() == source_.key; });
      changes_.clear();
      if (concerned) return sink.Alive();
    }
  }

  const ApiContext& context_;
  const LogOptions options_;
  const LogSource source_;
  LogQuery query_;
  CriText text_;
  std::optional<int64_t> left_;  // Of limitBytes.
  std::string piece_;
  int64_t cursor_ = 0;
  std::vector<Change> changes_;
};

Response Stream(const ApiContext& context, const Target& target, LogOptions options,
                LogSource source) {
  source.query.offset = options.offset;
  // Asked once before the response begins, so that "keeps no output" can still be an error.
  LogQuery probe = source.query;
  probe.bytes_max = 1;
  const Result<LogChunk> first = context.admin->ReadLog(probe);
  if (!first && first.error().code() != Code::kNotFound) {
    return FromError(first.error(), target.kind, target.name);
  }
  Response response;
  response.content_type = "text/plain; charset=utf-8";
  response.stream = [&context, options, source = std::move(source)](BodySink& sink) {
    return LogStream(context, options, source).Run(sink);
  };
  return response;
}

}  // namespace

void CriText::Append(std::string_view lines, std::string& out) {
  while (!lines.empty()) {
    const size_t end = lines.find('\n');
    std::string_view line = lines.substr(0, end);
    lines = end == std::string_view::npos ? std::string_view() : lines.substr(end + 1);
    const size_t stream = line.find(' ');
    const size_t tag = stream == line.npos ? line.npos : line.find(' ', stream + 1);
    const size_t text = tag == line.npos ? line.npos : line.find(' ', tag + 1);
    if (text == line.npos) {
      out += line;
      out += '\n';
      continue;
    }
    if (timestamps_ && !inside_line_) {
      out += line.substr(0, stream);
      out += ' ';
    }
    inside_line_ = line[tag + 1] == 'P';
    out += line.substr(text + 1);
    if (!inside_line_) out += '\n';
  }
}

Response TaskLog(const ApiContext& context, const Request& request, const Target& target) {
  const LogOptions options = TRY(ReadLogOptions(request));
  const Result<ObjectPtr> task = context.store->Read(target.key());
  if (!task) return FromError(task.error(), target.kind, target.name);
  const Result<TaskSpec> spec = DecodeTaskSpec((*task)->spec);
  if (!spec) return Internal(spec.error().message());
  LogSource source;
  source.query.kind = spec->kind;
  source.query.task_key = TaskKey(spec->job_uid, spec->index, spec->attempt);
  source.key = target.key();
  source.has_ended = [](const Object& object) {
    const Result<TaskStatus> status = DecodeTaskStatus(object.status);
    return !status || status->state == TaskState::kTerminated;
  };
  return Stream(context, target, options, std::move(source));
}

Response JobLog(const ApiContext& context, const Request& request, const Target& target) {
  const LogOptions options = TRY(ReadLogOptions(request));
  const int64_t index = TRY(ReadNumber(request, "index")).value_or(0);
  const int64_t attempt = TRY(ReadNumber(request, "attempt")).value_or(1);
  const Result<ObjectPtr> job = context.store->Read(target.key());
  if (!job) return FromError(job.error(), target.kind, target.name);
  const Result<JobSpec> spec = DecodeJobSpec((*job)->spec);
  if (!spec) return Internal(spec.error().message());
  LogSource source;
  source.query.kind = spec->job_template.task_template.kind;
  source.query.task_key = TaskKey((*job)->meta.uid, index, attempt);
  source.key = target.key();
  source.has_ended = [index, attempt](const Object& object) {
    const Result<JobStatus> status = DecodeJobStatus(object.status);
    if (!status || status->finished || status->succeeded_indexes.Contains(index)) return true;
    const auto has = [&](const std::map<int64_t, IndexSet>& attempts) {
      const auto found = attempts.find(attempt);
      return found != attempts.end() && found->second.Contains(index);
    };
    return has(status->failed_attempts) || has(status->uncounted_attempts);
  };
  return Stream(context, target, options, std::move(source));
}

}  // namespace detent
