// DETENT_PLUGIN: turns Executor classes into a plugin, in one file of it:
//
//   DETENT_PLUGIN("dev.example.hello", "0.1.0", Hello)
//
// The id is reverse DNS and never changes; the version is the plugin's own. Several executors of
// different kinds may follow. Everything it makes is constant data, so loading runs no code.

#pragma once

#include "detent/plugin.h"
#include "detent/sdk/executor.h"
#include "detent/sdk/table.h"

namespace detent::sdk {

// A string literal as a static view.
constexpr detent_str StaticStr(std::string_view text) {
  return {text.data(), text.size()};
}

template <typename T>
constexpr detent_executor MakeTable() {
  using To = Trampolines<T>;
  detent_executor table{};
  table.size = sizeof(table);
  if constexpr (requires { T::kCaps; }) table.caps = T::kCaps;
  table.kind = StaticStr(T::kKind);
  table.state_version = 1;
  table.state_min_version = 1;
  if constexpr (requires { T::kStateVersion; }) table.state_version = T::kStateVersion;
  if constexpr (requires { T::kStateMinVersion; }) table.state_min_version = T::kStateMinVersion;
  table.schema = &To::Schema;
  table.validate = &To::Validate;
  table.create = &To::Create;
  table.open = &To::Open;
  table.reconfigure =
      To::template Unless<&T::Reconfigure, &Executor::Reconfigure>(&To::Reconfigure);
  table.drain = To::template Unless<&T::Drain, &Executor::Drain>(&To::Drain);
  table.close = &To::Close;
  table.destroy = &To::Destroy;
  table.start = &To::Start;
  table.recover = &To::Recover;
  table.observe = To::template Unless<&T::Observe, &Executor::Observe>(&To::Observe);
  table.kill = &To::Kill;
  table.force_delete =
      To::template Unless<&T::ForceDelete, &Executor::ForceDelete>(&To::ForceDelete);
  table.release = &To::Release;
  table.detach = &To::Detach;
  table.cancel = To::template Unless<&T::Cancel, &Executor::Cancel>(&To::Cancel);
  table.extension = &To::Extension;
  return table;
}

template <typename T>
inline constexpr detent_executor kExecutorTable = MakeTable<T>();

template <typename... Executors>
inline constexpr const detent_executor* kExecutorList[] = {&kExecutorTable<Executors>...};

template <typename... Executors>
constexpr detent_plugin MakePlugin(std::string_view id, std::string_view version) {
  detent_plugin plugin{};
  plugin.size = sizeof(plugin);
  plugin.abi_major = DETENT_ABI_MAJOR;
  plugin.abi_minor = DETENT_ABI_MINOR;
  plugin.id = StaticStr(id);
  plugin.version = StaticStr(version);
  plugin.count = sizeof...(Executors);
  plugin.executors = kExecutorList<Executors...>;
  return plugin;
}

}  // namespace detent::sdk

#define DETENT_PLUGIN(id, version, ...)                                                          \
  extern "C" DETENT_EXPORT const detent_plugin* detent_plugin_entry(const detent_hello* hello) { \
    static constexpr detent_plugin plugin = ::detent::sdk::MakePlugin<__VA_ARGS__>(id, version); \
    return hello != nullptr && hello->abi_major == DETENT_ABI_MAJOR ? &plugin : nullptr;         \
  }
