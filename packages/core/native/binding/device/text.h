// What a library says without a device: the names of values, rates, and whether it is ready for fork().
#pragma once

#include "provider/napi_setup.h"

namespace verbs::core {

void init_text(Napi::Object exports);

}  // namespace verbs::core
