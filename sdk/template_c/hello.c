/* Executor "hello" in plain C: greets, and succeeds after a while. The same as sdk/template, with
 * nothing between it and the border, to show what the SDK does for you. Build:
 *
 *   cc -shared -fPIC -fvisibility=hidden -I PREFIX/include hello.c -o hello.so \
 *      -Wl,--version-script=plugin.map -Wl,-z,defs,-z,now,-z,relro,-z,nodelete
 */
#include <stdlib.h>

#include "detent/detent.h"

static const detent_host* host;  /* one for the process, so globals may keep them (D-LIFE-2) */
static const detent_json* json_; /* NULL in a host without it: then the defaults are used */

typedef struct {
  detent_instance instance;
} hello;

/* One task: bound to its handle, freed in release or detach, once its timer is over too. */
typedef struct {
  hello* self;
  detent_task task;
  detent_timer timer;
  uint64_t seq;
  int pending; /* the timer's callback is still to come */
  int ended;   /* release or detach has come */
} greeting;

static void complete(hello* self, detent_op op, detent_status code) {
  detent_result result = {0};
  result.size = sizeof result;
  result.code = code;
  host->op_complete(self->instance, op, &result);
}

static void update(greeting* g, uint32_t phase, uint32_t outcome) {
  static const char output[] = "\"hello world\"";
  detent_task_status status = {0};
  status.size = sizeof status;
  status.phase = phase;
  status.result = outcome;
  status.flags = DETENT_TASK_RERUN_SAFE;
  status.seq = ++g->seq;
  if (outcome == DETENT_RESULT_SUCCEEDED) {
    status.output.ptr = (const uint8_t*)output;
    status.output.len = sizeof output - 1;
  }
  if (phase == DETENT_PHASE_TERMINATED) {
    status.finished_ns = host->now_ns(g->self->instance, DETENT_CLOCK_WALL);
  }
  host->task_update(g->self->instance, g->task, &status);
}

static void fired(void* ctx, const detent_result* why) {
  greeting* g = ctx;
  g->pending = 0;
  if (g->ended) {
    free(g);
  } else if (why->code == DETENT_OK) {
    update(g, DETENT_PHASE_TERMINATED, DETENT_RESULT_SUCCEEDED);
  } else if (why->code == DETENT_E_CANCELLED) {
    update(g, DETENT_PHASE_TERMINATED, DETENT_RESULT_KILLED);
  } /* E_CLOSING: the task lives on, and is recovered by the next instance */
}

/* The field `milliseconds`, 10 if it is not there; -1 if it is wrong. */
static int64_t milliseconds(detent_instance instance, const detent_bytes* spec) {
  static const detent_str name = DETENT_STR_INIT("milliseconds");
  detent_doc doc = 0;
  int64_t out = 10;
  if (json_ == NULL) return out;
  if (json_->parse(instance, spec, 0, &doc, NULL) != DETENT_OK) return -1;
  if (json_->i64(doc, json_->member(doc, json_->root(doc), &name), &out) == DETENT_E_INVALID) {
    out = -1;
  }
  json_->release(doc);
  return out >= 0 && out <= 3600000 ? out : -1;
}

static detent_status create(const detent_host* given, detent_instance instance,
                            const detent_instance_info* info, void** out, detent_diag* diag) {
  hello* self = malloc(sizeof *self);
  (void)info;
  (void)diag;
  if (self == NULL) return DETENT_E_NO_MEMORY;
  host = given;
  json_ = host->service(instance, DETENT_SVC_JSON);
  self->instance = instance;
  *out = self;
  return DETENT_OK;
}

static void open_or_close(void* self, detent_op op) {
  complete(self, op, DETENT_OK);
}

static void start(void* self_, detent_op op, const detent_task_ref* ref) {
  hello* self = self_;
  int64_t ms = milliseconds(self->instance, &ref->spec);
  greeting* g = ms < 0 ? NULL : calloc(1, sizeof *g);
  if (g == NULL) {
    complete(self, op, ms < 0 ? DETENT_E_INVALID : DETENT_E_NO_MEMORY);
    return;
  }
  g->self = self;
  g->task = ref->task;
  if (host->timer_start(self->instance, (uint64_t)ms * 1000000u, fired, g, &g->timer) !=
      DETENT_OK) {
    free(g);
    complete(self, op, DETENT_E_BUSY); /* nothing runs: the host starts it again later */
    return;
  }
  g->pending = 1;
  host->task_bind(self->instance, ref->task, g);
  update(g, DETENT_PHASE_RUNNING, DETENT_RESULT_NONE);
  complete(self, op, DETENT_OK);
}

static void kill_(void* self, detent_op op, detent_task task, void* user, const detent_kill* how) {
  greeting* g = user;
  (void)task;
  (void)how;
  if (g != NULL && g->pending) host->timer_cancel(g->self->instance, g->timer);
  complete(self, op, g == NULL ? DETENT_E_NOT_FOUND : DETENT_OK);
}

/* Both release and detach: there is nothing outside to let go of, only memory. */
static void let_go(void* self, detent_task task, void* user) {
  greeting* g = user;
  (void)task;
  if (g == NULL) return;
  g->ended = 1;
  if (!g->pending) {
    free(g);
  } else {
    host->timer_cancel(((hello*)self)->instance, g->timer); /* fired() frees it */
  }
}

/* A slot that is not filled is NULL: recover answers LOST, observe and validate do nothing. */
static const detent_executor hello_executor = {
    .size = sizeof hello_executor,
    .kind = DETENT_STR_INIT("hello"),
    .state_version = 1,
    .state_min_version = 1,
    .create = create,
    .open = open_or_close,
    .close = open_or_close,
    .destroy = free,
    .start = start,
    .kill = kill_,
    .release = let_go,
    .detach = let_go,
};
static const detent_executor* const executors[] = {&hello_executor};

static const detent_plugin plugin = {
    .size = sizeof plugin,
    .abi_major = DETENT_ABI_MAJOR,
    .abi_minor = DETENT_ABI_MINOR,
    .id = DETENT_STR_INIT("dev.example.hello-c"),
    .version = DETENT_STR_INIT("0.1.0"),
    .count = 1,
    .executors = executors,
};

const detent_plugin* detent_plugin_entry(const detent_hello* hello_) {
  return hello_ != NULL && hello_->abi_major == DETENT_ABI_MAJOR ? &plugin : NULL;
}
