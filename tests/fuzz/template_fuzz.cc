// Whatever the document and the value: what a template renders is JSON of the same shape, and a
// text that compiles renders.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/base/json.h"
#include "core/expr/substitute.h"
#include "core/expr/template.h"

namespace {

using detent::Json;

// Equal but for scalars that a template may have changed: strings, or strings made numbers.
bool SameShape(const Json& a, const Json& b) {
  if (a.is_array() && b.is_array()) {
    if (a.as_array().size() != b.as_array().size()) return false;
    for (size_t i = 0; i < a.as_array().size(); ++i) {
      if (!SameShape(a.as_array()[i], b.as_array()[i])) return false;
    }
    return true;
  }
  if (a.is_object() && b.is_object()) {
    if (a.as_object().size() != b.as_object().size()) return false;
    for (size_t i = 0; i < a.as_object().size(); ++i) {
      const auto& [name, value] = a.as_object()[i];
      if (name != b.as_object()[i].first) return false;
      if (!SameShape(value, b.as_object()[i].second)) return false;
    }
    return true;
  }
  if (a.is_string()) return b.is_string() || b.is_int();
  return a == b;
}

}  // namespace

// The input up to the first NUL is the value of option.v, the rest the document.
extern "C" __attribute__((visibility("default"))) int LLVMFuzzerTestOneInput(const uint8_t* data,
                                                                             size_t size) {
  using namespace detent;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t nul = input.find('\0');
  const std::string_view document = nul == std::string_view::npos ? input : input.substr(nul + 1);
  Variables variables;
  variables.Set("option.v", input.substr(0, nul));
  variables.Set("option.n", 7);

  std::string out;
  if (const auto text = CompiledTemplate::Parse(document)) {
    if (!text->Render(variables, out) && !out.empty()) std::abort();
  }
  const auto compiled = SpecTemplate::Compile(document);
  if (!compiled) return 0;
  out.clear();
  if (!compiled->Render(variables, out)) {
    if (!out.empty()) std::abort();
    return 0;
  }
  const auto before = ParseJson(document);
  const auto after = ParseJson(out);
  if (!before || !after || !SameShape(*before, *after)) std::abort();
  return 0;
}
