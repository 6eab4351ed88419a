// postSend, postRecv and poll for JavaScript: one plain Node-API call each, without allocation.
#pragma once

#include "binding/lifetime/napi_setup.h"

namespace verbs::core {

void InitPost(Napi::Object exports);

}  // namespace verbs::core
