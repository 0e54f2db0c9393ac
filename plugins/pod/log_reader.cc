#include "plugins/pod/log_reader.h"

#include <algorithm>
#include <utility>

#include "plugins/pod/marks.h"
#include "plugins/pod/outcome.h"
#include "plugins/pod/pod_list.h"
#include "plugins/pod/refusal.h"
#include "plugins/pod/rfc3339.h"

namespace detent::pod {
namespace {

constexpr size_t kFinishedMost = 64;
constexpr uint64_t kAnswerMost = 32 * 1024 * 1024 - 1;  // of detent.kube/1
// A log's lines are rarely shorter on the average; a tail may be shorter than asked for.
constexpr uint64_t kBytesPerLine = 128;
constexpr uint64_t kTailLinesMost = 4096;
// A line that is cut still says when it was written.
constexpr uint64_t kTimeMost = 64;

bool HasRun(const Container& container) {
  return container.state == Container::State::kRunning || container.ended.there ||
         container.last.there;
}

// Whose log is the task's; nullptr: there is none, or not yet.
const Container* WithLog(const Pod& pod) {
  const Container* const main = pod.main();
  if (main != nullptr && HasRun(*main)) return main;
  if (!IsOver(pod)) return nullptr;
  for (const Container& container : pod.containers) {
    if (container.kind == Container::Kind::kInit && container.ended.there &&
        container.ended.exit_code != 0) {
      return &container;
    }
  }
  return nullptr;
}

}  // namespace

void LogRequests::Read(sdk::Op op, const sdk::LogRequest& request, const Pod* known,
                       std::function<void(const Pod&)> found) {
  auto reading = std::make_shared<Reading>();
  reading->op = std::move(op);
  reading->found = std::move(found);
  reading->key = request.key;
  reading->name = request.name;
  reading->ns = request.namespace_;
  reading->window.from = request.tail ? LogPosition{} : PositionOf(request.offset);
  reading->window.most = std::max<size_t>(1, request.max_bytes);
  reading->want_lines = request.want_stdout;
  reading->tail = request.tail;
  reading->from_start = request.tail || request.offset == 0;
  std::erase_if(open_, [](const auto& open) { return open.expired(); });
  open_.push_back(reading);
  const auto is_key = [&](const Pod& pod) { return pod.task_key == reading->key; };
  if (known != nullptr) {
    reading->pod = *known;
  } else if (const auto at = std::find_if(finished_.begin(), finished_.end(), is_key);
             at != finished_.end()) {
    reading->pod = *at;
  }
  return reading->pod ? ReadPodLog(reading) : FindPod(reading);
}

void LogRequests::Ask(const ReadingPtr& reading, sdk::KubeRequest request,
                      void (LogRequests::*then)(const ReadingPtr&, const sdk::KubeAnswer&)) {
  requests_.Ask(Requests::Kind::kSend, std::move(request),
                [this, reading, then](const sdk::KubeAnswer& answer) {
                  if (answer.code() == DETENT_E_CLOSING) {
                    return Fail(reading, sdk::Status(answer.raw()));
                  }
                  if (reading->op) (this->*then)(reading, answer);
                });
}

void LogRequests::FindPod(const ReadingPtr& reading) {
  sdk::KubeRequest request;
  request.gvr = kPods;
  request.namespace_ = reading->ns;
  if (!reading->name.empty() && !reading->ns.empty()) {
    request.verb = DETENT_KUBE_GET;
    request.name = reading->name;
    return Ask(reading, std::move(request), &LogRequests::OnFound);
  }
  request.verb = DETENT_KUBE_LIST;
  request.query = QueryByKeys({reading->key});
  Ask(reading, std::move(request), &LogRequests::OnListed);
}

void LogRequests::OnFound(const ReadingPtr& reading, const sdk::KubeAnswer& answer) {
  if (!answer.ok()) return OnRefused(reading, answer);
  reading->pod = ReadPod(answer.text());
  Found(reading);
}

void LogRequests::OnListed(const ReadingPtr& reading, const sdk::KubeAnswer& answer) {
  if (!answer.ok()) return OnRefused(reading, answer);
  auto pods = ReadPodList(answer.text());
  if (pods && !pods->empty()) reading->pod = std::move(pods->front());
  Found(reading);
}

void LogRequests::Found(const ReadingPtr& reading) {
  if (reading->pod && reading->pod->task_key == reading->key) reading->found(*reading->pod);
  ReadPodLog(reading);
}

void LogRequests::ReadPodLog(const ReadingPtr& reading) {
  if (!reading->pod || reading->pod->task_key != reading->key) {
    return Fail(reading, {DETENT_E_NOT_FOUND, "NoPod", "there is no Pod of this task any more"});
  }
  const Pod& pod = *reading->pod;
  reading->window.base_ns = pod.created_ns;
  reading->window.over = IsOver(pod);
  if (reading->window.over) Remember(pod);
  const Container* const container = WithLog(pod);
  if (container == nullptr) return GiveNothing(reading);
  reading->container = container->name;
  if (reading->tail) {
    reading->tail_lines =
        std::clamp<uint64_t>(reading->window.most / kBytesPerLine, 1, kTailLinesMost);
  }
  AskForLines(reading);
}

void LogRequests::AskForLines(const ReadingPtr& reading) {
  sdk::KubeRequest request;
  request.verb = DETENT_KUBE_GET;
  request.gvr = kPodLog;
  request.namespace_ = reading->pod->ns;
  request.name = reading->pod->name;
  request.query = "container=" + reading->container + "&timestamps=true";
  const LogWindow& window = reading->window;
  if (reading->tail_lines != 0) {
    request.query += "&tailLines=" + std::to_string(reading->tail_lines);
    return Ask(reading, std::move(request), &LogRequests::OnTail);
  }
  // What was given of this second before comes again. A line of ours is longer than the server's.
  const uint64_t wanted = window.from.byte + window.most + kTimeMost;
  reading->limit = reading->tail ? kAnswerMost : std::min(kAnswerMost, wanted);
  request.query += "&limitBytes=" + std::to_string(reading->limit);
  if (window.from.second > 0) {
    request.query +=
        "&sinceTime=" + FormatSeconds(window.base_ns + window.from.second * kNsPerSecond);
  }
  Ask(reading, std::move(request), &LogRequests::OnLines);
}

void LogRequests::OnLines(const ReadingPtr& reading, const sdk::KubeAnswer& answer) {
  if (!answer.ok()) return OnRefused(reading, answer);
  LogWindow window = reading->window;
  window.whole = answer.text().size() < reading->limit;
  if (reading->tail) window.most = kAnswerMost * 2;
  Give(reading, SliceLog(answer.text(), window));
}

void LogRequests::OnTail(const ReadingPtr& reading, const sdk::KubeAnswer& answer) {
  if (answer.code() == DETENT_E_TOO_LARGE && reading->tail_lines > 1) {
    reading->tail_lines /= 8;
    reading->tail_lines = std::max<uint64_t>(1, reading->tail_lines);
    return AskForLines(reading);
  }
  if (!answer.ok()) return OnRefused(reading, answer);
  LogWindow window = reading->window;
  window.whole = true;
  window.most = kAnswerMost * 2;
  const LogSlice slice = SliceLog(answer.text(), window);
  const bool all = slice.count < reading->tail_lines;
  if (all || !slice.readable || slice.begin.second != slice.next.second) {
    return Give(reading, slice);
  }
  // All of one second, and perhaps not the first of it: where in it this is has to be counted.
  reading->tail_lines = 0;
  reading->window.from = {slice.begin.second, 0};
  AskForLines(reading);
}

void LogRequests::OnRefused(const ReadingPtr& reading, const sdk::KubeAnswer& answer) {
  switch (answer.code()) {
    case DETENT_E_NOT_FOUND:
      std::erase_if(finished_, [&](const Pod& pod) { return pod.task_key == reading->key; });
      return Fail(reading, {DETENT_E_NOT_FOUND, "NoPod", "there is no Pod of this task any more"});
    case DETENT_E_INVALID:
      // The server's way to say that the container is not there yet, or not any more.
      return GiveNothing(reading);
    case DETENT_E_TOO_LARGE:
      return Fail(reading, sdk::Status(answer.raw()));
    default:
      return Fail(reading, RefusalOf(answer, "GetPodLogs"));
  }
}

void LogRequests::Give(const ReadingPtr& reading, const LogSlice& slice) {
  if (!slice.readable) {
    return Fail(reading, {DETENT_E_NOT_FOUND, "NoLog", std::string(Front(slice.lines, 500))});
  }
  sdk::LogPiece piece;
  const std::string_view lines =
      reading->tail ? TailOf(slice.lines, reading->window.most) : std::string_view(slice.lines);
  if (reading->want_lines) piece.lines = lines;
  piece.next_offset = OffsetOf(slice.next);
  piece.gap = slice.gap;
  if (slice.gap || (reading->from_start && !reading->tail)) {
    piece.oldest_offset = OffsetOf(slice.begin);
  }
  piece.end = reading->window.over && !slice.more;
  sdk::AnswerLog(std::move(reading->op), host_, piece);
}

void LogRequests::GiveNothing(const ReadingPtr& reading) {
  sdk::LogPiece piece;
  piece.next_offset = OffsetOf(reading->window.from);
  piece.end = reading->window.over;
  sdk::AnswerLog(std::move(reading->op), host_, piece);
}

void LogRequests::Fail(const ReadingPtr& reading, const sdk::Status& status) {
  reading->op.Fail(status);
}

// Only what does not change any more.
void LogRequests::Remember(const Pod& pod) {
  const auto same = [&](const Pod& other) { return other.task_key == pod.task_key; };
  if (std::any_of(finished_.begin(), finished_.end(), same)) return;
  finished_.push_back(pod);
  if (finished_.size() > kFinishedMost) finished_.pop_front();
}

void LogRequests::Cancel(detent_op op, const sdk::Status& status) {
  for (const auto& open : open_) {
    if (const ReadingPtr reading = open.lock(); reading && reading->op.id() == op) {
      Fail(reading, status);
    }
  }
}

void LogRequests::Close() {
  const sdk::Status answer(DETENT_E_CLOSING, "Closing", "the executor closes");
  for (const auto& open : open_) {
    if (const ReadingPtr reading = open.lock()) Fail(reading, answer);
  }
  open_.clear();
}

}  // namespace detent::pod
