// How objects are shown in the form that a client negotiated: single, as a list, or in the events
// of a watch. Pure; any thread.

#pragma once

#include <string>
#include <string_view>

#include "core/api/object.h"
#include "core/base/clock.h"
#include "core/http/media_type.h"
#include "core/http/request.h"
#include "core/http/status_error.h"
#include "core/http/table.h"

namespace detent {

class View {
 public:
  // From Accept and includeObject; 406 where nothing fits, 400 for a bad includeObject.
  static Outcome<View> Of(Kind kind, const Request& request, WallTime now);

  // One object, whole: what get, create and the like answer.
  std::string One(const Object& object) const;

  // A list in three parts; items or rows are separated by commas that the caller places.
  struct ListMetadata {
    int64_t version = 0;
    std::string continue_token;
  };
  void OpenList(std::string& out, const ListMetadata& metadata) const;
  void Item(std::string& out, const Object& object) const;
  void CloseList(std::string& out) const;

  // One line of a watch: {"type":...,"object":...}\n. Not const: a Table has its columns in the
  // first event only.
  void Event(std::string& out, std::string_view type, const Object& object, WallTime now);
  // `initial_end` marks the bookmark behind the initial events (KEP-3157).
  void Bookmark(std::string& out, int64_t version, bool initial_end);

 private:
  Kind kind_ = Kind::kJob;
  Form form_ = Form::kObject;
  TableOptions table_;
};

// A JobConfig's Scale, which has one form: itself.
Response ScaleResponse(const Object& config);

// {"type":"ERROR","object":<Status>}\n
std::string ErrorEvent(const ApiStatus& status);

}  // namespace detent
