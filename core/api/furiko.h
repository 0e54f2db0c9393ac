// The API group of Furiko, whose JobConfigs and Jobs are taken as ours. Constant data.

#pragma once

namespace detent {

inline constexpr const char* kFurikoGroup = "execution.furiko.io";
inline constexpr const char* kFurikoVersion = "v1alpha1";
inline constexpr const char* kFurikoGroupVersion = "execution.furiko.io/v1alpha1";

}  // namespace detent
