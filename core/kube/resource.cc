#include "core/kube/resource.h"

#include <algorithm>
#include <vector>

#include "core/base/names.h"

namespace detent {
namespace {

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

// "v1", "v2beta1": as Kubernetes names the versions of its own groups. The core group has no name
// that would stand before its version, so this tells "v1/pods/status" from "apps/v1/deployments".
bool IsKubeVersion(std::string_view text) {
  const auto take_digits = [&] {
    const size_t begin = text.size();
    while (!text.empty() && IsDigit(text[0])) text.remove_prefix(1);
    return text.size() < begin;
  };
  if (!text.starts_with('v')) return false;
  text.remove_prefix(1);
  if (!take_digits()) return false;
  if (text.empty()) return true;
  if (!text.starts_with("alpha") && !text.starts_with("beta")) return false;
  text.remove_prefix(text[0] == 'a' ? 5 : 4);
  return take_digits() && text.empty();
}

std::vector<std::string_view> SplitAtSlashes(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t slash = text.find('/');
    parts.push_back(text.substr(0, slash));
    if (slash == text.npos) return parts;
    text.remove_prefix(slash + 1);
  }
}

// RFC 3986, section 2.3; the rest is encoded, whether or not it had to be.
void AppendEncoded(std::string& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  for (const char c : text) {
    const bool plain = IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
                       c == '.' || c == '_' || c == '~';
    if (plain) {
      out += c;
      continue;
    }
    out += '%';
    out += kHex[static_cast<unsigned char>(c) >> 4];
    out += kHex[static_cast<unsigned char>(c) & 15];
  }
}

}  // namespace

Result<KubeResource> ParseKubeResource(std::string_view text) {
  const auto refuse = [&](const std::string& why) {
    return Error(Code::kInvalid,
                 "'" + std::string(text) + "' names no resource of Kubernetes: " + why +
                     "; write VERSION/PLURAL or GROUP/VERSION/PLURAL, as in \"v1/pods\" or "
                     "\"apps/v1/deployments/scale\"");
  };
  std::vector<std::string_view> parts = SplitAtSlashes(text);
  KubeResource resource;
  if (!IsKubeVersion(parts[0])) {
    if (const auto group = CheckDns1123Subdomain(parts[0]); !group) {
      return refuse("the group " + group.error().message());
    }
    resource.group = parts[0];
    parts.erase(parts.begin());
  }
  if (parts.size() < 2 || parts.size() > 3) {
    return refuse("it has " + std::string(parts.size() < 2 ? "too few" : "too many") + " parts");
  }
  constexpr const char* kParts[] = {"version", "plural", "subresource"};
  for (size_t i = 0; i < parts.size(); ++i) {
    if (const auto label = CheckDns1123Label(parts[i]); !label) {
      return refuse("the " + std::string(kParts[i]) + " " + label.error().message());
    }
  }
  resource.version = parts[0];
  resource.plural = parts[1];
  if (parts.size() == 3) resource.subresource = parts[2];
  return resource;
}

std::string ToString(const KubeResource& resource) {
  std::string text = resource.group.empty() ? "" : resource.group + "/";
  text += resource.version + "/" + resource.plural;
  if (!resource.subresource.empty()) text += "/" + resource.subresource;
  return text;
}

std::string PathOf(const KubeResource& resource, std::string_view ns, std::string_view name) {
  std::string path = resource.group.empty() ? "/api" : "/apis";
  const auto step = [&](std::string_view part) {
    if (part.empty()) return;
    path += '/';
    AppendEncoded(path, part);
  };
  step(resource.group);
  step(resource.version);
  if (!ns.empty()) {
    path += "/namespaces";
    step(ns);
  }
  step(resource.plural);
  step(name);
  if (!name.empty()) step(resource.subresource);
  return path;
}

std::string QueryPart(std::string_view key, std::string_view value) {
  std::string part(key);
  part += '=';
  AppendEncoded(part, value);
  return part;
}

}  // namespace detent
