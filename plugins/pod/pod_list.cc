#include "plugins/pod/pod_list.h"

#include "plugins/pod/json_scan.h"
#include "plugins/pod/marks.h"

namespace detent::pod {

std::optional<std::vector<Pod>> ReadPodList(std::string_view json) {
  std::vector<Pod> pods;
  JsonScan scan(json);
  bool has_items = false;
  if (!scan.BeginObject()) return std::nullopt;
  for (std::string_view key; scan.NextKey(key);) {
    if (key != "items") {
      scan.Skip();
      continue;
    }
    has_items = true;
    if (!scan.BeginArray()) continue;
    while (scan.NextItem()) {
      if (auto pod = ReadPod(scan.Raw())) pods.push_back(*std::move(pod));
    }
  }
  if (!scan.Finish() || !has_items) return std::nullopt;
  return pods;
}

std::string QueryByKeys(const std::vector<std::string>& keys) {
  std::string query = "labelSelector=";
  // Percent-encoded: "/" and the characters of the set. A key has none that needs it.
  for (const char c : kTaskKeyLabel) query += c == '/' ? std::string("%2F") : std::string(1, c);
  query += "%20in%20%28";
  for (size_t i = 0; i < keys.size(); ++i) query.append(i == 0 ? "" : "%2C").append(keys[i]);
  // Version 0: as the server remembers it, without asking its store.
  return query + "%29&resourceVersion=0";
}

}  // namespace detent::pod
