#include "core/expr/jsonpath_evaluator.h"

#include <algorithm>
#include <utility>

#include "core/expr/jsonpath.h"

namespace detent::jsonpath {
namespace {

// Names are compared this fast.
constexpr size_t kMembersPerStep = 4;

// Calls use(child, Step) for each child of `node` until it answers false.
template <typename Use>
bool EachChild(const Json& node, Use&& use) {
  if (node.is_array()) {
    const Json::Array& elements = node.as_array();
    for (size_t i = 0; i < elements.size(); ++i) {
      if (!use(elements[i], Step{nullptr, i})) return false;
    }
  } else if (node.is_object()) {
    for (const auto& [name, value] : node.as_object()) {
      if (!use(value, Step{&name, 0})) return false;
    }
  }
  return true;
}

// Keeps a step on the trail, if there is one, for as long as it lives.
class OnTrail {
 public:
  OnTrail(Trail* trail, Step step) : trail_(trail) {
    if (trail_ != nullptr) trail_->push_back(step);
  }
  ~OnTrail() {
    if (trail_ != nullptr) trail_->pop_back();
  }
  OnTrail(const OnTrail&) = delete;
  OnTrail& operator=(const OnTrail&) = delete;

 private:
  Trail* trail_;
};

// Where a bound of a slice stands in an array of that length: from the end if negative.
int64_t Position(int64_t bound, int64_t length) {
  return bound >= 0 ? bound : length + bound;
}

}  // namespace

bool Evaluator::Spend(uint64_t steps) {
  if (failure_) return false;
  steps_left_ -= static_cast<int64_t>(steps);
  if (steps_left_ >= 0) return true;
  failure_ =
      Error(Code::kTooLarge, "ExpressionBudget: on this document the expression takes more than " +
                                 std::to_string(kExpressionStepsMax) +
                                 " steps; nested '..' and filters within filters multiply them");
  return false;
}

bool Evaluator::Walk(const Query& query, const Json& current, const Visit& visit, Trail* trail) {
  const Json& start = query.absolute ? root_ : current;
  return Spend(1) && Follow({query.segments, visit, trail}, 0, start);
}

bool Evaluator::Follow(const Route& route, size_t depth, const Json& node) {
  if (depth == route.segments.size()) return route.visit(node);
  return route.segments[depth].descendant ? Descend(route, depth, node) : Apply(route, depth, node);
}

bool Evaluator::Descend(const Route& route, size_t depth, const Json& node) {
  return Apply(route, depth, node) && EachChild(node, [&](const Json& child, Step step) {
           const OnTrail on_trail(route.trail, step);
           return Spend(1) && Descend(route, depth, child);
         });
}

bool Evaluator::Apply(const Route& route, size_t depth, const Json& node) {
  for (const Selector& selector : route.segments[depth].selectors) {
    // Also where there is nothing to select: there may be a thousand selectors.
    if (!Spend(1)) return false;
    bool more = true;
    Step step;
    const Json* child = nullptr;
    if (const auto* name = std::get_if<std::string>(&selector)) {
      child = Member(node, *name, step);
    } else if (const auto* index = std::get_if<int64_t>(&selector)) {
      child = Element(node, *index, step);
    } else if (const auto* slice = std::get_if<Slice>(&selector)) {
      more = ApplySlice(route, depth, *slice, node);
    } else if (const auto* filter = std::get_if<std::unique_ptr<Logic>>(&selector)) {
      more = ApplyFilter(route, depth, **filter, node);
    } else {
      more = EachChild(node, [&](const Json& each, Step each_step) {
        const OnTrail on_trail(route.trail, each_step);
        return Spend(1) && Follow(route, depth + 1, each);
      });
    }
    if (child != nullptr) {
      const OnTrail on_trail(route.trail, step);
      more = Follow(route, depth + 1, *child);
    }
    if (!more || failure_) return false;
  }
  return true;
}

bool Evaluator::ApplySlice(const Route& route, size_t depth, const Slice& slice, const Json& node) {
  if (!node.is_array() || slice.step == 0) return true;
  const Json::Array& elements = node.as_array();
  const auto length = static_cast<int64_t>(elements.size());
  const bool forwards = slice.step > 0;
  const int64_t start = Position(slice.start.value_or(forwards ? 0 : length - 1), length);
  // Without an end it goes on beyond the last, or the first.
  const int64_t end = slice.end ? Position(*slice.end, length) : (forwards ? length : -1);
  const int64_t least = forwards ? 0 : -1;
  const int64_t most = forwards ? length : length - 1;
  const int64_t last = std::clamp(end, least, most);
  // Steps have 53 bits and lengths fewer, so this cannot overflow.
  for (int64_t i = std::clamp(start, least, most); forwards ? i < last : i > last;
       i += slice.step) {
    const auto index = static_cast<size_t>(i);
    const OnTrail on_trail(route.trail, Step{nullptr, index});
    if (!Spend(1) || !Follow(route, depth + 1, elements[index])) return false;
  }
  return true;
}

bool Evaluator::ApplyFilter(const Route& route, size_t depth, const Logic& filter,
                            const Json& node) {
  return EachChild(node, [&](const Json& child, Step step) {
    if (!Matches(filter, child)) return !failure_.has_value();
    const OnTrail on_trail(route.trail, step);
    return Follow(route, depth + 1, child);
  });
}

const Json* Evaluator::Member(const Json& node, const std::string& name, Step& step) {
  if (!node.is_object()) return Spend(1), nullptr;
  const Json::Object& members = node.as_object();
  const auto found = std::find_if(members.begin(), members.end(),
                                  [&](const Json::Member& member) { return member.first == name; });
  if (!Spend(1 + static_cast<size_t>(found - members.begin()) / kMembersPerStep)) return nullptr;
  if (found == members.end()) return nullptr;
  step.name = &found->first;
  return &found->second;
}

const Json* Evaluator::Element(const Json& node, int64_t index, Step& step) {
  if (!Spend(1) || !node.is_array()) return nullptr;
  const Json::Array& elements = node.as_array();
  const int64_t position = Position(index, static_cast<int64_t>(elements.size()));
  if (position < 0 || position >= static_cast<int64_t>(elements.size())) return nullptr;
  step.index = static_cast<size_t>(position);
  return &elements[step.index];
}

const Json* Evaluator::Single(const Query& query, const Json& current) {
  const Json* node = query.absolute ? &root_ : &current;
  if (query.singular) {
    Step step;
    for (const Segment& segment : query.segments) {
      const Selector& selector = segment.selectors.front();
      const auto* name = std::get_if<std::string>(&selector);
      node = name != nullptr ? Member(*node, *name, step)
                             : Element(*node, std::get<int64_t>(selector), step);
      if (node == nullptr) return nullptr;
    }
    return node;
  }
  const Json* found = nullptr;
  bool several = false;
  Walk(query, current, [&](const Json& value) {
    several = found != nullptr;
    found = &value;
    return !several;
  });
  if (!several || failure_) return failure_ ? nullptr : found;
  failure_ =
      Error(Code::kInvalid, "AmbiguousMatch: the path at column " + std::to_string(query.column) +
                                " selects several values where one is needed; narrow it by "
                                "a filter, or use count()");
  return nullptr;
}

bool Evaluator::Exists(const Query& query, const Json& current) {
  if (query.singular) return Single(query, current) != nullptr;
  return !Walk(query, current, [](const Json&) { return false; });
}

}  // namespace detent::jsonpath
