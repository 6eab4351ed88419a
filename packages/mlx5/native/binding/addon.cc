// The addon: one JavaScript function for each function of libmlx5, without policy. Calls that fail give the errno,
// negated; wrong handles throw. The arguments and results are declared in src/native/*.ts.
#include "binding/library.h"

NAPI_MODULE_INIT() {
  using namespace verbs::mlx5::binding;
  init_library(env, exports);
  init_device(env, exports);
  init_flow(env, exports);
  init_flow_actions(env, exports);
  init_devx(env, exports);
  init_devx_memory(env, exports);
  init_devx_events(env, exports);
  init_dr(env, exports);
  init_dr_actions(env, exports);
  init_dr_meters(env, exports);
  init_queues(env, exports);
  init_queue_settings(env, exports);
  init_internals(env, exports);
  init_scheduling(env, exports);
  init_crypto(env, exports);
  init_vfio(env, exports);
  return exports;
}
