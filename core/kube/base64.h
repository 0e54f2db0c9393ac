// Base64 (RFC 4648, section 4), the form in which kubeconfigs and API objects carry bytes. Pure.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace detent {

// The bytes that `text` stands for. Line ends within it are passed over, since PEM tools and YAML
// blocks wrap lines; padding is required. nullopt for everything else that is no base64.
std::optional<std::string> DecodeBase64(std::string_view text);

// `bytes` on one line, with padding.
std::string EncodeBase64(std::string_view bytes);

}  // namespace detent
