#include "core/net/headers.h"

#include <strings.h>

namespace detent {

std::string_view HttpHeaders::Find(std::string_view name) const {
  for (size_t i = 0; i < fields_.size(); ++i) {
    const std::string_view own = this->name(i);
    if (own.size() == name.size() && strncasecmp(own.data(), name.data(), name.size()) == 0) {
      return value(i);
    }
  }
  return {};
}

}  // namespace detent
