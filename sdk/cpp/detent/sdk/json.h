// Reading JSON over the host's detent.json/1: a JsonDoc owns a parsed document, a Json is a view of
// one of its nodes. Looking for what is not there gives an empty Json, never an error, so lookups
// chain: doc.root()["a"]["b"].Text().value_or("x"). A view is valid while its document lives.
// Documents are immutable: any thread, also several at a time.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "detent/sdk/buffer.h"
#include "detent/sdk/status.h"
#include "detent/services/json.h"

namespace detent::sdk {

class Json {
 public:
  Json() = default;
  Json(const detent_json* api, detent_doc doc, detent_node node)
      : api_(api), doc_(doc), node_(node) {}

  uint32_t kind() const { return node_ == 0 ? DETENT_JSON_NONE : api_->kind(doc_, node_); }
  explicit operator bool() const { return node_ != 0; }
  bool IsObject() const { return kind() == DETENT_JSON_OBJECT; }
  bool IsArray() const { return kind() == DETENT_JSON_ARRAY; }
  bool IsText() const { return kind() == DETENT_JSON_STRING; }
  bool IsNull() const { return kind() == DETENT_JSON_NULL; }

  // Members of an object, elements of an array, else 0.
  uint64_t size() const { return node_ == 0 ? 0 : api_->length(doc_, node_); }

  Json operator[](std::string_view name) const {
    const detent_str key = Str(name);
    return At(node_ == 0 ? 0 : api_->member(doc_, node_, &key));
  }
  // The i-th element, or the value of the i-th member.
  Json operator[](uint64_t i) const { return At(node_ == 0 ? 0 : api_->at(doc_, node_, i)); }
  std::string_view KeyAt(uint64_t i) const {
    detent_str key{nullptr, 0};
    if (node_ == 0 || api_->key_at(doc_, node_, i, &key) != DETENT_OK) return {};
    return View(key);
  }
  // By RFC 6901 pointer from here.
  Json Pointer(std::string_view pointer) const {
    const detent_str text = Str(pointer);
    return At(node_ == 0 ? 0 : api_->pointer(doc_, node_, &text));
  }

  // The value, if it is of that kind. Text is borrowed from the document.
  std::optional<std::string_view> Text() const {
    detent_str out{nullptr, 0};
    if (node_ == 0 || api_->str(doc_, node_, &out) != DETENT_OK) return std::nullopt;
    return View(out);
  }
  std::optional<int64_t> Int() const { return Value<int64_t>(&detent_json::i64); }
  std::optional<uint64_t> Uint() const { return Value<uint64_t>(&detent_json::u64); }
  std::optional<double> Double() const { return Value<double>(&detent_json::f64); }
  std::optional<bool> Bool() const {
    const auto value = Value<uint32_t>(&detent_json::boolean);
    return value ? std::optional<bool>(*value != 0) : std::nullopt;
  }

  // This value as compact JSON text; empty if there is nothing.
  std::string Serialise(const detent_host* host, detent_instance instance) const {
    detent_buf buf = 0;
    if (node_ == 0 || api_->serialise(instance, doc_, node_, 0, &buf) != DETENT_OK) return {};
    return std::string(Buffer::Own(host, buf).view());
  }

  const detent_json* api() const { return api_; }
  detent_doc doc() const { return doc_; }
  detent_node node() const { return node_; }

 private:
  Json At(detent_node node) const { return {api_, doc_, node}; }

  template <typename T>
  std::optional<T> Value(detent_status (*detent_json::*get)(detent_doc, detent_node, T*)) const {
    T out{};
    if (node_ == 0 || (api_->*get)(doc_, node_, &out) != DETENT_OK) return std::nullopt;
    return out;
  }

  const detent_json* api_ = nullptr;
  detent_doc doc_ = 0;
  detent_node node_ = 0;
};

class JsonDoc {
 public:
  JsonDoc() = default;
  JsonDoc(JsonDoc&& other) noexcept
      : api_(other.api_), doc_(std::exchange(other.doc_, detent_doc{0})) {}
  JsonDoc& operator=(JsonDoc&& other) noexcept {
    std::swap(api_, other.api_);
    std::swap(doc_, other.doc_);
    return *this;
  }
  ~JsonDoc() {
    if (doc_ != 0) api_->release(doc_);
  }

  // Parses text. instance 0 in pure calls. Findings go to diag, which may be null.
  static Result<JsonDoc> Parse(const detent_host* host, detent_instance instance,
                               std::string_view text, detent_diag* diag = nullptr) {
    const auto* api = static_cast<const detent_json*>(host->service(instance, DETENT_SVC_JSON));
    if (api == nullptr) return Status(DETENT_E_UNSUPPORTED, "NoJson", "the host has no JSON");
    const detent_bytes bytes = Bytes(text);
    detent_doc doc = 0;
    const detent_status code = api->parse(instance, &bytes, 0, &doc, diag);
    if (code != DETENT_OK) return Status(code, "BadJson", "this is not valid JSON");
    return JsonDoc(api, doc);
  }

  Json root() const { return doc_ == 0 ? Json() : Json(api_, doc_, api_->root(doc_)); }

 private:
  JsonDoc(const detent_json* api, detent_doc doc) : api_(api), doc_(doc) {}

  const detent_json* api_ = nullptr;
  detent_doc doc_ = 0;
};

}  // namespace detent::sdk
