// The stored form of a task's output (the CRI log format: "<time> <stream> <F|P> text") as the
// lines that the task wrote. A value for one task's output, since a line may come in parts.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace detent {

class CriLines {
 public:
  explicit CriLines(bool timestamps) : timestamps_(timestamps) {}

  // The whole line that `stored` ends, without an end of line; nullopt if there is more to come.
  // What is no CRI line is taken as it is.
  std::optional<std::string> Take(std::string_view stored);

  // What is left of a line that never ended.
  std::optional<std::string> TakeRest();

 private:
  bool timestamps_;
  std::string parts_;
  bool open_ = false;
};

}  // namespace detent
