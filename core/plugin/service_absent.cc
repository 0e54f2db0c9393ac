// Services whose tables exist, so that plugins can be written against them, and whose functions all
// answer that this version does not have them.

#include <cstring>
#include <type_traits>

#include "core/plugin/host_table.h"
#include "detent/ext/gang.h"
#include "detent/services/kv.h"
#include "detent/services/metrics.h"
#include "detent/services/secrets.h"
#include "detent/services/tasks.h"
#include "detent/services/trace.h"

namespace detent {
namespace {

template <typename R, typename... Arguments>
using Function = R (*)(Arguments...);

// Converts to a pointer to any function of these tables: a status becomes E_UNSUPPORTED, anything
// else 0 or nothing.
struct Unsupported {
  template <typename R, typename... Arguments>
  operator Function<R, Arguments...>() const {  // NOLINT(google-explicit-constructor)
    return [](Arguments...) -> R {
      if constexpr (std::is_same_v<R, detent_status>) {
        return DETENT_E_UNSUPPORTED;
      } else {
        return R();
      }
    };
  }
};

constexpr Unsupported kNo;

const void* KvService() {
  static const detent_kv table = {sizeof table, 0, kNo, kNo, kNo};
  return &table;
}

const void* MetricsService() {
  static const detent_metrics table = {sizeof table, 0, kNo, kNo};
  return &table;
}

const void* SecretsService() {
  static const detent_secrets table = {sizeof table, 0, kNo, kNo, kNo};
  return &table;
}

const void* TasksService() {
  static const detent_tasks table = {sizeof table, 0, kNo, kNo, kNo};
  return &table;
}

const void* TraceService() {
  static const detent_trace table = {sizeof table, 0, kNo, kNo, kNo, kNo};
  return &table;
}

const void* GangService() {
  static const detent_gang_host table = {sizeof table, 0, kNo};
  return &table;
}

struct Service {
  const char* id;
  const void* (*table)();
};
constexpr Service kServices[] = {
    {DETENT_SVC_KV, &KvService},           {DETENT_SVC_METRICS, &MetricsService},
    {DETENT_SVC_SECRETS, &SecretsService}, {DETENT_SVC_TASKS, &TasksService},
    {DETENT_SVC_TRACE, &TraceService},     {DETENT_EXT_GANG, &GangService},
};

}  // namespace

const void* AbsentService(const char* id) {
  for (const Service& service : kServices) {
    if (std::strcmp(id, service.id) == 0) return service.table();
  }
  return nullptr;
}

}  // namespace detent
