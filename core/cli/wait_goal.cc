#include "core/cli/wait_goal.h"

#include "core/cli/api_client.h"
#include "core/cli/mistakes.h"
#include "core/cli/progress.h"

namespace detent {
namespace {

constexpr std::string_view kCondition = "condition=";
constexpr std::string_view kJsonPath = "jsonpath=";

bool SameWord(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if ((a[i] | 0x20) != (b[i] | 0x20)) return false;
  }
  return true;
}

Error BadPath(const std::string& text) {
  return Error(Code::kInvalid,
               "--for: the path must be names and indexes, such as "
               "jsonpath={.status.phase}=Running, not '" +
                   text + "'");
}

}  // namespace

Result<WaitGoal> WaitGoal::Parse(const std::string& text) {
  WaitGoal goal;
  if (text == "delete") return goal;
  if (text.starts_with(kCondition)) {
    goal.form_ = Form::kCondition;
    goal.name_ = text.substr(kCondition.size());
    const size_t equals = goal.name_.find('=');
    goal.value_ = equals == std::string::npos ? "True" : goal.name_.substr(equals + 1);
    goal.name_ = goal.name_.substr(0, equals);
    if (!goal.name_.empty()) return goal;
  }
  if (!text.starts_with(kJsonPath)) {
    return Error(Code::kInvalid,
                 "--for: must be delete, condition=NAME or jsonpath={.a.b}=VALUE, "
                 "not '" +
                     text + "'");
  }
  std::string path = text.substr(kJsonPath.size());
  const size_t close = path.find('}');
  const size_t end = path.starts_with("{") && close != path.npos ? close + 1 : path.find('=');
  const std::string rest = end == path.npos || end >= path.size() ? "" : path.substr(end);
  path = path.substr(0, end);
  if (path.starts_with("{")) path = path.substr(1, path.size() - 2);
  if (!path.starts_with(".") || path.find_first_of("*?@()'\"{}") != path.npos ||
      path.find("..") != path.npos || (!rest.empty() && rest[0] != '=')) {
    return BadPath(text);
  }
  goal.form_ = Form::kField;
  goal.name_ = PointerOf(path);
  goal.any_value_ = rest.empty();
  goal.value_ = rest.empty() ? "" : rest.substr(1);
  return goal;
}

bool WaitGoal::IsMet(const Json& object) const {
  if (form_ == Form::kDelete) return false;
  if (form_ == Form::kField) {
    const Json* found = object.At(name_);
    if (found == nullptr || any_value_) return found != nullptr;
    return (found->is_string() ? found->as_string() : DumpJson(*found)) == value_;
  }
  const Json* conditions = object.At("/status/conditions");
  if (conditions == nullptr || !conditions->is_array()) return false;
  for (const Json& condition : conditions->as_array()) {
    if (!SameWord(TextAt(condition, "/type"), name_)) continue;
    return SameWord(TextAt(condition, "/status"), value_);
  }
  return false;
}

bool WaitGoal::IsLost(const Json& object) const {
  return form_ == Form::kCondition && SameWord(value_, "True") && IsFinishedJob(object) &&
         !IsMet(object);
}

}  // namespace detent
