// What parses is written again as a text that parses to the same; patches never make of a document
// what cannot be written; errors have a place.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/base/json.h"
#include "core/base/json_patch.h"
#include "core/base/yaml.h"

// The input up to the first NUL is a document, the rest a patch for it.
extern "C" __attribute__((visibility("default"))) int LLVMFuzzerTestOneInput(const uint8_t* data,
                                                                             size_t size) {
  using namespace detent;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t nul = input.find('\0');
  const auto document = ParseJson(input.substr(0, nul));
  if (!document) {
    if (document.error().message().empty()) std::abort();
    return 0;
  }
  for (const std::string& text : {DumpJson(*document), DumpJsonPretty(*document)}) {
    const auto again = ParseJson(text);
    if (!again || *again != *document) std::abort();
  }
  const auto yaml = ParseYaml(DumpYaml(*document));
  if (!yaml || yaml->size() != 1 || yaml->front().value != *document) std::abort();
  const auto patch = ParseJson(nul == input.npos ? "" : input.substr(nul + 1));
  if (!patch) return 0;
  if (!ParseJson(DumpJson(MergePatch(*document, *patch)), 2000)) std::abort();
  if (const auto patched = ApplyJsonPatch(*document, *patch)) {
    if (!ParseJson(DumpJson(*patched), 2000)) std::abort();
  }
  return 0;
}
