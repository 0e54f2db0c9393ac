#include "plugins/pod/pod.h"

#include <charconv>
#include <utility>

#include "plugins/pod/json_scan.h"
#include "plugins/pod/marks.h"
#include "plugins/pod/rfc3339.h"

namespace detent::pod {
namespace {

int64_t ReadTimestamp(JsonScan& scan) {
  return ParseTime(scan.Text()).value_or(0);
}

// Calls f(key) for each member of an object; f takes the value.
template <typename F>
void ReadObject(JsonScan& scan, F f) {
  if (!scan.BeginObject()) return;
  for (std::string_view key; scan.NextKey(key);) f(key);
}

// Calls f() for each element of an array; f takes the element.
template <typename F>
void ReadArray(JsonScan& scan, F f) {
  if (!scan.BeginArray()) return;
  while (scan.NextItem()) f();
}

uint64_t VersionOf(const std::string& text) {
  uint64_t version = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, version);
  return parsed.ec == std::errc() && parsed.ptr == end ? version : 0;
}

void ReadMetadata(JsonScan& scan, Pod& pod) {
  ReadObject(scan, [&](std::string_view key) {
    if (key == "name") {
      pod.name = scan.Text();
    } else if (key == "namespace") {
      pod.ns = scan.Text();
    } else if (key == "uid") {
      pod.uid = scan.Text();
    } else if (key == "resourceVersion") {
      pod.version = VersionOf(scan.Text());
    } else if (key == "creationTimestamp") {
      pod.created_ns = ReadTimestamp(scan);
    } else if (key == "deletionTimestamp") {
      pod.deleted_ns = ReadTimestamp(scan);
    } else if (key == "deletionGracePeriodSeconds") {
      pod.deletion_grace = scan.Int();
    } else if (key == "labels") {
      ReadObject(scan, [&](std::string_view label) {
        if (label == kTaskKeyLabel) {
          pod.task_key = scan.Text();
        } else {
          scan.Skip();
        }
      });
    } else if (key == "annotations") {
      ReadObject(scan, [&](std::string_view annotation) {
        if (annotation == kDefaultContainer) {
          pod.default_name = scan.Text();
        } else if (annotation == kKillAnnotation) {
          pod.kill = scan.Text();
        } else {
          scan.Skip();
        }
      });
    } else {
      scan.Skip();
    }
  });
}

// The names and kinds of the containers of one list of the spec.
std::vector<Container> ReadContainers(JsonScan& scan, Container::Kind kind) {
  std::vector<Container> list;
  ReadArray(scan, [&] {
    Container& container = list.emplace_back();
    container.kind = kind;
    ReadObject(scan, [&](std::string_view key) {
      if (key == "name") {
        container.name = scan.Text();
      } else if (key == "restartPolicy" && kind == Container::Kind::kInit) {
        if (scan.Text() == "Always") container.kind = Container::Kind::kSidecar;
      } else {
        scan.Skip();
      }
    });
  });
  return list;
}

void ReadSpec(JsonScan& scan, Pod& pod) {
  std::vector<Container> main;
  ReadObject(scan, [&](std::string_view key) {
    if (key == "nodeName") {
      pod.node = scan.Text();
    } else if (key == "activeDeadlineSeconds") {
      pod.deadline = scan.Int();
    } else if (key == "initContainers") {
      pod.containers = ReadContainers(scan, Container::Kind::kInit);
    } else if (key == "containers") {
      main = ReadContainers(scan, Container::Kind::kMain);
    } else {
      scan.Skip();
    }
  });
  for (Container& container : main) pod.containers.push_back(std::move(container));
}

void ReadTermination(JsonScan& scan, Termination& out) {
  out.there = true;
  ReadObject(scan, [&](std::string_view key) {
    if (key == "exitCode") {
      out.exit_code = static_cast<int32_t>(scan.Int().value_or(0));
    } else if (key == "signal") {
      out.signal = static_cast<int32_t>(scan.Int().value_or(0));
    } else if (key == "reason") {
      out.reason = scan.Text();
    } else if (key == "message") {
      out.message = scan.Text();
    } else if (key == "startedAt") {
      out.started_ns = ReadTimestamp(scan);
    } else if (key == "finishedAt") {
      out.finished_ns = ReadTimestamp(scan);
    } else {
      scan.Skip();
    }
  });
}

void ReadState(JsonScan& scan, Container& container) {
  ReadObject(scan, [&](std::string_view key) {
    if (key == "waiting") {
      container.state = Container::State::kWaiting;
      ReadObject(scan, [&](std::string_view member) {
        if (member == "reason") {
          container.waiting_reason = scan.Text();
        } else if (member == "message") {
          container.waiting_message = scan.Text();
        } else {
          scan.Skip();
        }
      });
    } else if (key == "running") {
      container.state = Container::State::kRunning;
      ReadObject(scan, [&](std::string_view member) {
        if (member == "startedAt") {
          container.running_since_ns = ReadTimestamp(scan);
        } else {
          scan.Skip();
        }
      });
    } else if (key == "terminated") {
      container.state = Container::State::kTerminated;
      ReadTermination(scan, container.ended);
    } else {
      scan.Skip();
    }
  });
}

std::vector<Container> ReadContainerStatuses(JsonScan& scan) {
  std::vector<Container> list;
  ReadArray(scan, [&] {
    Container& container = list.emplace_back();
    ReadObject(scan, [&](std::string_view key) {
      if (key == "name") {
        container.name = scan.Text();
      } else if (key == "state") {
        ReadState(scan, container);
      } else if (key == "lastState") {
        ReadObject(scan, [&](std::string_view member) {
          if (member == "terminated") {
            ReadTermination(scan, container.last);
          } else {
            scan.Skip();
          }
        });
      } else if (key == "restartCount") {
        container.restarts = scan.Int().value_or(0);
      } else {
        scan.Skip();
      }
    });
  });
  return list;
}

std::vector<Condition> ReadConditions(JsonScan& scan) {
  std::vector<Condition> list;
  ReadArray(scan, [&] {
    Condition& condition = list.emplace_back();
    ReadObject(scan, [&](std::string_view key) {
      if (key == "type") {
        condition.type = scan.Text();
      } else if (key == "status") {
        const std::string status = scan.Text();
        condition.holds = status == "True";
        condition.fails = status == "False";
      } else if (key == "reason") {
        condition.reason = scan.Text();
      } else if (key == "message") {
        condition.message = scan.Text();
      } else if (key == "lastTransitionTime") {
        condition.since_ns = ReadTimestamp(scan);
      } else {
        scan.Skip();
      }
    });
    const bool telling = condition.type == kPodScheduled || condition.type == kDisruptionTarget;
    if (!telling) list.pop_back();
  });
  return list;
}

// What the status says of containers, told apart by their names, which are unique in a Pod.
void Merge(Pod& pod, std::vector<Container> statuses) {
  for (Container& status : statuses) {
    for (Container& container : pod.containers) {
      if (container.name != status.name) continue;
      status.kind = container.kind;
      container = std::move(status);
      break;
    }
  }
}

void ReadStatus(JsonScan& scan, Pod& pod, std::vector<Container>& statuses) {
  const auto keep = [&](std::vector<Container> list) {
    for (Container& container : list) statuses.push_back(std::move(container));
  };
  ReadObject(scan, [&](std::string_view key) {
    if (key == "phase") {
      pod.phase = scan.Text();
    } else if (key == "reason") {
      pod.reason = scan.Text();
    } else if (key == "message") {
      pod.message = scan.Text();
    } else if (key == "podIP") {
      pod.ip = scan.Text();
    } else if (key == "startTime") {
      pod.started_ns = ReadTimestamp(scan);
    } else if (key == "conditions") {
      pod.conditions = ReadConditions(scan);
    } else if (key == "initContainerStatuses" || key == "containerStatuses") {
      keep(ReadContainerStatuses(scan));
    } else {
      scan.Skip();
    }
  });
}

}  // namespace

