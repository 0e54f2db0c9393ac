/* detent/plugin.h: the door. One exported function, one handshake.
 *
 * A plugin is one shared object that exports exactly one symbol, detent_plugin_entry. The host
 * loads it from an absolute path with RTLD_NOW | RTLD_LOCAL, calls the function, and reads static
 * tables from then on. It never unloads it: an upgrade loads the new file beside the old one.
 *
 * The handshake. The host says what it speaks (detent_hello); the plugin answers with its
 * descriptor, or with NULL if it cannot live with that. Then the host decides by the same rule
 * (version.h). A refusal is a full sentence in the host's log and in `detent plugin list`.
 */
#ifndef DETENT_PLUGIN_H_
#define DETENT_PLUGIN_H_

#include "detent/executor.h"
#include "detent/version.h"

DETENT_EXTERN_C_BEGIN

/* Lent for the call. A field outside `size` reads as zero. */
typedef struct detent_hello {
  uint32_t size;
  uint16_t abi_major; /* what this host speaks */
  uint16_t abi_minor;
  uint16_t abi_minor_min; /* the lowest minor it serves; in major 0 it is abi_minor */
  uint16_t mode;          /* DETENT_MODE_*; for information */
  uint32_t flags;         /* none defined; ignore unknown ones */
  detent_str host_name;   /* "detent" */
  detent_str host_version;
} detent_hello;

/* Static: valid and unchanged until the process ends. */
typedef struct detent_plugin {
  uint32_t size;
  uint16_t abi_major; /* DETENT_ABI_MAJOR of the headers it was built with */
  uint16_t abi_minor; /* the lowest minor it needs */
  detent_str id;      /* reverse DNS, never changes: "dev.detent.http"; [a-z0-9.-], <= 128 */
  detent_str version; /* semantic version of the plugin: "0.1.0" */
  uint32_t count;     /* of executors, at least 1, each of another kind */
  uint32_t flags;     /* none defined: 0 */
  const detent_executor* const* executors;
} detent_plugin;

/* [any] The one exported function.
 *
 * Pure: no host call, no I/O, no allocation that matters, under 1 ms. It may be called several
 * times and from several threads, and gives the same pointer each time. Loading itself does
 * nothing either: no thread, no file descriptor, no signal handler, no change of environment,
 * locale or directory (D-LOAD-2, D-LOAD-3).
 *
 * Returns the descriptor, or NULL when hello->abi_major is not the plugin's. */
DETENT_EXPORT const detent_plugin* detent_plugin_entry(const detent_hello* hello);

/* Its type, for hosts that look it up, and its name. */
typedef const detent_plugin* (*detent_plugin_entry_fn)(const detent_hello* hello);
#define DETENT_PLUGIN_ENTRY_NAME "detent_plugin_entry"

DETENT_EXTERN_C_END

#endif /* DETENT_PLUGIN_H_ */
