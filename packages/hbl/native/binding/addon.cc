// The addon: one JavaScript function for each function of libhbl, without policy. Calls that fail give the errno,
// negated; wrong handles throw. The arguments and results are declared in src/native.ts.
#include "binding/library.h"

NAPI_MODULE_INIT() {
  verbs::hbl::binding::init_library(env, exports);
  verbs::hbl::binding::init_device(env, exports);
  verbs::hbl::binding::init_encap(env, exports);
  verbs::hbl::binding::init_usr_fifo(env, exports);
  verbs::hbl::binding::init_queues(env, exports);
  verbs::hbl::binding::init_collective(env, exports);
  return exports;
}
