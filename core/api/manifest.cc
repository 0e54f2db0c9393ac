#include "core/api/manifest.h"

#include <optional>

#include "core/api/furiko.h"
#include "core/base/spelling.h"

namespace detent {
namespace {


std::string Place(const std::string& file, TextPosition position) {
  if (position.line == 0) return file + ": ";
  return file + ":" + std::to_string(position.line) + ":" + std::to_string(position.column) + ": ";
}

// "line 3, column 5: text" as "FILE:3:5: text".
Error AtPlace(const std::string& file, const Error& error) {
  const std::string& text = error.message();
  TextPosition position;
  int consumed = 0;
  if (std::sscanf(text.c_str(), "line %d, column %d: %n", &position.line, &position.column,
                  &consumed) == 2 &&
      consumed > 0) {
    return Error(Code::kInvalid, Place(file, position) + text.substr(consumed));
  }
  return Error(Code::kInvalid, file + ": " + text);
}

const std::string* TextMember(const Json& value, std::string_view name) {
  const Json* member = value.Find(name);
  return member != nullptr && member->is_string() ? &member->as_string() : nullptr;
}

// The part of a document at `pointer`, with its own positions.
YamlDocument Part(const YamlDocument& whole, const std::string& pointer) {
  YamlDocument part;
  if (const Json* value = whole.value.At(pointer)) part.value = *value;
  for (auto it = whole.positions.lower_bound(pointer); it != whole.positions.end(); ++it) {
    if (!it->first.starts_with(pointer)) break;
    const std::string inner = it->first.substr(pointer.size());
    if (inner.empty() || inner[0] == '/') part.positions.emplace(inner, it->second);
  }
  return part;
}

class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {}

  Result<void> Add(YamlDocument document) {
    const Json& value = document.value;
    if (!value.is_object()) {
      return Wrong(document, "",
                   std::string("must be an object with apiVersion and kind, not ") +
                       (value.is_array() ? "a list" : "a " + std::string(value.type_name())));
    }
    const std::string* kind = TextMember(value, "kind");
    const std::string* version = TextMember(value, "apiVersion");
    if (kind == nullptr) {
      return Wrong(document, "/kind", "kind: is required and must be one of: " + KindNames());
    }
    if (version == nullptr) {
      return Wrong(document, "/apiVersion",
                   std::string("apiVersion: is required and must be ") + kGroupVersion);
    }
    const bool ours = *version == kGroupVersion || *version == kFurikoGroupVersion;
    const bool list = kind->ends_with("List") && value.Find("items") != nullptr;
    if (list && (ours || *version == "v1")) return AddItems(document);
    if (!ours) {
      return Wrong(
          document, "/apiVersion",
          std::string("apiVersion: must be ") + kGroupVersion + ", not '" + *version + "'");
    }
    return AddObject(std::move(document), *kind);
  }

  std::vector<Manifest> Take() { return std::move(manifests_); }

 private:
  Result<void> AddItems(const YamlDocument& list) {
    const Json* items = list.value.Find("items");
    if (!items->is_array()) return Wrong(list, "/items", "items: must be a list of objects");
    for (size_t i = 0; i < items->as_array().size(); ++i) {
      auto added = Add(Part(list, "/items/" + std::to_string(i)));
      if (!added) return added;
    }
    return {};
  }

  Result<void> AddObject(YamlDocument document, const std::string& name) {
    for (const Kind kind : kKinds) {
      if (name != NameOf(kind)) continue;
      Manifest manifest;
      manifest.kind = kind;
      manifest.document = document.value;
      manifest.file = file_;
      manifest.source = std::move(document);
      manifests_.push_back(std::move(manifest));
      return {};
    }
    std::vector<std::string> known;
    for (const Kind kind : kKinds) known.emplace_back(NameOf(kind));
    return Wrong(document, "/kind",
                 "kind: '" + name + "' is not offered by this version of Detent; there are: " +
                     KindNames() + DidYouMean(name, known));
  }

  static std::string KindNames() {
    std::string text;
    for (const Kind kind : kKinds) text += (text.empty() ? "" : ", ") + std::string(NameOf(kind));
    return text;
  }

  Error Wrong(const YamlDocument& document, std::string_view pointer, const std::string& what) {
    return Error(Code::kInvalid, Place(file_, document.PositionOf(pointer)) + what);
  }

  const std::string& file_;
  std::vector<Manifest> manifests_;
};

}  // namespace

Result<std::vector<Manifest>> ReadManifests(std::string_view text, const std::string& file) {
  auto documents = ParseYaml(text);
  if (!documents) return AtPlace(file, documents.error());
  if (documents->empty()) {
    return Error(Code::kInvalid, Place(file, {1, 1}) + "there is no object in it");
  }
  Reader reader(file);
  for (YamlDocument& document : *documents) TRY(reader.Add(std::move(document)));
  return reader.Take();
}

std::string Locate(const Manifest& manifest, const Diagnostic& mistake) {
  return Place(manifest.file, manifest.source.PositionOf(mistake.pointer)) + Sentence(mistake);
}

}  // namespace detent
