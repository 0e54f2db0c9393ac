#include "core/plugin/live_sample.h"

#include <algorithm>
#include <utility>

#include "core/expr/substitute.h"

namespace detent {
namespace {

constexpr const char* kSampleValue = "1";

}  // namespace

Result<LiveSample> LiveSample::Of(std::string_view spec_json) {
  const SpecTemplate compiled = TRY(SpecTemplate::Compile(spec_json));
  LiveSample sample;
  Variables values;
  for (const SpecTemplate::Use& use : compiled.uses()) {
    values.Set(use.name, kSampleValue);
    sample.places_.push_back(use.pointer);
  }
  TRY(compiled.Render(values, sample.spec_));
  return sample;
}

// At that place, or below it.
bool LiveSample::HasVariableIn(const std::string& pointer) const {
  return std::any_of(places_.begin(), places_.end(), [&](const std::string& place) {
    return place == pointer || place.starts_with(pointer + "/");
  });
}

LiveFindings LiveSample::Judge(LiveAnswer answer) const {
  LiveFindings told;
  const auto tell = [&](Diagnostic finding, bool refuses) {
    if (finding.pointer.empty() && !places_.empty()) {
      refuses = false;
      if (finding.hint.empty()) finding.hint = "tried with `1` in place of each variable";
    } else if (HasVariableIn(finding.pointer)) {
      return;
    }
    (refuses ? told.mistakes : told.warnings).push_back(std::move(finding));
  };
  for (Diagnostic& mistake : answer.mistakes) tell(std::move(mistake), answer.refuses);
  for (Diagnostic& warning : answer.warnings) tell(std::move(warning), false);
  return told;
}

}  // namespace detent
