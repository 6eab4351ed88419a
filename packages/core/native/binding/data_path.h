// postSend, postRecv and poll for JavaScript: one plain Node-API call each, without allocation.
#pragma once

#include "provider/napi_setup.h"

namespace verbs::core {

void init_data_path(Napi::Object exports);

}  // namespace verbs::core
