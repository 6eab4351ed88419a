// The addon's functions for Comch, in the form of the other packages' addons.
#pragma once

#include <node_api.h>

namespace verbs::doca_comm::binding {

void init_engine(napi_env env, napi_value exports);
void init_comch(napi_env env, napi_value exports);

}  // namespace verbs::doca_comm::binding
