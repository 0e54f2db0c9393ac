// Label and field selectors, as Kubernetes' list, watch and deletecollection take them. Values;
// pure; any thread.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/api/object.h"
#include "core/base/result.h"

namespace detent {

// "a=b,c!=d,e in (f,g),h notin (i),j,!k": all must hold.
class LabelSelector {
 public:
  // An empty text selects everything. kInvalid says what is wrong and where.
  static Result<LabelSelector> Parse(std::string_view text);
  bool Matches(const StringMap& labels) const;
  bool empty() const { return requirements_.empty(); }

 private:
  enum class Operator { kExists, kMissing, kIn, kNotIn };
  struct Requirement {
    std::string key;
    Operator op = Operator::kExists;
    std::vector<std::string> values;  // Sorted.
  };
  static Result<Requirement> ParseRequirement(std::string_view& rest);

  std::vector<Requirement> requirements_;
};

// "metadata.name=x,status.phase!=Running": all must hold. Fields: metadata.name and
// metadata.namespace of every kind, status.phase of Jobs, status.state and spec.jobName of Tasks.
class FieldSelector {
 public:
  // kInvalid: "field label not supported: ..." and the like.
  static Result<FieldSelector> Parse(Kind kind, std::string_view text);
  bool Matches(const Object& object) const;
  bool empty() const { return terms_.empty(); }
  // Whether a field can change over an object's life, so that a watch must know the state before.
  bool SelectsMutable() const;
  // The name that metadata.name is required to be, or empty.
  std::string_view RequiredName() const;

 private:
  struct Term {
    std::string field;
    std::string value;
    bool equal = true;
  };
  std::vector<Term> terms_;
};

struct Selectors {
  LabelSelector labels;
  FieldSelector fields;

  bool empty() const { return labels.empty() && fields.empty(); }
  bool Matches(const Object& object) const {
    return labels.Matches(object.meta.labels) && fields.Matches(object);
  }
};

}  // namespace detent
