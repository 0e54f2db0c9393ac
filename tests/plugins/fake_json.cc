#include "tests/plugins/fake_json.h"

#include <map>
#include <string>
#include <vector>

#include "core/base/json.h"

namespace detent::testing {
namespace {

struct Document {
  Json root;
  std::vector<const Json*> nodes;
  std::map<const Json*, detent_node> ids;

  detent_node Id(const Json* node) {
    if (node == nullptr) return 0;
    const auto [at, fresh] = ids.emplace(node, static_cast<detent_node>(nodes.size() + 1));
    if (fresh) nodes.push_back(node);
    return at->second;
  }
};

struct Buffer {
  std::string bytes;
  int references = 1;
};

std::map<detent_doc, Document>& Documents() {
  static std::map<detent_doc, Document> documents;
  return documents;
}

std::map<detent_buf, Buffer>& Buffers() {
  static std::map<detent_buf, Buffer> buffers;
  return buffers;
}

uint64_t NextHandle() {
  static uint64_t next = 1;
  return next++;
}

const Json* Node(detent_doc doc, detent_node node) {
  const auto at = Documents().find(doc);
  if (at == Documents().end() || node == 0 || node > at->second.nodes.size()) return nullptr;
  return at->second.nodes[node - 1];
}

detent_node Id(detent_doc doc, const Json* node) {
  return node == nullptr ? 0 : Documents()[doc].Id(node);
}

std::string_view View(const detent_str& text) {
  return {text.ptr == nullptr ? "" : text.ptr, text.len};
}

detent_status Parse(detent_instance, const detent_bytes* text, uint32_t, detent_doc* out,
                    detent_diag*) {
  auto parsed = ParseJson({reinterpret_cast<const char*>(text->ptr), text->len}, 128);
  if (!parsed) return DETENT_E_INVALID;
  *out = NextHandle();
  Documents()[*out].root = std::move(parsed).value();
  return DETENT_OK;
}

void Release(detent_doc doc) {
  Documents().erase(doc);
}

detent_node Root(detent_doc doc) {
  const auto at = Documents().find(doc);
  return at == Documents().end() ? 0 : at->second.Id(&at->second.root);
}

uint32_t Kind(detent_doc doc, detent_node id) {
  const Json* const node = Node(doc, id);
  if (node == nullptr) return DETENT_JSON_NONE;
  if (node->is_null()) return DETENT_JSON_NULL;
  if (node->is_bool()) return DETENT_JSON_BOOL;
  if (node->is_number()) return DETENT_JSON_NUMBER;
  if (node->is_string()) return DETENT_JSON_STRING;
  return node->is_array() ? DETENT_JSON_ARRAY : DETENT_JSON_OBJECT;
}

uint64_t Length(detent_doc doc, detent_node id) {
  const Json* const node = Node(doc, id);
  if (node == nullptr) return 0;
  if (node->is_array()) return node->as_array().size();
  return node->is_object() ? node->as_object().size() : 0;
}

detent_node Member(detent_doc doc, detent_node id, const detent_str* name) {
  const Json* const node = Node(doc, id);
  return node == nullptr ? 0 : Id(doc, node->Find(View(*name)));
}

detent_node At(detent_doc doc, detent_node id, uint64_t i) {
  const Json* const node = Node(doc, id);
  if (node == nullptr || i >= Length(doc, id)) return 0;
  return Id(doc, node->is_array() ? &node->as_array()[i] : &node->as_object()[i].second);
}

detent_status KeyAt(detent_doc doc, detent_node id, uint64_t i, detent_str* out) {
  const Json* const node = Node(doc, id);
  if (node == nullptr || !node->is_object() || i >= Length(doc, id)) return DETENT_E_NOT_FOUND;
  const std::string& key = node->as_object()[i].first;
  *out = {key.data(), key.size()};
  return DETENT_OK;
}

detent_node Pointer(detent_doc doc, detent_node id, const detent_str* pointer) {
  const Json* const node = Node(doc, id);
  return node == nullptr ? 0 : Id(doc, node->At(View(*pointer)));
}

detent_status Text(detent_doc doc, detent_node id, detent_str* out) {
  const Json* const node = Node(doc, id);
  if (node == nullptr) return DETENT_E_NOT_FOUND;
  if (!node->is_string()) return DETENT_E_INVALID;
  *out = {node->as_string().data(), node->as_string().size()};
  return DETENT_OK;
}

detent_status Signed(detent_doc doc, detent_node id, int64_t* out) {
  const Json* const node = Node(doc, id);
  if (node == nullptr) return DETENT_E_NOT_FOUND;
  if (!node->is_int()) return DETENT_E_INVALID;
  *out = node->as_int();
  return DETENT_OK;
}

detent_status Unsigned(detent_doc doc, detent_node id, uint64_t* out) {
  int64_t value = 0;
  const detent_status status = Signed(doc, id, &value);
  if (status != DETENT_OK) return status;
  if (value < 0) return DETENT_E_INVALID;
  *out = static_cast<uint64_t>(value);
  return DETENT_OK;
}

detent_status Real(detent_doc doc, detent_node id, double* out) {
  const Json* const node = Node(doc, id);
  if (node == nullptr) return DETENT_E_NOT_FOUND;
  if (!node->is_number()) return DETENT_E_INVALID;
  *out = node->as_double();
  return DETENT_OK;
}

detent_status Boolean(detent_doc doc, detent_node id, uint32_t* out) {
  const Json* const node = Node(doc, id);
  if (node == nullptr) return DETENT_E_NOT_FOUND;
  if (!node->is_bool()) return DETENT_E_INVALID;
  *out = node->as_bool() ? 1 : 0;
  return DETENT_OK;
}

detent_status Serialise(detent_instance, detent_doc doc, detent_node id, uint32_t flags,
                        detent_buf* out) {
  const Json* const node = Node(doc, id);
  if (node == nullptr) return DETENT_E_NOT_FOUND;
  const std::string text =
      (flags & DETENT_JSON_PRETTY) != 0 ? DumpJsonPretty(*node, 2) : DumpJson(*node);
  *out = NewBuffer(text.data(), text.size());
  return DETENT_OK;
}

detent_status Escape(detent_instance, const detent_str* text, detent_buf* out) {
  std::string quoted;
  AppendJsonString(quoted, View(*text));
  *out = NewBuffer(quoted.data(), quoted.size());
  return DETENT_OK;
}

}  // namespace

const detent_json* FakeJson() {
  static const detent_json table = {sizeof(detent_json),
                                    0,
                                    &Parse,
                                    &Release,
                                    &Root,
                                    &Kind,
                                    &Length,
                                    &Member,
                                    &At,
                                    &KeyAt,
                                    &Pointer,
                                    &Text,
                                    &Signed,
                                    &Unsigned,
                                    &Real,
                                    &Boolean,
                                    &Serialise,
                                    &Escape};
  return &table;
}

detent_buf NewBuffer(const void* bytes, size_t size) {
  const detent_buf buf = NextHandle();
  Buffers()[buf].bytes.assign(static_cast<const char*>(bytes), size);
  return buf;
}

void RetainBuffer(detent_buf buf) {
  const auto at = Buffers().find(buf);
  if (at != Buffers().end()) ++at->second.references;
}

void ReleaseBuffer(detent_buf buf) {
  const auto at = Buffers().find(buf);
  if (at != Buffers().end() && --at->second.references == 0) Buffers().erase(at);
}

bool ViewBuffer(detent_buf buf, detent_bytes* out) {
  const auto at = Buffers().find(buf);
  if (at == Buffers().end()) return false;
  *out = {reinterpret_cast<const uint8_t*>(at->second.bytes.data()), at->second.bytes.size()};
  return true;
}

size_t LiveBuffers() {
  return Buffers().size();
}

}  // namespace detent::testing
