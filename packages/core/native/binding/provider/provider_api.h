// The function table of verbs_core.h.
#pragma once

#include "provider/napi_setup.h"

namespace verbs::core {

void init_provider_api(Napi::Object exports);

}  // namespace verbs::core
