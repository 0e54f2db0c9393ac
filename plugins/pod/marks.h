// The names that this executor knows of what is written on Pods: the host's marks, which no
// template may write, and Kubernetes' own.

#pragma once

#include <string_view>

namespace detent::pod {

inline constexpr std::string_view kPods = "v1/pods";
inline constexpr std::string_view kPodLog = "v1/pods/log";

// Label: the key of the task that a Pod carries out (detent/services/kube.h, ensure).
inline constexpr std::string_view kTaskKeyLabel = "detent.dev/task";

// Annotation of our own: the host asked for the end of this Pod, and why. It is there before the
// Pod is deleted, so that in each later life, and to each reader, it says who did that.
inline constexpr std::string_view kKillAnnotation = "detent.dev/kill";

// Annotation: the container that tools show when nobody names one.
inline constexpr std::string_view kDefaultContainer = "kubectl.kubernetes.io/default-container";

// Whether a label, annotation or finalizer is the host's to write.
inline bool IsReserved(std::string_view key) {
  return key.starts_with("detent.dev/") || key.starts_with("execution.detent.dev/");
}

}  // namespace detent::pod
