/* detent/services/metrics.h: numbers about the plugin, beside the host's own.
 *
 * A series is declared once and gets a number; adding to it is a few nanoseconds. On the wire its
 * name is detent_plugin_<kind>_<name>, with the instance as a label. Declare counters for events,
 * gauges for levels, histograms for durations (in seconds) and sizes (in bytes).
 *
 * A host may answer DETENT_E_UNSUPPORTED in ABI 0, or NULL from detent_host.service. All functions
 * are [any]. 1000 series for an instance (E_BUSY): labels have few values, never a name or an id.
 */
#ifndef DETENT_SERVICES_METRICS_H_
#define DETENT_SERVICES_METRICS_H_

#include "detent/status.h"

DETENT_EXTERN_C_BEGIN

#define DETENT_SVC_METRICS "detent.metrics/1"

#define DETENT_METRIC_COUNTER 0u
#define DETENT_METRIC_GAUGE 1u
#define DETENT_METRIC_HISTOGRAM 2u

/* One series, lent for the call.
 * name    [a-z_]+ with its unit at the end ("requests_total", "connect_seconds").
 * labels  a JSON object of strings, or empty. Another set of values is another series. */
typedef struct detent_metric {
  uint32_t size;
  uint32_t kind; /* DETENT_METRIC_* */
  detent_str name;
  detent_str help;
  detent_bytes labels;
} detent_metric;

typedef struct detent_metrics {
  uint32_t size;
  uint32_t reserved; /* 0 */

  /* Declares a series; *out numbers it for this instance, from 1. Again, with the same name, kind
   * and labels: the same number. E_INVALID: a bad name, or another kind under that name. */
  detent_status (*declare)(detent_instance inst, const detent_metric* metric, uint64_t* out);

  /* Counter: adds value (>= 0). Gauge: becomes value. Histogram: observes value. A number that was
   * not declared, a negative count and NaN are ignored. */
  void (*record)(detent_instance inst, uint64_t metric, double value);
} detent_metrics;

DETENT_EXTERN_C_END

#endif /* DETENT_SERVICES_METRICS_H_ */
