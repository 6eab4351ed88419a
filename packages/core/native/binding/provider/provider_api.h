// The function table of verbs_core.h.
#pragma once

#include "binding/lifetime/napi_setup.h"

namespace verbs::core {

void InitSiblingApi(Napi::Object exports);

}  // namespace verbs::core
