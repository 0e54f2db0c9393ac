#include "plugins/pod/template_rules.h"

#include <algorithm>

#include "plugins/pod/marks.h"

namespace detent::pod {
namespace {

using sdk::Json;

bool IsLowerOrDigit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool IsLetterOrDigit(char c) {
  return IsLowerOrDigit(c) || (c >= 'A' && c <= 'Z');
}

// What Kubernetes calls a qualified name's name part, and a label's value unless that is empty.
bool IsNamePart(std::string_view text) {
  const auto inner = [](char c) { return IsLetterOrDigit(c) || c == '-' || c == '_' || c == '.'; };
  return !text.empty() && text.size() <= 63 && IsLetterOrDigit(text.front()) &&
         IsLetterOrDigit(text.back()) && std::all_of(text.begin(), text.end(), inner);
}

bool IsDnsLabel(std::string_view text) {
  const auto inner = [](char c) { return IsLowerOrDigit(c) || c == '-'; };
  return !text.empty() && text.size() <= 63 && IsLowerOrDigit(text.front()) &&
         IsLowerOrDigit(text.back()) && std::all_of(text.begin(), text.end(), inner);
}

bool IsDnsSubdomain(std::string_view text) {
  if (text.empty() || text.size() > 253) return false;
  for (;;) {
    const size_t dot = text.find('.');
    if (!IsDnsLabel(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

// "name" or "prefix.example/name".
bool IsQualifiedName(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return IsNamePart(text);
  return IsDnsSubdomain(text.substr(0, slash)) && IsNamePart(text.substr(slash + 1));
}

}  // namespace

bool TemplateRules::IsTemplate(std::string_view text) const {
  return mode_ == sdk::Fields::Mode::kTemplate && text.find("${") != std::string_view::npos;
}

void TemplateRules::Wrong(const std::string& pointer, std::string_view reason,
                          std::string_view message, std::string_view hint) {
  diag_.Error(pointer, reason, message, hint);
}

template <typename Check>
void TemplateRules::CheckTexts(const Json& object, const std::string& pointer, Check check) {
  if (!object) return;
  if (!object.IsObject()) return Wrong(pointer, "WrongType", "must be an object of texts");
  for (uint64_t i = 0; i < object.size(); ++i) {
    const std::string_view key = object.KeyAt(i);
    const std::string place = pointer + sdk::PointerToken(key);
    const auto text = object[i].Text();
    if (!text) Wrong(place, "WrongType", "must be a text", "put it in quotes");
    CheckKey(key, place);
    if (text && !IsTemplate(*text)) check(*text, place);
  }
}

void TemplateRules::CheckKey(std::string_view key, const std::string& pointer) {
  if (IsTemplate(key)) return;
  if (!IsQualifiedName(key)) {
    return Wrong(
        pointer, "BadName",
        "must be `name` or `prefix/name`: letters, digits, `-`, `_` and `.`, at most 63 of "
        "them behind the prefix, which is a DNS name");
  }
  if (IsReserved(key)) {
    Wrong(pointer, "Reserved", "is the host's to write: a Pod is found again by it",
          "take a prefix of your own");
  }
}

void TemplateRules::CheckLabels(const Json& labels, const std::string& pointer) {
  CheckTexts(labels, pointer, [&](std::string_view value, const std::string& place) {
    if (value.empty() || IsNamePart(value)) return;
    Wrong(place, "BadValue",
          "must be empty, or at most 63 letters, digits, `-`, `_` and `.`, with a letter or digit "
          "at both ends",
          "an annotation may have any text");
  });
}

void TemplateRules::CheckAnnotations(const Json& annotations, const std::string& pointer) {
  CheckTexts(annotations, pointer, [](std::string_view, const std::string&) {});
}

void TemplateRules::CheckFinalizers(const Json& finalizers, const std::string& pointer) {
  if (!finalizers) return;
  if (!finalizers.IsArray()) return Wrong(pointer, "WrongType", "must be a list of texts");
  for (uint64_t i = 0; i < finalizers.size(); ++i) {
    const std::string place = pointer + "/" + std::to_string(i);
    const auto text = finalizers[i].Text();
    if (!text) {
      Wrong(place, "WrongType", "must be a text");
    } else {
      CheckKey(*text, place);
    }
  }
}

void TemplateRules::CheckSpec(const Json& spec, const std::string& pointer) {
  if (!spec) return;
  if (!spec.IsObject()) return Wrong(pointer, "WrongType", "must be an object: a PodSpec");
  const Json containers = spec["containers"];
  if (!containers || containers.IsNull() || (containers.IsArray() && containers.size() == 0)) {
    Wrong(pointer + "/containers", "Required", "must be given: what the Pod is to run");
  }
  names_.clear();
  CheckContainers(spec["initContainers"], pointer + "/initContainers");
  CheckContainers(containers, pointer + "/containers");
  CheckRestartPolicy(spec["restartPolicy"], pointer + "/restartPolicy");
}

void TemplateRules::CheckContainers(const Json& list, const std::string& pointer) {
  if (!list || list.IsNull()) return;
  if (!list.IsArray()) return Wrong(pointer, "WrongType", "must be a list of containers");
  for (uint64_t i = 0; i < list.size(); ++i) {
    CheckContainer(list[i], pointer + "/" + std::to_string(i));
  }
}

void TemplateRules::CheckContainer(const Json& container, const std::string& pointer) {
  if (!container.IsObject()) return Wrong(pointer, "WrongType", "must be an object: a container");
  for (const std::string_view field : {"name", "image"}) {
    const Json value = container[field];
    const std::string place = pointer + "/" + std::string(field);
    const auto text = value.Text();
    if (!value || value.IsNull()) {
      Wrong(place, "Required", "must be given");
    } else if (!text) {
      Wrong(place, "WrongType", "must be a text", "put it in quotes");
    } else if (text->empty()) {
      Wrong(place, "Required", "must not be empty");
    }
  }
  CheckEnvironment(container["env"], pointer + "/env");
  const auto name = container["name"].Text();
  if (!name || name->empty() || IsTemplate(*name)) return;
  if (!IsDnsLabel(*name)) {
    Wrong(pointer + "/name", "BadName",
          "must be at most 63 small letters, digits and `-`, with a letter or digit at both ends");
  }
  if (std::find(names_.begin(), names_.end(), *name) != names_.end()) {
    Wrong(pointer + "/name", "NameTaken", "another container of this Pod has this name");
  }
  names_.emplace_back(*name);
}

// Only its shape: variables are added to it (manifest.h).
void TemplateRules::CheckEnvironment(const Json& env, const std::string& pointer) {
  if (!env || env.IsNull()) return;
  if (!env.IsArray()) {
    return Wrong(pointer, "WrongType", "must be a list of objects with `name` and `value`");
  }
  for (uint64_t i = 0; i < env.size(); ++i) {
    const std::string place = pointer + "/" + std::to_string(i);
    if (!env[i].IsObject()) {
      Wrong(place, "WrongType", "must be an object with `name` and `value`");
    } else if (!env[i]["name"].Text()) {
      Wrong(place + "/name", "Required", "must be given, as a text");
    } else if (const Json value = env[i]["value"]; value && !value.IsNull() && !value.IsText()) {
      Wrong(place + "/value", "WrongType", "must be a text", "put it in quotes");
    }
  }
}

void TemplateRules::CheckRestartPolicy(const Json& policy, const std::string& pointer) {
  if (!policy || policy.IsNull()) return;
  const auto text = policy.Text();
  if (text && (IsTemplate(*text) || *text == "Never" || *text == "OnFailure")) return;
  if (text == "Always") {
    return Wrong(
        pointer, "UnknownValue",
        "must be Never or OnFailure: a Pod whose containers are always started again never "
        "ends",
        "leave it out for Never, and let maxAttempts of the Job repeat it");
  }
  constexpr std::string_view kKnown[] = {"Never", "OnFailure"};
  Wrong(pointer, "UnknownValue", "must be Never or OnFailure",
        text ? sdk::DidYouMean(sdk::Nearest(*text, std::begin(kKnown), std::end(kKnown))) : "");
}

}  // namespace detent::pod
