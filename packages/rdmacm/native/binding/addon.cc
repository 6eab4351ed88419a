// The addon: one JavaScript function for each function of librdmacm, without policy. Calls that fail give the errno,
// negated; wrong handles throw. The arguments and results are declared in src/native.ts.
#include "binding/environment.h"
#include "binding/library.h"

static Napi::Object init_addon(Napi::Env env, Napi::Object exports) {
  namespace binding = verbs::rdmacm::binding;
  verbs::provider::create_environment<binding::Environment>(env);
  binding::init_library(env, exports);
  binding::init_device(env, exports);
  binding::init_channel(env, exports);
  binding::init_event(env, exports);
  binding::init_id(env, exports);
  binding::init_connection(env, exports);
  binding::init_queue_pair(env, exports);
  binding::init_multicast(env, exports);
  binding::init_addrinfo(env, exports);
  return exports;
}
NODE_API_MODULE(verbs_rdmacm, init_addon)
