// What the API's functions work with, and the words they share: which resource a request is about.
//
// Everything is borrowed and must outlive the server. All of it may be used from any thread.

#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/api/admission.h"
#include "core/api/live_review.h"
#include "core/api/object.h"
#include "core/base/clock.h"
#include "core/base/metrics.h"
#include "core/base/random.h"
#include "core/base/result.h"
#include "core/control/admin.h"
#include "core/http/request.h"
#include "core/store/store.h"

namespace detent {

struct ApiContext {
  Store* store = nullptr;
  const Clock* clock = nullptr;
  Random* random = nullptr;  // Of any thread: SystemRandom, or guarded by its maker.
  const SpecValidator* validator = nullptr;
  const LiveValidator* live = nullptr;  // Null: no spec is tried out before it is stored.
  Admin* admin = nullptr;
  Metrics* metrics = nullptr;
  std::string default_timezone = "UTC";
  bool hash_names = true;         // As the host's configuration has it, for /detent/v1/settings.
  std::string version = "0.1.0";  // Detent's own, for /version.
  // Whether the host can do its work now; the error says why not. Null: always.
  std::function<Result<void>()> ready;

  AdmissionContext Admission() const { return {validator, clock->Now(), default_timezone}; }
};

// Which part of an object a path reads and writes.
enum class Part : uint8_t {
  kAll,     // The object itself; a write leaves its status as it is.
  kStatus,  // "/status"
  kScale,   // "/scale", in the form of core/api/scale.h.
};

// "/apis/<group>/<version>/namespaces/<ns>/<resource>/<name>/<part>": what is addressed.
struct Target {
  Kind kind = Kind::kJob;
  std::string ns;    // Empty: all namespaces.
  std::string name;  // Empty: the collection.
  Part part = Part::kAll;

  ObjectKey key() const { return {kind, ns, name}; }
};

}  // namespace detent
