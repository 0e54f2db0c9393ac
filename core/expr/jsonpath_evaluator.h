// Evaluates a program on one document, depth first, so that nothing is gathered that nobody asked
// for. Every value looked at takes a step, and when the steps are used up it stops: its answers
// mean nothing once failure() is set. One thread; all that it is given is borrowed.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"
#include "core/expr/jsonpath_program.h"

namespace detent::jsonpath {

// Outside of filters a condition may be none of true and false. && yields the least of its parts,
// || the greatest.
enum class Truth : uint8_t {
  kFalse,
  kAbsent,   // A path alone that selects nothing: counts as false, for `!` too.
  kUnknown,  // A comparison or match with a path that selects nothing; so is its negation.
  kTrue,
};

// How a value is reached from the one above it.
struct Step {
  const std::string* name = nullptr;  // Of an object's member; else
  size_t index = 0;                   // of an array's element.
};
using Trail = std::vector<Step>;

class Evaluator {
 public:
  Evaluator(const Json& root, int64_t steps) : root_(root), steps_left_(steps) {}

  // Answers whether to go on.
  using Visit = std::function<bool(const Json& value)>;

  // Visits what a query selects, in order, from `current` if it is not absolute. `trail`, if not
  // null, leads to the value during a visit. False: it was stopped.
  bool Walk(const Query& query, const Json& current, const Visit& visit, Trail* trail = nullptr);

  // A condition outside of filters.
  Truth Judge(const Logic& logic);

  // Takes steps; false, with failure() set, once they are used up.
  bool Spend(uint64_t steps);

  const std::optional<Error>& failure() const { return failure_; }

 private:
  struct Route {
    const std::vector<Segment>& segments;
    const Visit& visit;
    Trail* trail;
  };

  // All answer whether to go on. `depth` is the number of the segment that comes next.
  bool Follow(const Route& route, size_t depth, const Json& node);
  bool Descend(const Route& route, size_t depth, const Json& node);
  bool Apply(const Route& route, size_t depth, const Json& node);
  bool ApplySlice(const Route& route, size_t depth, const Slice& slice, const Json& node);
  bool ApplyFilter(const Route& route, size_t depth, const Logic& filter, const Json& node);

  const Json* Single(const Query& query, const Json& current);
  const Json* Member(const Json& node, const std::string& name, Step& step);
  const Json* Element(const Json& node, int64_t index, Step& step);

  // Conditions in filters.
  bool Matches(const Logic& logic, const Json& current);
  bool Exists(const Query& query, const Json& current);
  Truth JudgeQuery(const Query& query);

  // Null: nothing. What has to be computed goes to `scratch`.
  const Json* ValueOf(const Operand& operand, const Json& current, Json& scratch);
  const Json* ValueOfCall(const Call& call, const Json& current, Json& scratch);
  // nullopt: an argument is nothing.
  std::optional<bool> MatchCall(const Call& call, const Json& current);
  const IRegexp* PatternOf(const std::string& text);

  bool Compare(Comparison comparison, const Json* left, const Json* right);
  bool Equal(const Json& left, const Json& right);
  bool EqualMembers(const Json::Object& left, const Json& right);
  bool Less(const Json& left, const Json& right);

  const Json& root_;
  int64_t steps_left_;
  std::optional<Error> failure_;
  // The last pattern that came from the document, and what it is; often it is always the same.
  std::string pattern_text_;
  std::optional<IRegexp> pattern_;
};

}  // namespace detent::jsonpath
