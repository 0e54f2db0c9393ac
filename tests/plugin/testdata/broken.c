/* A plugin that breaks one rule of the border, chosen by the macro it is compiled with. */
#include <stdlib.h>
#include <unistd.h>

#include "detent/detent.h"

static detent_status create(const detent_host* host, detent_instance inst,
                            const detent_instance_info* info, void** self, detent_diag* diag) {
  (void)host, (void)inst, (void)info, (void)self, (void)diag;
  return DETENT_OK;
}
static void take_op(void* self, detent_op op) {
  (void)self, (void)op;
}
static void destroy(void* self) {
  (void)self;
}
static void start(void* self, detent_op op, const detent_task_ref* ref) {
  (void)self, (void)op, (void)ref;
}
#ifndef EMPTY_SLOT
static void stop(void* self, detent_op op, detent_task task, void* user, const detent_kill* how) {
  (void)self, (void)op, (void)task, (void)user, (void)how;
}
#endif

static const detent_executor executor = {
    .size = sizeof executor,
#ifdef BAD_KIND
    .kind = DETENT_STR_INIT("Broken Kind"),
#else
    .kind = DETENT_STR_INIT("broken"),
#endif
    .state_version = 1,
    .state_min_version = 1,
    .create = create,
    .open = take_op,
    .close = take_op,
    .destroy = destroy,
    .start = start,
#ifndef EMPTY_SLOT
    .kill = stop,
#endif
};
#ifdef WILD_POINTER
static const detent_executor* const all[] = {(const detent_executor*)16, &executor};
#else
static const detent_executor* const all[] = {&executor, &executor};
#endif

static const detent_plugin plugin = {
#ifdef BAD_SIZE
    .size = 3,
#else
    .size = sizeof plugin,
#endif
#ifdef WRONG_MAJOR
    .abi_major = DETENT_ABI_MAJOR + 7,
#else
    .abi_major = DETENT_ABI_MAJOR,
#endif
    .abi_minor = DETENT_ABI_MINOR,
#ifdef BAD_ID
    .id = DETENT_STR_INIT("Not An Id"),
#else
    .id = DETENT_STR_INIT("dev.detent.test.broken"),
#endif
    .version = DETENT_STR_INIT("0.1.0"),
#ifdef TWICE
    .count = 2,
#else
    .count = 1,
#endif
    .executors = all,
};

#if defined(HANGS_IN_INIT)
__attribute__((constructor)) static void initialise(void) {
  for (;;) pause();
}
#elif defined(EXITS_IN_INIT)
__attribute__((constructor)) static void initialise(void) {
  _exit(3);
}
#endif

#ifndef NO_ENTRY
const detent_plugin* detent_plugin_entry(const detent_hello* hello) {
#ifdef ANSWERS_NULL
  (void)plugin;
  return NULL;
#endif
  return hello->size > 0 ? &plugin : NULL;
}
#else
DETENT_EXPORT const void* detent_no_entry(void);
const void* detent_no_entry(void) {
  return &plugin;
}
#endif
