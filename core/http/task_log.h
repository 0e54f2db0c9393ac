// The output of a Task, as text: GET .../tasks/NAME/log, in the manner of a Pod's log.
//
// Parameters: `follow` goes on until the Task has ended and all is read; `offset` begins so many
// bytes into the stored output (CRI format); `tailLines` shows the last lines only; `limitBytes`
// ends after so many bytes; `timestamps` puts each line's RFC 3339 time in front of it; `raw`
// leaves the stored CRI format as it is, from which a client can tell offsets.
//
// Of tasks that are not stored, because their executor's own objects are the record, the output is
// asked for by their Job: GET .../jobs/NAME/log, with `index` (0) and `attempt` (1) beside these.

#pragma once

#include <string>
#include <string_view>

#include "core/http/api_context.h"
#include "core/http/request.h"

namespace detent {

Response TaskLog(const ApiContext& context, const Request& request, const Target& target);
Response JobLog(const ApiContext& context, const Request& request, const Target& target);

// Turns whole CRI lines ("<time> stdout F text\n") into the text that the task wrote. A line in
// parts ("P") is joined. A value for one stream, since a part may end a chunk.
class CriText {
 public:
  explicit CriText(bool timestamps) : timestamps_(timestamps) {}
  // Appends the text of `lines` to `out`. What is no CRI line is taken as it is.
  void Append(std::string_view lines, std::string& out);

 private:
  bool timestamps_;
  bool inside_line_ = false;  // The last part had more to come.
};

}  // namespace detent
