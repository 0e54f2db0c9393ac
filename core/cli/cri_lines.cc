#include "core/cli/cri_lines.h"

#include <utility>

namespace detent {

std::optional<std::string> CriLines::Take(std::string_view stored) {
  const size_t stream = stored.find(' ');
  const size_t tag = stream == stored.npos ? stored.npos : stored.find(' ', stream + 1);
  const size_t text = tag == stored.npos ? stored.npos : stored.find(' ', tag + 1);
  if (text == stored.npos) return std::string(stored);
  if (!open_ && timestamps_) parts_.append(stored.substr(0, stream)).append(" ");
  parts_ += stored.substr(text + 1);
  open_ = stored[tag + 1] == 'P';
  if (open_) return std::nullopt;
  return std::exchange(parts_, {});
}

std::optional<std::string> CriLines::TakeRest() {
  if (!open_) return std::nullopt;
  open_ = false;
  return std::exchange(parts_, {});
}

}  // namespace detent
