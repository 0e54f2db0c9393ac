// Shows how a Job gets on: on a terminal one line that is drawn again and again, elsewhere a line
// for each change. One thread.

#pragma once

#include <iosfwd>
#include <string>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/cli/cli.h"

namespace detent {

// "job default/hello: Running, 3/10 succeeded, 1 failed, 4 running". On the server's document.
std::string JobProgress(const Json& job);

// True if the phase is one that a Job does not leave.
bool IsFinishedJob(const Json& job);
bool IsSucceededJob(const Json& job);

class Progress {
 public:
  // On io.err rather than io.out if `aside`, where the output is something else.
  Progress(CliIo& io, bool aside);
  ~Progress() { Finish(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Shows `text` in place of what was shown before; nothing happens if it is the same.
  void Show(const std::string& text);
  // Ends the line.
  void Finish();

 private:
  std::ostream& out_;
  bool redraw_;
  int width_;
  bool drawn_ = false;
  std::string last_;
};

}  // namespace detent
