// Permission: what an executor needs of a cluster, for the role that `detent install` makes (the
// extension detent.permissions/1). An executor has it by a public member:
//
//   static constexpr sdk::Permission kPermissions[] = {{"v1/pods", "get,list,watch"}};
//
// How the two texts are written is described in detent/ext/permissions.h. Constant data.

#pragma once

#include <array>
#include <cstddef>
#include <iterator>
#include <string_view>

#include "detent/ext/permissions.h"

namespace detent::sdk {

// String literals: they are read for as long as the plugin is mapped.
struct Permission {
  std::string_view gvr;    // "v1/pods", "apps/v1/deployments", "v1/pods/log"
  std::string_view verbs;  // "get,list,watch"
};

// The C table for an executor T that has kPermissions. Used by table.h.
template <typename T>
constexpr auto MakePermissionItems() {
  std::array<detent_permission, std::size(T::kPermissions)> items{};
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Permission& from = T::kPermissions[i];
    items[i] = {{from.gvr.data(), from.gvr.size()}, {from.verbs.data(), from.verbs.size()}};
  }
  return items;
}

template <typename T>
inline constexpr auto kPermissionItems = MakePermissionItems<T>();

template <typename T>
inline constexpr detent_permissions kPermissionTable{
    sizeof(detent_permissions), kPermissionItems<T>.size(), kPermissionItems<T>.data()};

}  // namespace detent::sdk
