#include "core/kube/watch_pieces.h"

#include <algorithm>

namespace detent {
namespace {

constexpr size_t kLengthBytes = 4;

size_t LengthOf(std::string_view head) {
  size_t length = 0;
  for (const char byte : head.substr(0, kLengthBytes)) {
    length = length << 8 | static_cast<unsigned char>(byte);
  }
  return length;
}

}  // namespace

void WatchPieces::Begin() {
  form_ = Form::kUnknown;
  partial_.clear();
}

WatchPieces::Cut WatchPieces::Next(std::string_view& piece, std::string_view& event) {
  // The highest byte of a length is 0, 1 or 2: no character of a text.
  if (form_ == Form::kUnknown) form_ = piece.front() >= '\t' ? Form::kJson : Form::kProto;
  return form_ == Form::kJson ? NextLine(piece, event) : NextFrame(piece, event);
}

WatchPieces::Cut WatchPieces::NextLine(std::string_view& piece, std::string_view& event) {
  const size_t end = piece.find('\n');
  const std::string_view part = piece.substr(0, end);
  if (partial_.size() + part.size() > kEventBytes) return Cut::kTooLong;
  if (end == piece.npos || !partial_.empty()) partial_ += part;
  piece.remove_prefix(std::min(part.size() + 1, piece.size()));
  if (end == piece.npos) return Cut::kNotYet;
  event = partial_.empty() ? part : std::string_view(partial_);
  return Cut::kWhole;
}

// Mostly a frame comes in one piece, and is not copied.
WatchPieces::Cut WatchPieces::NextFrame(std::string_view& piece, std::string_view& event) {
  const auto fill = [&](size_t size) {
    const size_t missing = size - std::min(size, partial_.size());
    const std::string_view part = piece.substr(0, missing);
    partial_ += part;
    piece.remove_prefix(part.size());
    return partial_.size() >= size;
  };
  const bool is_here = partial_.empty() && piece.size() >= kLengthBytes;
  if (!is_here && !fill(kLengthBytes)) return Cut::kNotYet;
  const size_t length = LengthOf(is_here ? piece : std::string_view(partial_));
  if (length > kEventBytes) return Cut::kTooLong;
  const size_t size = kLengthBytes + length;
  if (is_here && piece.size() >= size) {
    event = piece.substr(kLengthBytes, length);
    piece.remove_prefix(size);
    return Cut::kWhole;
  }
  if (!fill(size)) return Cut::kNotYet;
  event = std::string_view(partial_).substr(kLengthBytes);
  return Cut::kWhole;
}

}  // namespace detent
