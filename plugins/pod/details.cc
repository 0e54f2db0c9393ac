#include "plugins/pod/details.h"

#include "detent/sdk/json_writer.h"
#include "plugins/pod/outcome.h"

namespace detent::pod {
namespace {

using sdk::JsonWriter;

constexpr size_t kNameMost = 256;

const char* KindName(Container::Kind kind) {
  switch (kind) {
    case Container::Kind::kMain:
      return "main";
    case Container::Kind::kInit:
      return "init";
    case Container::Kind::kSidecar:
      return "sidecar";
  }
  return "";
}

const char* StateName(Container::State state) {
  switch (state) {
    case Container::State::kUnknown:
      return "unknown";
    case Container::State::kWaiting:
      return "waiting";
    case Container::State::kRunning:
      return "running";
    case Container::State::kTerminated:
      return "terminated";
  }
  return "";
}

std::string ContainerJson(const Container& container) {
  JsonWriter json;
  json.BeginObject().Key("name").String(Front(container.name, kNameMost));
  json.Key("kind").String(KindName(container.kind));
  json.Key("state").String(StateName(container.state));
  // The run under way has no exit code; the one before it may tell why there is another.
  const bool over = container.ended.there;
  const Termination& ended = over ? container.ended : container.last;
  if (ended.there) {
    json.Key(over ? "exitCode" : "lastExitCode").Int(ended.exit_code);
    if (ended.signal != 0) json.Key(over ? "signal" : "lastSignal").Int(ended.signal);
  }
  const std::string& reason = over                               ? ended.reason
                              : container.waiting_reason.empty() ? ended.reason
                                                                 : container.waiting_reason;
  if (!reason.empty()) json.Key("reason").String(Front(reason, kNameMost));
  if (container.restarts != 0) json.Key("restarts").Int(container.restarts);
  return std::move(json.EndObject()).text();
}

}  // namespace

std::string DetailsOf(const Pod& pod) {
  constexpr size_t kTail = 40;  // ],"containersOmitted":NNNN}
  JsonWriter json;
  json.BeginObject();
  if (!pod.phase.empty()) json.Key("phase").String(Front(pod.phase, kNameMost));
  if (!pod.node.empty()) json.Key("node").String(Front(pod.node, kNameMost));
  if (!pod.ip.empty()) json.Key("podIP").String(Front(pod.ip, kNameMost));
  json.Key("containers").BeginArray();
  int64_t omitted = 0;
  for (const Container& container : pod.containers) {
    const std::string text = ContainerJson(container);
    const bool fits = omitted == 0 && json.text().size() + text.size() + 1 + kTail <= kDetailsMost;
    if (fits) json.Raw(text);
    omitted += fits ? 0 : 1;
  }
  json.EndArray();
  if (omitted != 0) json.Key("containersOmitted").Int(omitted);
  return std::move(json.EndObject()).text();
}

}  // namespace detent::pod