const Container* Pod::main() const {
  const Container* first = nullptr;
  for (const Container& container : containers) {
    if (container.kind != Container::Kind::kMain) continue;
    if (!default_name.empty() && container.name == default_name) return &container;
    if (first == nullptr) first = &container;
  }
  return first;
}

const Condition* Pod::condition(std::string_view type) const {
  for (const Condition& condition : conditions) {
    if (condition.type == type) return &condition;
  }
  return nullptr;
}

std::optional<Pod> ReadPod(std::string_view json) {
  JsonScan scan(json);
  Pod pod;
  std::vector<Container> statuses;  // the status may stand before the spec
  std::string kind = "Pod";         // objects of a list do not say it
  if (!scan.BeginObject()) return std::nullopt;
  for (std::string_view key; scan.NextKey(key);) {
    if (key == "kind") {
      kind = scan.Text();
    } else if (key == "metadata") {
      ReadMetadata(scan, pod);
    } else if (key == "spec") {
      ReadSpec(scan, pod);
    } else if (key == "status") {
      ReadStatus(scan, pod, statuses);
    } else {
      scan.Skip();
    }
  }
  const bool known = kind == "Pod" || kind == "PartialObjectMetadata";
  if (!scan.Finish() || !known) return std::nullopt;
  Merge(pod, std::move(statuses));
  return pod;
}

}  // namespace detent::pod
