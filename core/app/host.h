// The object graph of a host: the one place that names concrete classes, and their order of life.
//
// Start order: store, plugins, engine, loop, server. Stop order: the reverse, so that nobody is
// asked who is gone already. Not thread-safe; main() owns it.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/app/config.h"
#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/plugin/loader.h"

namespace detent {

// What the configuration says of plugins, as the plugin host takes it. Pure.
std::vector<PluginConfig> PluginsOf(const HostConfig& config);

class Host {
 public:
  // Starts everything and serves. A plugin that is refused does not stop it. Errors: the data
  // directory is in use or damaged, the address is taken or not allowed.
  static Result<std::unique_ptr<Host>> Start(const HostConfig& config, const Clock& clock);
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  // "http://127.0.0.1:7420" and so on.
  const std::vector<std::string>& urls() const;

 private:
  struct Parts;
  explicit Host(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace detent
