// Prints the output of tasks: of one, or of all those of a Job, whose lines then begin with
// "[index/attempt] ".
//
// It remembers how far each task's output has been read, so that it can be called again for what is
// new. One thread.

#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/cli/api_client.h"
#include "core/cli/cri_lines.h"

namespace detent {

struct LogChoice {
  bool timestamps = false;
  std::optional<int64_t> index;    // Of a Job: this one only.
  std::optional<int64_t> attempt;  // Of each index: this one only.
  std::optional<int64_t> tail;     // At first only the last lines of each task.
};

class LogReader {
 public:
  // All are borrowed. `notes` gets what is not output: tasks whose output is not to be had.
  LogReader(ApiClient& api, std::ostream& out, std::ostream& notes, LogChoice choice)
      : api_(api), out_(out), notes_(notes), choice_(choice) {}

  // Prints what is new of all tasks of a Job, by index and attempt. Returns how many tasks there
  // are to read.
  Result<size_t> ReadJob(const std::string& ns, const std::string& job);

  // Prints what is new of one Task; with `ended` a last line without its end, too.
  Result<void> ReadTask(const ObjectKey& task, bool ended);

 private:
  struct Source {
    ApiClient::LogPlace place;
    bool ended = false;  // When it was listed.
    bool done = false;   // Read to its end.
    bool begun = false;  // The last lines have been read, where only those are asked for.
    int64_t offset = 0;
    CriLines lines{false};
  };

  void AddSource(const ObjectKey& key, int64_t index, int64_t attempt, bool ended);
  Result<void> UpdateSources(const std::string& ns, const std::string& job);
  Result<void> UpdateUnstored(const ObjectKey& key);
  Result<void> Read(Source& source);
  Result<void> ReadTail(Source& source, int64_t count);
  void Note(const std::string& note);
  void Print(const Source& source, const std::string& line);

  ApiClient& api_;
  std::ostream& out_;
  std::ostream& notes_;
  const LogChoice choice_;
  bool prefixed_ = false;
  std::map<std::pair<int64_t, int64_t>, Source> sources_;  // By index and attempt.
  std::set<std::string> noted_;
};

}  // namespace detent
