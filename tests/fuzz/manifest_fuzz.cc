// Whatever a file holds: it is admitted, and what is stored of it is admitted again unchanged; or
// it is refused, each mistake with words.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/api/admission.h"
#include "core/api/codec.h"
#include "core/api/manifest.h"

extern "C" __attribute__((visibility("default"))) int LLVMFuzzerTestOneInput(const uint8_t* data,
                                                                             size_t size) {
  using namespace detent;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto manifests = ReadManifests(input, "f");
  if (!manifests) {
    if (!manifests.error().message().starts_with("f")) std::abort();
    return 0;
  }
  for (const Manifest& manifest : *manifests) {
    AdmissionContext context;
    context.now = FromUnixSeconds(1'800'000'000);
    const Admission admission = AdmitNew(manifest.kind, manifest.document, context);
    for (const Diagnostic& mistake : admission.mistakes) {
      if (mistake.message.empty() || !Locate(manifest, mistake).starts_with("f")) std::abort();
    }
    if (!admission.mistakes.empty()) continue;
    const auto document = ParseJson(EncodeObject(admission.object), 128);
    if (!document) std::abort();
    const Admission again = AdmitUpdate(admission.object, *document, context);
    if (!again.mistakes.empty() || again.object.spec != admission.object.spec) std::abort();
  }
  return 0;
}
