// The addon: one JavaScript function for each function of libhbl, without policy. Calls that fail give the errno,
// negated; wrong handles throw. The arguments and results are declared in src/native.ts.
#include "binding/library.h"

static Napi::Object init_addon(Napi::Env, Napi::Object exports) {
  using namespace verbs::hbl::binding;
  init_library(exports);
  init_device(exports);
  init_encap(exports);
  init_usr_fifo(exports);
  init_queues(exports);
  init_collective(exports);
  return exports;
}
NODE_API_MODULE(verbs_hbl, init_addon)
