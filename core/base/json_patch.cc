#include "core/base/json_patch.h"

#include <algorithm>
#include <vector>

#include "core/base/limits.h"

namespace detent {

namespace {

using Steps = std::vector<std::string>;

Error BadPatch(std::string message) {
  return Error(Code::kInvalid, std::move(message));
}

size_t Height(const Json& value) {
  size_t height = 0;
  if (value.is_array()) {
    for (const Json& item : value.as_array()) height = std::max(height, Height(item) + 1);
  } else if (value.is_object()) {
    for (const auto& [name, item] : value.as_object()) height = std::max(height, Height(item) + 1);
  }
  return height;
}

// About as many bytes as the value would take when written.
size_t Weight(const Json& value) {
  size_t weight = 4;
  if (value.is_string()) {
    weight += value.as_string().size();
  } else if (value.is_array()) {
    for (const Json& item : value.as_array()) weight += Weight(item);
  } else if (value.is_object()) {
    for (const auto& [name, item] : value.as_object()) weight += name.size() + Weight(item);
  }
  return weight;
}

// The value at the first `count` steps, or null.
Json* Walk(Json& root, const Steps& steps, size_t count) {
  Json* at = &root;
  for (size_t i = 0; i < count && at != nullptr; ++i) {
    if (!at->is_array()) {
      at = at->Find(steps[i]);
      continue;
    }
    const auto index = ArrayIndex(steps[i]);
    at = index && *index < at->as_array().size() ? &at->as_array()[*index] : nullptr;
  }
  return at;
}

class Patcher {
 public:
  explicit Patcher(Json target) : document_(std::move(target)) {}

  Result<void> Apply(const Json& operation) {
    if (!operation.is_object()) {
      return BadPatch(std::string("must be an object, not ") + operation.type_name());
    }
    const std::string op = TRY(Text(operation, "op"));
    const Steps path = TRY(Pointer(operation, "path"));
    if (op == "remove") return Remove(path);
    if (op == "move" || op == "copy") return Transfer(operation, path, op == "move");
    if (op != "add" && op != "replace" && op != "test") return BadPatch("unknown op '" + op + "'");

    const Json* value = operation.Find("value");
    if (value == nullptr) return BadPatch("'value' is required");
    if (op == "add") return Add(path, *value);
    return op == "test" ? Test(path, *value) : Replace(path, *value);
  }

  Json Take() && { return std::move(document_); }

 private:
  static Result<std::string> Text(const Json& operation, const char* name) {
    const Json* text = operation.Find(name);
    if (text == nullptr) return BadPatch(std::string("'") + name + "' is required");
    if (!text->is_string()) {
      return BadPatch(std::string("'") + name + "' must be a string, not " + text->type_name());
    }
    return text->as_string();
  }

  static Result<Steps> Pointer(const Json& operation, const char* name) {
    const std::string text = TRY(Text(operation, name));
    auto steps = SplitPointer(text);
    if (!steps) return BadPatch(std::string("'") + name + "' is no JSON pointer: '" + text + "'");
    return *std::move(steps);
  }

  static Error Missing(const Steps& path) {
    std::string pointer;
    for (const std::string& step : path) pointer += PointerToken(step);
    return BadPatch("there is no '" + pointer + "'");
  }

  Result<void> Add(const Steps& path, Json value) {
    // Without this bound a patch could nest a document until walking it exhausts the stack.
    if (path.size() + Height(value) > limits::kDocumentDepth) {
      return BadPatch("would nest deeper than " + std::to_string(limits::kDocumentDepth));
    }
    if (path.empty()) {
      document_ = std::move(value);
      return {};
    }
    Json* parent = Walk(document_, path, path.size() - 1);
    if (parent == nullptr) return Missing(Steps(path.begin(), path.end() - 1));
    if (parent->is_object()) {
      parent->Set(path.back(), std::move(value));
      return {};
    }
    if (!parent->is_array()) return Missing(path);
    Json::Array& items = parent->as_array();
    const auto index = path.back() == "-" ? items.size() : ArrayIndex(path.back());
    if (!index || *index > items.size()) return Missing(path);
    items.insert(items.begin() + static_cast<std::ptrdiff_t>(*index), std::move(value));
    return {};
  }

  Result<void> Replace(const Steps& path, Json value) {
    Json* place = Walk(document_, path, path.size());
    if (place == nullptr) return Missing(path);
    if (path.size() + Height(value) > limits::kDocumentDepth) {
      return BadPatch("would nest deeper than " + std::to_string(limits::kDocumentDepth));
    }
    *place = std::move(value);
    return {};
  }

  Result<void> Remove(const Steps& path) {
    if (Walk(document_, path, path.size()) == nullptr) return Missing(path);
    if (path.empty()) {
      document_ = Json();
      return {};
    }
    Json* parent = Walk(document_, path, path.size() - 1);
    if (parent->is_object()) {
      parent->Remove(path.back());
    } else {
      Json::Array& items = parent->as_array();
      items.erase(items.begin() + static_cast<std::ptrdiff_t>(*ArrayIndex(path.back())));
    }
    return {};
  }

  Result<void> Transfer(const Json& operation, const Steps& path, bool move) {
    const Steps from = TRY(Pointer(operation, "from"));
    Json* source = Walk(document_, from, from.size());
    if (source == nullptr) return Missing(from);
    if (move) {
      if (from == path) return {};
      if (from.size() < path.size() && std::equal(from.begin(), from.end(), path.begin())) {
        return BadPatch("a value cannot be moved into itself");
      }
      Json value = std::move(*source);
      // Removing needs a value to be there; which one does not matter.
      TRY(Remove(from));
      return Add(path, std::move(value));
    }
    // Copies can double a document with each operation.
    copied_ += Weight(*source);
    if (copied_ > limits::kRequestBytes) {
      return Error(Code::kTooLarge, "the patch copies more than " +
                                        std::to_string(limits::kRequestBytes) + " bytes");
    }
    return Add(path, *source);
  }

  Result<void> Test(const Steps& path, const Json& value) {
    const Json* place = Walk(document_, path, path.size());
    if (place == nullptr) return Missing(path);
    if (*place == value) return {};
    return BadPatch("test failed: the value there is another");
  }

  Json document_;
  size_t copied_ = 0;
};

}  // namespace

Json MergePatch(Json target, const Json& patch) {
  if (!patch.is_object()) return patch;
  if (!target.is_object()) target = Json::Object();
  for (const auto& [name, value] : patch.as_object()) {
    if (value.is_null()) {
      target.Remove(name);
      continue;
    }
    Json* member = target.Find(name);
    Json merged = MergePatch(member == nullptr ? Json() : std::move(*member), value);
    target.Set(name, std::move(merged));
  }
  return target;
}

Result<Json> ApplyJsonPatch(Json target, const Json& patch) {
  if (!patch.is_array()) {
    return BadPatch(std::string("a JSON patch must be an array, not ") + patch.type_name());
  }
  Patcher patcher(std::move(target));
  for (size_t i = 0; i < patch.as_array().size(); ++i) {
    auto applied = patcher.Apply(patch.as_array()[i]);
    if (!applied) return std::move(applied).error().While("/" + std::to_string(i));
  }
  return std::move(patcher).Take();
}

}  // namespace detent
