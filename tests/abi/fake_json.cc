// The fake host's JSON service: nodes are positions in a list of pointers into a core Json value.

#include <map>
#include <memory>
#include <vector>

#include "core/base/json.h"
#include "detent/sdk/text.h"
#include "tests/abi/fake_host.h"

namespace detent::test {
namespace {

using sdk::View;

struct Document {
  Json root;
  std::vector<const Json*> nodes;  // node n is nodes[n - 1]
};

std::map<detent_doc, std::unique_ptr<Document>>& Documents() {
  static std::map<detent_doc, std::unique_ptr<Document>> documents;
  return documents;
}

const Json* At(detent_doc doc, detent_node node) {
  const auto found = Documents().find(doc);
  if (found == Documents().end() || node == 0) return nullptr;
  return found->second->nodes.at(node - 1);
}

detent_node NodeOf(detent_doc doc, const Json* value) {
  if (value == nullptr) return 0;
  auto& nodes = Documents().at(doc)->nodes;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i] == value) return static_cast<detent_node>(i + 1);
  }
  nodes.push_back(value);
  return static_cast<detent_node>(nodes.size());
}

detent_status Parse(detent_instance, const detent_bytes* text, uint32_t, detent_doc* out,
                    detent_diag*) {
  static detent_doc next = 0;
  auto parsed = ParseJson(View(*text));
  if (!parsed) return DETENT_E_INVALID;
  auto document = std::make_unique<Document>();
  document->root = *std::move(parsed);
  document->nodes.push_back(&document->root);
  Documents()[*out = ++next] = std::move(document);
  return DETENT_OK;
}

void Release(detent_doc doc) {
  Documents().erase(doc);
}
detent_node Root(detent_doc) {
  return 1;
}

uint32_t Kind(detent_doc doc, detent_node node) {
  const Json* value = At(doc, node);
  if (value == nullptr) return DETENT_JSON_NONE;
  if (value->is_null()) return DETENT_JSON_NULL;
  if (value->is_bool()) return DETENT_JSON_BOOL;
  if (value->is_number()) return DETENT_JSON_NUMBER;
  if (value->is_string()) return DETENT_JSON_STRING;
  return value->is_array() ? DETENT_JSON_ARRAY : DETENT_JSON_OBJECT;
}

uint64_t Length(detent_doc doc, detent_node node) {
  const Json* value = At(doc, node);
  if (value == nullptr) return 0;
  if (value->is_array()) return value->as_array().size();
  return value->is_object() ? value->as_object().size() : 0;
}

detent_node Member(detent_doc doc, detent_node node, const detent_str* name) {
  const Json* value = At(doc, node);
  return value == nullptr ? 0 : NodeOf(doc, value->Find(View(*name)));
}

detent_node Element(detent_doc doc, detent_node node, uint64_t i) {
  const Json* value = At(doc, node);
  if (i >= Length(doc, node)) return 0;
  return NodeOf(doc, value->is_array() ? &value->as_array()[i] : &value->as_object()[i].second);
}

detent_status KeyAt(detent_doc doc, detent_node node, uint64_t i, detent_str* out) {
  const Json* value = At(doc, node);
  if (value == nullptr || !value->is_object() || i >= Length(doc, node)) return DETENT_E_NOT_FOUND;
  *out = sdk::Str(value->as_object()[i].first);
  return DETENT_OK;
}

detent_node Pointer(detent_doc doc, detent_node node, const detent_str* pointer) {
  const Json* value = At(doc, node);
  return value == nullptr ? 0 : NodeOf(doc, value->At(View(*pointer)));
}

detent_status Text(detent_doc doc, detent_node node, detent_str* out) {
  const Json* value = At(doc, node);
  if (value == nullptr) return DETENT_E_NOT_FOUND;
  if (!value->is_string()) return DETENT_E_INVALID;
  *out = sdk::Str(value->as_string());
  return DETENT_OK;
}

template <typename T>
detent_status Integer(detent_doc doc, detent_node node, T* out) {
  const Json* value = At(doc, node);
  if (value == nullptr) return DETENT_E_NOT_FOUND;
  if (!value->is_int()) return DETENT_E_INVALID;
  *out = static_cast<T>(value->as_int());
  return DETENT_OK;
}

detent_status Real(detent_doc doc, detent_node node, double* out) {
  const Json* value = At(doc, node);
  if (value == nullptr) return DETENT_E_NOT_FOUND;
  if (!value->is_number()) return DETENT_E_INVALID;
  *out = value->as_double();
  return DETENT_OK;
}

detent_status Boolean(detent_doc doc, detent_node node, uint32_t* out) {
  const Json* value = At(doc, node);
  if (value == nullptr) return DETENT_E_NOT_FOUND;
  if (!value->is_bool()) return DETENT_E_INVALID;
  *out = value->as_bool() ? 1 : 0;
  return DETENT_OK;
}

detent_status Unused(detent_instance, detent_doc, detent_node, uint32_t, detent_buf*) {
  return DETENT_E_UNSUPPORTED;
}
detent_status UnusedEscape(detent_instance, const detent_str*, detent_buf*) {
  return DETENT_E_UNSUPPORTED;
}

}  // namespace

const detent_json* FakeJson() {
  static const detent_json table{sizeof(detent_json),
                                 0,
                                 &Parse,
                                 &Release,
                                 &Root,
                                 &Kind,
                                 &Length,
                                 &Member,
                                 &Element,
                                 &KeyAt,
                                 &Pointer,
                                 &Text,
                                 &Integer<int64_t>,
                                 &Integer<uint64_t>,
                                 &Real,
                                 &Boolean,
                                 &Unused,
                                 &UnusedEscape};
  return &table;
}

int LiveFakeDocuments() {
  return static_cast<int>(Documents().size());
}

}  // namespace detent::test
