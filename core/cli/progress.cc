#include "core/cli/progress.h"

#include <ostream>

#include "core/api/job.h"
#include "core/base/text_position.h"
#include "core/cli/api_client.h"
#include "core/cli/interrupt.h"

namespace detent {
namespace {

// The first `width` characters: a line that wraps could not be drawn over.
std::string Shortened(const std::string& text, int width) {
  if (width < 4 || CountCharacters(text) <= width) return text;
  size_t end = 0;
  for (int characters = 0; end < text.size(); ++end) {
    const bool begins = (static_cast<unsigned char>(text[end]) & 0xC0) != 0x80;
    if (begins && ++characters > width - 3) break;
  }
  return text.substr(0, end) + "...";
}

}  // namespace

std::string JobProgress(const Json& job) {
  std::string text =
      "job " + TextAt(job, "/metadata/namespace") + "/" + TextAt(job, "/metadata/name") + ": ";
  const std::string phase = TextAt(job, "/status/phase");
  text += phase.empty() ? "Queued" : phase;
  const int64_t indexes = NumberAt(job, "/status/indexes");
  if (indexes > 0) {
    text += ", " + std::to_string(NumberAt(job, "/status/succeeded")) + "/" +
            std::to_string(indexes) + " succeeded";
  }
  const int64_t failed = NumberAt(job, "/status/failed");
  if (failed > 0) text += ", " + std::to_string(failed) + " failed";
  const int64_t running = NumberAt(job, "/status/runningTasks");
  if (running > 0) text += ", " + std::to_string(running) + " running";
  const std::string reason = TextAt(job, "/status/reason");
  const std::string message = TextAt(job, "/status/message");
  if (!reason.empty() && reason != phase) text += " (" + reason + ")";
  if (IsFinishedJob(job) && !IsSucceededJob(job) && !message.empty()) text += ": " + message;
  return text;
}

bool IsFinishedJob(const Json& job) {
  const auto phase = JobPhaseFromName(TextAt(job, "/status/phase"));
  return phase && IsFinished(*phase);
}

bool IsSucceededJob(const Json& job) {
  return JobPhaseFromName(TextAt(job, "/status/phase")) == JobPhase::kSucceeded;
}

Progress::Progress(CliIo& io, bool aside)
    : out_(aside ? *io.err : *io.out), redraw_(io.out_is_terminal && !aside), width_(io.width) {}

void Progress::Show(const std::string& text) {
  if (text == last_) return;
  last_ = text;
  if (redraw_) {
    out_ << '\r' << Shortened(text, width_ - 1) << "\x1b[K";
    drawn_ = true;
    SetLineOpen(true);
  } else {
    out_ << text << '\n';
  }
  out_.flush();
}

void Progress::Finish() {
  if (!drawn_) return;
  out_ << '\n';
  out_.flush();
  drawn_ = false;
  SetLineOpen(false);
}

}  // namespace detent
