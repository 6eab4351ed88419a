// The addon: one JavaScript function for each function of libmlx5, without policy. Calls that fail give the errno,
// negated; wrong handles throw. The arguments and results are declared in src/native/*.ts.
#include "binding/library.h"

static Napi::Object init_addon(Napi::Env, Napi::Object exports) {
  using namespace verbs::mlx5::binding;
  init_library(exports);
  init_device(exports);
  init_flow(exports);
  init_flow_actions(exports);
  init_devx(exports);
  init_devx_memory(exports);
  init_devx_events(exports);
  init_dr(exports);
  init_dr_actions(exports);
  init_dr_meters(exports);
  init_queues(exports);
  init_queue_settings(exports);
  init_internals(exports);
  init_scheduling(exports);
  init_crypto(exports);
  init_vfio(exports);
  return exports;
}
NODE_API_MODULE(verbs_mlx5, init_addon)
