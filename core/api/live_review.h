// What the world says about an object that admission has let pass: would the API server take this
// Job's Pod? Which executor can tell, and whether its operator wants it asked, the plugins know.
//
// A look outside costs time, so it is made once for a spec, and only where an executor's spec is
// new. The world may be different by the time the Job runs, so what it says is a warning, unless
// the operator wants refusals; that nobody could look refuses nothing.

#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "core/api/admission.h"

namespace detent {

struct LiveQuestion {
  std::string_view kind;                      // Of the executor: "pod".
  std::string_view ns;                        // Of the Job.
  std::string_view spec_json;                 // Of the executor; valid, with `${...}` still in it.
  std::chrono::milliseconds patience{2'000};  // For the answer; at most 2 s.
};

// Pointers are relative to the spec.
struct LiveFindings {
  Diagnostics mistakes;  // These refuse the object.
  Diagnostics warnings;
  std::string not_checked;  // Why nothing was learned; empty: it was, or nobody wants it asked.
};

// Any thread but the loop's: it blocks until the answer is there or the patience over.
class LiveValidator {
 public:
  virtual ~LiveValidator() = default;
  // Nothing found also where the executor cannot be asked now, since the host waits to lead.
  virtual LiveFindings CheckLive(const LiveQuestion& question) const = 0;
};

// For one request, which may try to write more than once. One thread.
class LiveReview {
 public:
  // `validator` is borrowed. Null: nobody is asked.
  LiveReview(const LiveValidator* validator, std::chrono::milliseconds patience)
      : validator_(validator), patience_(patience) {}

  // Adds what is found to an admission without mistakes, which was made of `document`. `old`: the
  // object that is changed, null for a new one.
  void Judge(const Object* old, const Json& document, Admission& admission);

 private:
  const LiveValidator* const validator_;
  const std::chrono::milliseconds patience_;
  std::string asked_;  // The spec that the next is about.
  LiveFindings findings_;
};

}  // namespace detent
