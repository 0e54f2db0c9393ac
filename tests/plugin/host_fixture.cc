#include "tests/plugin/host_fixture.h"

namespace detent::testing {

std::string PluginPath(const std::string& name) {
  return std::string(DETENT_TEST_PLUGINS) + "/" + name + ".so";
}

}  // namespace detent::testing
