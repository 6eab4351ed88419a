// The addon's functions for Comch.
#pragma once

#include "provider/napi_setup.h"

namespace verbs::doca_comm::binding {

void init_engine(Napi::Object exports);
void init_comch(Napi::Object exports);

}  // namespace verbs::doca_comm::binding
