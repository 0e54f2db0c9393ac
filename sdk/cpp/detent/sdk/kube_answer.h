// What comes back from Kubernetes over detent.kube/1: the answer to a request, and what the cluster
// serves of a kind. kube.h asks. Strand only.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "detent/sdk/buffer.h"
#include "detent/sdk/json.h"
#include "detent/sdk/status.h"

namespace detent::sdk {

// Borrowed for the callback; copy what you keep, or take the body() Buffer.
class KubeAnswer {
 public:
  KubeAnswer(const detent_host* host, const detent_result& raw) : host_(host), raw_(raw) {}

  const detent_result& raw() const { return raw_; }
  detent_status code() const { return raw_.code; }
  bool ok() const { return raw_.code == DETENT_OK; }
  uint32_t http_status() const { return raw_.http_status; }  // 0: the server did not answer
  uint32_t retry_after_ms() const { return raw_.retry_after_ms; }
  std::string_view reason() const { return View(raw_.reason); }
  std::string_view message() const { return View(raw_.message); }
  // Of Ensure: the object was there already, and is this task's.
  bool adopted() const { return raw_.value == 1; }

  Buffer body() const { return Buffer::Retain(host_, raw_.body); }
  // The body without a reference of its own.
  std::string_view text() const {
    detent_bytes bytes{nullptr, 0};
    if (raw_.body == 0 || host_->buf_view(raw_.body, &bytes) != DETENT_OK) return {};
    return View(bytes);
  }

 private:
  const detent_host* host_;
  const detent_result& raw_;
};

// Of a kind that a manifest names.
struct KubeKind {
  std::string gvr;                        // "apps/v1/deployments", for KubeRequest and watches
  bool namespaced = false;                // its objects are in namespaces
  std::vector<std::string> verbs;         // "create", "get", ...; sorted
  std::vector<std::string> subresources;  // "scale", "status"; sorted

  bool Can(std::string_view verb) const { return Has(verbs, verb); }
  bool HasSubresource(std::string_view name) const { return Has(subresources, name); }

 private:
  static bool Has(const std::vector<std::string>& texts, std::string_view wanted) {
    for (const std::string& text : texts) {
      if (text == wanted) return true;
    }
    return false;
  }
};

// Reads the answer to find_kind; KubeFindKind does.
inline Result<KubeKind> ReadKubeKind(const detent_host* host, detent_instance instance,
                                     const KubeAnswer& answer) {
  if (!answer.ok()) return Status(answer.raw());
  const Result<JsonDoc> doc = JsonDoc::Parse(host, instance, answer.text());
  if (!doc) return doc.status();
  const Json root = doc->root();
  const auto texts = [](const Json& array) {
    std::vector<std::string> all;
    for (uint64_t i = 0; i < array.size(); ++i) {
      if (const auto text = array[i].Text()) all.emplace_back(*text);
    }
    return all;
  };
  const auto gvr = root["gvr"].Text();
  const auto namespaced = root["namespaced"].Bool();
  if (!gvr || !namespaced) return Internal("the host's answer lacks gvr or namespaced");
  KubeKind kind;
  kind.gvr = *gvr;
  kind.namespaced = *namespaced;
  kind.verbs = texts(root["verbs"]);
  kind.subresources = texts(root["subresources"]);
  return kind;
}

}  // namespace detent::sdk
