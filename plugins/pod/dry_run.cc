#include "plugins/pod/dry_run.h"

#include <algorithm>
#include <charconv>

#include "detent/sdk/text.h"
#include "plugins/pod/json_scan.h"
#include "plugins/pod/manifest.h"
#include "plugins/pod/refusal.h"

namespace detent::pod {
namespace {

using sdk::Json;

constexpr std::string_view kSaid = "the API server refuses it: ";

// "spec.containers[0].image" as "/spec/containers/0/image".
std::string PointerOf(std::string_view path) {
  std::string pointer;
  while (!path.empty()) {
    size_t end;
    if (path.front() == '[') {
      end = std::min(path.find(']'), path.size());
      pointer += sdk::PointerToken(path.substr(1, end - 1));
      path.remove_prefix(std::min(end + 1, path.size()));
    } else {
      end = std::min(path.find_first_of(".["), path.size());
      pointer += sdk::PointerToken(path.substr(0, end));
      path.remove_prefix(end);
    }
    if (path.starts_with('.')) path.remove_prefix(1);
  }
  return pointer;
}

bool IsOfSpec(std::string_view pointer) {
  constexpr std::string_view kOurs[] = {"/spec", "/metadata/labels", "/metadata/annotations",
                                        "/metadata/finalizers"};
  return std::any_of(std::begin(kOurs), std::end(kOurs), [&](std::string_view place) {
    return pointer.starts_with(place) &&
           (pointer.size() == place.size() || pointer[place.size()] == '/');
  });
}

// The first members of a container's env are the host's (manifest.h), so the user's are behind.
void ShiftEnvironment(std::string& pointer, const Json& spec) {
  const size_t env = pointer.find("/env/");
  if (env == pointer.npos) return;
  const Json list = spec.Pointer(pointer.substr(0, env + 4));
  const size_t begin = env + 5;
  const size_t end = std::min(pointer.find('/', begin), pointer.size());
  uint64_t index = 0;
  const auto read = std::from_chars(pointer.data() + begin, pointer.data() + end, index);
  if (read.ec != std::errc()) return;
  const uint64_t added = AddedVariables(list);
  if (index < added) return pointer.resize(env + 4);
  pointer = pointer.substr(0, begin) + std::to_string(index - added) + pointer.substr(end);
}

// Where in the task's spec a field of the Pod comes from.
std::string PlaceOf(std::string_view path, const Json& spec) {
  std::string pointer = PointerOf(path);
  if (!IsOfSpec(pointer)) return "";
  // Requests and limits are judged together: what is wrong with one may be due to the other.
  if (const size_t at = pointer.find("/resources/"); at != pointer.npos) pointer.resize(at + 10);
  ShiftEnvironment(pointer, spec);
  return pointer;
}

std::string ReasonOf(std::string_view cause) {
  constexpr std::string_view kPrefix = "FieldValue";
  return std::string(cause.starts_with(kPrefix) ? cause.substr(kPrefix.size()) : "Invalid");
}

void ReadCause(JsonScan& scan, const Json& spec, std::vector<DryRunFinding>& findings) {
  if (!scan.BeginObject()) return;
  std::string field, reason, message;
  for (std::string_view key; scan.NextKey(key);) {
    if (key == "field") {
      field = scan.Text();
    } else if (key == "reason") {
      reason = scan.Text();
    } else if (key == "message") {
      message = scan.Text();
    } else {
      scan.Skip();
    }
  }
  if (message.empty()) return;
  DryRunFinding finding{PlaceOf(field, spec), ReasonOf(reason), std::string(kSaid) + message};
  if (finding.pointer.empty() && !field.empty()) finding.message += " (" + field + ")";
  findings.push_back(std::move(finding));
}

// details.causes of a Status.
std::vector<DryRunFinding> CausesOf(std::string_view status, const Json& spec) {
  std::vector<DryRunFinding> findings;
  JsonScan scan(status);
  if (!scan.BeginObject()) return findings;
  for (std::string_view key; scan.NextKey(key);) {
    if (key != "details" || !scan.BeginObject()) {
      if (key != "details") scan.Skip();
      continue;
    }
    for (std::string_view detail; scan.NextKey(detail);) {
      if (detail != "causes") {
        scan.Skip();
      } else if (scan.BeginArray()) {
        while (scan.NextItem()) ReadCause(scan, spec, findings);
      }
    }
  }
  return findings;
}

// The decoder names fields in its text alone: `unknown field "spec.containers[0].imge"`.
std::vector<DryRunFinding> UnknownFieldsIn(std::string_view message, const Json& spec) {
  constexpr std::string_view kWords = "unknown field \"";
  std::vector<DryRunFinding> findings;
  for (size_t at = message.find(kWords); at != message.npos; at = message.find(kWords, at)) {
    at += kWords.size();
    const size_t end = std::min(message.find('"', at), message.size());
    const std::string_view path = message.substr(at, end - at);
    const std::string pointer = PlaceOf(path, spec);
    findings.push_back({pointer, "UnknownField",
                        pointer.empty() ? "unknown field of a Pod: " + std::string(path)
                                        : "unknown field of a Pod"});
    at = end;
  }
  return findings;
}

DryRunFinding Whole(std::string reason, std::string message, bool lasting) {
  return {"", std::move(reason), std::move(message), lasting};
}

DryRunFinding Denied(const sdk::KubeAnswer& answer, std::string_view ns) {
  const sdk::Status why = RefusalOf(answer);
  if (why.reason() == "QuotaExceeded" || why.reason() == "NamespaceTerminating") {
    return Whole("Forbidden", std::string(kSaid) + why.message(), false);
  }
  // The words of the authorizer, which no admission policy uses.
  const bool rights = why.message().find("cannot create resource") != std::string::npos;
  if (!rights) return Whole("Forbidden", std::string(kSaid) + why.message(), true);
  return Whole("Forbidden",
               "the host may not create pods in namespace " + std::string(ns) +
                   ", and the task would wait until it may: " + why.message(),
               false);
}

}  // namespace

DryRunVerdict VerdictOf(const sdk::KubeAnswer& answer, const Json& spec, std::string_view ns) {
  if (answer.ok()) return {};
  const std::string message = RefusalOf(answer).message();
  switch (answer.http_status()) {
    case 400:
    case 413:
    case 422: {
      std::vector<DryRunFinding> findings = CausesOf(answer.text(), spec);
      if (findings.empty()) findings = UnknownFieldsIn(message, spec);
      if (findings.empty()) {
        findings.push_back(Whole("Invalid", std::string(kSaid) + message, true));
      }
      return {{}, std::move(findings)};
    }
    case 403:
      return {{}, {Denied(answer, ns)}};
    case 404:
      return {{}, {Whole("NotFound", std::string(kSaid) + message, false)}};
    default:
      return {RefusalOf(answer), {}};
  }
}

}  // namespace detent::pod
