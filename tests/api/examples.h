// What the tests of core/api have in common: good objects to spoil, and a validator that knows
// the kinds exec and http. Values; one thread.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/api/admission.h"
#include "core/base/json.h"

namespace detent::testing {

// 2026-11-21T10:00:00Z.
WallTime Noon();

// YAML of one document; the test fails if it is not.
Json FromYaml(std::string_view yaml);

// A document with the value at `pointer` set (or, where `yaml` is empty, taken out).
Json With(Json document, const std::string& pointer, std::string_view yaml);

Json GoodJobConfig();
Json GoodJob();

// Kinds exec and http; says "must be there" at /command for an exec without it.
class TwoKinds final : public SpecValidator {
 public:
  std::vector<std::string> Kinds() const override { return {"exec", "http"}; }
  Diagnostics Validate(std::string_view kind, std::string_view spec_json) const override;
};

AdmissionContext Context();

// All mistakes, one sentence a line.
std::string Sentences(const Admission& admission);

}  // namespace detent::testing
