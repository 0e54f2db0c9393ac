// Reads the members of one JSON object into typed places and keeps the first thing that is wrong:
// how the decoders stay a list of fields. For core/api, and for the host's configuration. One
// thread.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/api/job.h"
#include "core/api/object.h"
#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/base/result.h"

namespace detent {

class FieldReader {
 public:
  // `object` is borrowed. `where` names it in errors ("status.tasks"); empty for the outermost.
  // Anything but an object is an error at once.
  FieldReader(const Json& object, std::string where);

  // A member that is absent or null leaves `out` as it is.
  FieldReader& Read(std::string_view name, std::string& out);
  FieldReader& Read(std::string_view name, int64_t& out);
  FieldReader& Read(std::string_view name, std::optional<int64_t>& out);
  FieldReader& Read(std::string_view name, bool& out);
  FieldReader& Read(std::string_view name, WallTime& out);
  FieldReader& Read(std::string_view name, std::optional<WallTime>& out);
  FieldReader& Read(std::string_view name, StringMap& out);

  // A member with one of an enumeration's names.
  template <typename Enum>
  FieldReader& Read(std::string_view name, Enum& out,
                    std::optional<Enum> (*from_name)(std::string_view)) {
    std::string text;
    Read(name, text);
    if (text.empty()) return *this;
    if (const auto value = from_name(text)) {
      out = *value;
    } else {
      Fail(name, "has the unknown value '" + text + "'");
    }
    return *this;
  }

  // The member if it is an object or an array; null if it is absent; an error for other types.
  const Json* Object(std::string_view name);
  const Json* Array(std::string_view name);

  // "status.tasks.active": how a member is named in errors.
  std::string Path(std::string_view name) const;
  void Fail(std::string_view name, const std::string& what);
  void Fail(Error error);
  // Takes over what another reader, of something inside, found.
  void Merge(const FieldReader& inner);

  bool ok() const { return !error_; }
  Result<void> Finish() const;

 private:
  const Json* Find(std::string_view name) const;
  void WrongType(std::string_view name, const char* wanted, const Json& found);

  const Json& object_;
  std::string where_;
  std::optional<Error> error_;  // The first.
};

// An RFC 3339 time: whole seconds as metav1.Time writes them, and a
// fraction only where there is one, so that nothing is lost on the way.
std::string TimeText(WallTime time);

// Names that only decoders read back.
std::optional<ConcurrencyPolicy> PolicyFromName(std::string_view name);
std::optional<JobType> JobTypeFromName(std::string_view name);

}  // namespace detent
