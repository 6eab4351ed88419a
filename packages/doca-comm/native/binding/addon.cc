// The addon: one JavaScript function for each function of the DOCA libraries, without policy. Calls that fail give the
// DOCA error, negated; wrong handles throw. The arguments and results are declared in src/native.ts.
#include "binding/comch/calls.h"
#include "binding/device.h"
#include "binding/endpoint.h"
#include "binding/library.h"
#include "binding/representor.h"
#include "provider/environment.h"

static Napi::Object init_addon(Napi::Env env, Napi::Object exports) {
  using namespace verbs::doca_comm::binding;
  verbs::provider::create_environment<verbs::provider::Environment>(env);
  Library::init(exports);
  Device::init(exports);
  Representor::init(exports);
  Endpoint::init(exports);
  Endpoint::init_peers(exports);
  init_engine(exports);
  init_comch(exports);
  return exports;
}
NODE_API_MODULE(verbs_doca_comm, init_addon)
