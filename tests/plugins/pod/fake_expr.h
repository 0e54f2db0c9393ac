// FakeExpr: a detent.expr/1 that knows paths of names (".a.b"), and ".a[*]" for each element of a
// list. Pure; in place as long as it lives.

#pragma once

#include <string>
#include <vector>

#include "core/plugin/buffer.h"
#include "core/plugin/host_table.h"
#include "detent/services/expr.h"
#include "detent/services/json.h"
#include "tests/plugins/fake_host.h"

namespace detent::testing {

class FakeExpr {
 public:
  FakeExpr() { FakeHost::SetPureService(DETENT_SVC_EXPR, &kTable); }
  ~FakeExpr() { FakeHost::SetPureService(DETENT_SVC_EXPR, nullptr); }
  FakeExpr(const FakeExpr&) = delete;
  FakeExpr& operator=(const FakeExpr&) = delete;

 private:
  static std::vector<std::string>& Programs() {
    static std::vector<std::string> programs;
    return programs;
  }
  static detent_status Compile(detent_instance, uint32_t, const detent_str* text,
                               detent_program* out, detent_diag*) {
    const std::string path(text->ptr, text->len);
    if (path.empty() || path.front() != '.') return DETENT_E_INVALID;
    Programs().push_back(path);
    *out = Programs().size();
    return DETENT_OK;
  }
  static void Release(detent_program) {}
  static detent_status Select(detent_instance inst, detent_program program, detent_doc doc,
                              detent_node node, detent_buf* out) {
    const auto* json = static_cast<const detent_json*>(JsonService());
    std::string path = Programs()[program - 1];
    const bool each = path.ends_with("[*]");
    if (each) path.resize(path.size() - 3);
    for (char& c : path) c = c == '.' ? '/' : c;
    const detent_str pointer{path.data(), path.size()};
    const detent_node found = json->pointer(doc, node, &pointer);
    std::string text = "[]";
    detent_buf value = 0;
    if (found != 0 && json->serialise(inst, doc, found, 0, &value) == DETENT_OK) {
      text = each ? std::string(BufferView(value)) : "[" + std::string(BufferView(value)) + "]";
      ReleaseBuffer(value);
    }
    *out = NewBuffer(text);
    return DETENT_OK;
  }
  static constexpr detent_expr kTable{
      sizeof(detent_expr), 0, &Compile, &Release, &Select, nullptr, nullptr};
};

}  // namespace detent::testing
