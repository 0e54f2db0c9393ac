/* detent/abi.h: how the border is compiled.
 *
 * Everything a plugin and a host exchange is C: plain functions, plain structs, and pointers that
 * are lent for one call. This file holds the few macros that say so to a compiler; it declares
 * nothing else. The headers below include/detent are clean as C99, C11, C17 and C++11 to C++20 with
 * -Wall -Wextra -Wpedantic -Werror on gcc and clang.
 *
 * The calling convention is the platform's C convention. Supported today: 64-bit Linux (LP64,
 * little endian, glibc). The structs have no implicit padding on LP64; tests/abi checks that.
 */
#ifndef DETENT_ABI_H_
#define DETENT_ABI_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define DETENT_EXTERN_C_BEGIN extern "C" {
#define DETENT_EXTERN_C_END }
#else
#define DETENT_EXTERN_C_BEGIN
#define DETENT_EXTERN_C_END
#endif

/* Marks the one symbol that a plugin exports. Plugins are built with hidden visibility, so nothing
 * else leaves the shared object (rule D-LOAD-4). */
#if defined(__GNUC__) || defined(__clang__)
#define DETENT_EXPORT __attribute__((visibility("default")))
#else
#define DETENT_EXPORT
#endif

/* True when the struct or table that `ptr` points to was written by a side that knows `field`.
 * Every struct starts with `uint32_t size`, the writer's own sizeof; fields are only ever appended.
 * A field outside `size` reads as zero, so test before you touch anything that is newer than the
 * first revision of the struct (rule D-SIZE-1).
 *
 *   if (DETENT_HAS(detent_task_ref, ref, namespace_)) ...
 */
#define DETENT_HAS(type, ptr, field) \
  ((size_t)(ptr)->size >= offsetof(type, field) + sizeof((ptr)->field))

/* The same for a slot of a table of functions: known to the writer, and filled. */
#define DETENT_HAS_FN(type, ptr, field) (DETENT_HAS(type, ptr, field) && (ptr)->field != 0)

#endif /* DETENT_ABI_H_ */
