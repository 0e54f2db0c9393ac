// What `wait --for` waits for: a condition, a field's value, or that the object is gone. Pure.

#pragma once

#include <string>
#include <string_view>

#include "core/base/json.h"
#include "core/base/result.h"

namespace detent {

class WaitGoal {
 public:
  // "delete"; "condition=Complete", "condition=Complete=False"; "jsonpath={.status.phase}=Running",
  // where the path is of names and indexes only and the value may be left out ("is there").
  // kInvalid: none of these.
  static Result<WaitGoal> Parse(const std::string& text);

  bool is_delete() const { return form_ == Form::kDelete; }
  bool IsMet(const Json& object) const;
  // A finished Job whose condition will never come: it ended the other way.
  bool IsLost(const Json& object) const;

 private:
  enum class Form { kDelete, kCondition, kField };

  Form form_ = Form::kDelete;
  std::string name_;  // The condition's type, or an RFC 6901 pointer.
  std::string value_;
  bool any_value_ = false;
};

}  // namespace detent
