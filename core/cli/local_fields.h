// Field selectors that the API server of a cluster does not know: of our kinds it selects by name
// and namespace only. What a host selects by beside these is looked at here. Pure.

#pragma once

#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/cli/api_client.h"

namespace detent {

class LocalFields {
 public:
  // Takes its terms out of `selection`: status.phase of Jobs, status.state and spec.jobName of
  // Tasks. Of the last the server is asked by the label that says the same.
  static LocalFields TakeFrom(Selection& selection);

  bool empty() const { return terms_.empty(); }
  bool Match(const Json& object) const;
  // Leaves only the rows of a Table, or the items of a List, whose objects match.
  void Filter(Json& list) const;

 private:
  struct Term {
    std::string pointer;
    std::string absent;  // What an object without the field is taken to have.
    std::string value;
    bool equal = true;
  };

  std::vector<Term> terms_;
};

}  // namespace detent
