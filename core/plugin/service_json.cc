#include <cmath>
#include <deque>
#include <memory>

#include "core/base/json.h"
#include "core/plugin/abi_convert.h"
#include "core/plugin/buffer.h"
#include "core/plugin/diag_sink.h"
#include "core/plugin/handle_table.h"
#include "core/plugin/host_table.h"
#include "core/plugin/instance.h"
#include "detent/services/json.h"

namespace detent {
namespace {

constexpr size_t kDepthMax = 128;
constexpr size_t kNodesMax = 1'000'000;

// A parsed document with its values numbered from 1; the children of a value stand in a row.
struct Document {
  struct Node {
    const Json* value = nullptr;
    const std::string* name = nullptr;  // Of an object's member.
    uint32_t first_child = 0;
    uint32_t children = 0;
  };
  Json root;
  std::vector<Node> nodes;  // nodes[i] is number i + 1.
};

using Documents = HandleTable<std::unique_ptr<Document>, std::mutex, 4096>;

Documents& Table() {
  static auto* const table = new Documents();
  return *table;
}

// False where there are too many nodes.
bool Number(Document& document) {
  document.nodes.push_back({&document.root, nullptr, 0, 0});
  for (size_t i = 0; i < document.nodes.size(); ++i) {
    const Json& value = *document.nodes[i].value;
    document.nodes[i].first_child = static_cast<uint32_t>(document.nodes.size() + 1);
    if (value.is_array()) {
      for (const Json& element : value.as_array()) {
        document.nodes.push_back({&element, nullptr, 0, 0});
      }
      document.nodes[i].children = static_cast<uint32_t>(value.as_array().size());
    } else if (value.is_object()) {
      for (const auto& [name, member] : value.as_object()) {
        document.nodes.push_back({&member, &name, 0, 0});
      }
      document.nodes[i].children = static_cast<uint32_t>(value.as_object().size());
    }
    if (document.nodes.size() > kNodesMax) return false;
  }
  return true;
}

const Document* DocumentOf(detent_doc doc) {
  const std::unique_ptr<Document>* found = Table().Find(doc);
  return found == nullptr ? nullptr : found->get();
}

const Document::Node* NodeOf(detent_doc doc, detent_node node) {
  const Document* document = DocumentOf(doc);
  if (document == nullptr || node == 0 || node > document->nodes.size()) return nullptr;
  return &document->nodes[node - 1];
}

detent_status ParseInto(const detent_bytes* text, detent_doc* out, detent_diag* diag) {
  if (text->len > kBufferBytesMax) return DETENT_E_TOO_LARGE;
  auto parsed = ParseJson(Text(*text), kDepthMax);
  if (!parsed) {
    Diagnostic finding;
    finding.message = parsed.error().message();
    if (diag != nullptr) AddFinding(*diag, DETENT_DIAG_ERROR, std::move(finding), "Invalid");
    return DETENT_E_INVALID;
  }
  auto document = std::make_unique<Document>();
  document->root = std::move(parsed).value();
  if (!Number(*document)) return DETENT_E_TOO_LARGE;
  *out = Table().Take([&](std::unique_ptr<Document>& slot) { slot = std::move(document); });
  return *out == 0 ? DETENT_E_NO_MEMORY : DETENT_OK;
}

detent_status Parse(detent_instance, const detent_bytes* text, uint32_t flags, detent_doc* out,
                    detent_diag* diag) {
  if (text == nullptr || out == nullptr) return DETENT_E_INVALID;
  // Two members of one name mean different things to different readers, so neither is taken.
  if (flags != 0) return DETENT_E_UNSUPPORTED;
  try {
    return ParseInto(text, out, diag);
  } catch (...) {
    return DETENT_E_NO_MEMORY;
  }
}

void Release(detent_doc doc) {
  if (!Table().End(doc)) return;
  Table().Ended(doc).reset();
  Table().Recycle(doc);
}

detent_node Root(detent_doc doc) {
  return DocumentOf(doc) == nullptr ? 0 : 1;
}

uint32_t Kind(detent_doc doc, detent_node node) {
  const Document::Node* found = NodeOf(doc, node);
  if (found == nullptr) return DETENT_JSON_NONE;
  const Json& value = *found->value;
  if (value.is_null()) return DETENT_JSON_NULL;
  if (value.is_bool()) return DETENT_JSON_BOOL;
  if (value.is_number()) return DETENT_JSON_NUMBER;
  if (value.is_string()) return DETENT_JSON_STRING;
  return value.is_array() ? DETENT_JSON_ARRAY : DETENT_JSON_OBJECT;
}

uint64_t Length(detent_doc doc, detent_node node) {
  const Document::Node* found = NodeOf(doc, node);
  return found == nullptr ? 0 : found->children;
}

detent_node MemberNamed(const Document& document, detent_node node, std::string_view name) {
  const Document::Node& parent = document.nodes[node - 1];
  if (!parent.value->is_object()) return 0;
  for (uint32_t i = 0; i < parent.children; ++i) {
    const detent_node child = parent.first_child + i;
    if (*document.nodes[child - 1].name == name) return child;
  }
  return 0;
}

detent_node Member(detent_doc doc, detent_node node, const detent_str* name) {
  if (NodeOf(doc, node) == nullptr || name == nullptr) return 0;
  return MemberNamed(*DocumentOf(doc), node, Text(*name));
}

detent_node At(detent_doc doc, detent_node node, uint64_t i) {
  const Document::Node* found = NodeOf(doc, node);
  if (found == nullptr || i >= found->children) return 0;
  return found->first_child + static_cast<uint32_t>(i);
}

detent_status KeyAt(detent_doc doc, detent_node node, uint64_t i, detent_str* out) {
  const Document::Node* child = NodeOf(doc, At(doc, node, i));
  if (child == nullptr || child->name == nullptr || out == nullptr) return DETENT_E_NOT_FOUND;
  *out = View(*child->name);
  return DETENT_OK;
}

// One step of a pointer: "~1" is '/', "~0" is '~'. Empty result with `good` false: malformed.
std::string Unescaped(std::string_view token, bool& good) {
  std::string text;
  for (size_t i = 0; i < token.size(); ++i) {
    if (token[i] != '~') {
      text += token[i];
    } else if (i + 1 < token.size() && (token[i + 1] == '0' || token[i + 1] == '1')) {
      text += token[++i] == '0' ? '~' : '/';
    } else {
      good = false;
    }
  }
  return text;
}

detent_node Element(detent_doc doc, detent_node node, const std::string& token) {
  const bool digits = !token.empty() && token.size() <= 9 &&
                      token.find_first_not_of("0123456789") == std::string::npos;
  if (!digits || (token.size() > 1 && token[0] == '0')) return 0;
  return At(doc, node, std::stoull(token));
}

detent_node Follow(detent_doc doc, detent_node node, std::string_view rest) {
  while (!rest.empty() && node != 0) {
    if (rest[0] != '/') return 0;
    rest.remove_prefix(1);
    const size_t end = rest.find('/');
    bool good = true;
    const std::string token = Unescaped(rest.substr(0, end), good);
    if (!good) return 0;
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end);
    node = Kind(doc, node) == DETENT_JSON_ARRAY ? Element(doc, node, token)
                                                : MemberNamed(*DocumentOf(doc), node, token);
  }
  return node;
}

detent_node Pointer(detent_doc doc, detent_node node, const detent_str* pointer) {
  if (NodeOf(doc, node) == nullptr || pointer == nullptr) return 0;
  return Follow(doc, node, Text(*pointer));
}

// The value of a node that must be of one kind; null with `wrong` set where it is not.
const Json* ValueOf(detent_doc doc, detent_node node, uint32_t kind, detent_status& wrong) {
  const Document::Node* found = NodeOf(doc, node);
  wrong = found == nullptr ? DETENT_E_NOT_FOUND : DETENT_E_INVALID;
  return found != nullptr && Kind(doc, node) == kind ? found->value : nullptr;
}

detent_status Str(detent_doc doc, detent_node node, detent_str* out) {
  detent_status wrong = DETENT_OK;
  const Json* value = ValueOf(doc, node, DETENT_JSON_STRING, wrong);
  if (value == nullptr) return wrong;
  *out = View(value->as_string());
  return DETENT_OK;
}

detent_status I64(detent_doc doc, detent_node node, int64_t* out) {
  detent_status wrong = DETENT_OK;
  const Json* value = ValueOf(doc, node, DETENT_JSON_NUMBER, wrong);
  if (value == nullptr) return wrong;
  if (value->is_int()) {
    *out = value->as_int();
    return DETENT_OK;
  }
  const double number = value->as_double();
  if (number != std::floor(number) || std::fabs(number) >= 0x1p63) return DETENT_E_INVALID;
  *out = static_cast<int64_t>(number);
  return DETENT_OK;
}

detent_status U64(detent_doc doc, detent_node node, uint64_t* out) {
  int64_t small = 0;
  const detent_status status = I64(doc, node, &small);
  if (status == DETENT_OK) {
    if (small < 0) return DETENT_E_INVALID;
    *out = static_cast<uint64_t>(small);
    return DETENT_OK;
  }
  detent_status wrong = DETENT_OK;
  const Json* value = ValueOf(doc, node, DETENT_JSON_NUMBER, wrong);
  if (value == nullptr) return wrong;
  const double number = value->as_double();
  if (number != std::floor(number) || number < 0 || number >= 0x1p64) return DETENT_E_INVALID;
  *out = static_cast<uint64_t>(number);
  return DETENT_OK;
}

detent_status F64(detent_doc doc, detent_node node, double* out) {
  detent_status wrong = DETENT_OK;
  const Json* value = ValueOf(doc, node, DETENT_JSON_NUMBER, wrong);
  if (value == nullptr) return wrong;
  *out = value->as_double();
  return DETENT_OK;
}

detent_status Boolean(detent_doc doc, detent_node node, uint32_t* out) {
  detent_status wrong = DETENT_OK;
  const Json* value = ValueOf(doc, node, DETENT_JSON_BOOL, wrong);
  if (value == nullptr) return wrong;
  *out = value->as_bool() ? 1 : 0;
  return DETENT_OK;
}

std::atomic<int64_t>* LeakCounter(detent_instance inst) {
  Instance* instance = Instance::Of(inst);
  return instance == nullptr ? nullptr : &instance->buffers();
}

detent_status Give(detent_instance inst, std::string text, detent_buf* out) {
  *out = NewBuffer(std::move(text), LeakCounter(inst));
  return *out == 0 ? DETENT_E_NO_MEMORY : DETENT_OK;
}

detent_status Serialise(detent_instance inst, detent_doc doc, detent_node node, uint32_t flags,
                        detent_buf* out) {
  if ((flags & ~DETENT_JSON_PRETTY) != 0) return DETENT_E_UNSUPPORTED;
  const Document::Node* found = NodeOf(doc, node);
  if (found == nullptr || out == nullptr) return DETENT_E_NOT_FOUND;
  try {
    const bool pretty = (flags & DETENT_JSON_PRETTY) != 0;
    return Give(inst, pretty ? DumpJsonPretty(*found->value, 2) : DumpJson(*found->value), out);
  } catch (...) {
    return DETENT_E_NO_MEMORY;
  }
}

detent_status Escape(detent_instance inst, const detent_str* text, detent_buf* out) {
  if (text == nullptr || out == nullptr || !IsUtf8(Text(*text))) return DETENT_E_INVALID;
  try {
    std::string escaped;
    AppendJsonString(escaped, Text(*text));
    return Give(inst, std::move(escaped), out);
  } catch (...) {
    return DETENT_E_NO_MEMORY;
  }
}

constexpr detent_json kJsonTable = {
    sizeof(detent_json),
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
    &Str,
    &I64,
    &U64,
    &F64,
    &Boolean,
    &Serialise,
    &Escape,
};

}  // namespace

const void* JsonService() {
  return &kJsonTable;
}

detent_status NodeValue(detent_doc doc, detent_node node, const Json*& out) {
  if (DocumentOf(doc) == nullptr) return DETENT_E_STALE;
  const Document::Node* const found = NodeOf(doc, node);
  if (found == nullptr) return DETENT_E_NOT_FOUND;
  out = found->value;
  return DETENT_OK;
}

size_t LiveDocuments() {
  return Table().live();
}

}  // namespace detent
