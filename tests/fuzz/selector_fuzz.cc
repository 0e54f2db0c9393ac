// Selectors, request targets and continue tokens come from anybody: all are read or refused.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/http/list_options.h"
#include "core/http/request.h"
#include "core/http/selectors.h"

extern "C" __attribute__((visibility("default"))) int LLVMFuzzerTestOneInput(const uint8_t* data,
                                                                             size_t size) {
  using namespace detent;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  Object object;
  object.kind = Kind::kJob;
  object.meta.name = "a";
  object.meta.labels = {{"a", "b"}, {"c", ""}};
  object.status = R"({"phase":"Running"})";
  if (const auto labels = LabelSelector::Parse(input)) {
    if (labels->empty() && !labels->Matches(object.meta.labels)) std::abort();
  }
  if (const auto fields = FieldSelector::Parse(Kind::kJob, input)) {
    if (fields->empty() && !fields->Matches(object)) std::abort();
  }
  Request request;
  request.method = "GET";
  if (!SetTarget(request, "/apis?" + std::string(input))) return 0;
  (void)ReadListOptions(Kind::kJob, request);
  return 0;
}
