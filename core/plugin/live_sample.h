// A spec filled in before there is a task: every variable has the value "1", which can stand in a
// name, an image's tag, a quantity and a number alike. What is found at such places says nothing of
// a real task, so it is told apart here. Pure; any thread.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/api/live_review.h"
#include "core/base/diagnostic.h"
#include "core/base/result.h"

namespace detent {

// What an instance found in a spec.
struct LiveAnswer {
  bool refuses = false;  // The mistakes among the findings refuse the spec.
  Diagnostics mistakes;
  Diagnostics warnings;
};

class LiveSample {
 public:
  // Code::kInvalid for a template that is wrong, which admission has told by then.
  static Result<LiveSample> Of(std::string_view spec_json);

  const std::string& spec() const { return spec_; }  // Filled in.

  // What is to be told of an answer.
  LiveFindings Judge(LiveAnswer answer) const;

 private:
  bool HasVariableIn(const std::string& pointer) const;

  std::string spec_;
  std::vector<std::string> places_;  // Of variables, as pointers into the spec.
};

}  // namespace detent
