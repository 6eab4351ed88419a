// The addon: one JavaScript function for each function of librdmacm, without policy. Calls that fail give the errno,
// negated; wrong handles throw. The arguments and results are declared in src/native.ts.
#include "binding/environment.h"
#include "binding/library.h"

static Napi::Object init_addon(Napi::Env env, Napi::Object exports) {
  namespace binding = verbs::rdmacm::binding;
  verbs::provider::create_environment<binding::Environment>(env);
  binding::init_library(exports);
  binding::init_device(exports);
  binding::init_channel(exports);
  binding::init_event(exports);
  binding::init_id(exports);
  binding::init_connection(exports);
  binding::init_queue_pair(exports);
  binding::init_multicast(exports);
  binding::init_addrinfo(exports);
  return exports;
}
NODE_API_MODULE(verbs_rdmacm, init_addon)
