// A plugin whose static initialiser throws: nothing that loads it can catch that.

#include <stdexcept>

#include "detent/detent.h"

namespace {

struct Thrower {
  Thrower() { throw std::runtime_error("boom"); }
} thrower;

}  // namespace

const detent_plugin* detent_plugin_entry(const detent_hello*) {
  return nullptr;
}
