// Queries of a library that need no device: the names of values, rates, and whether fork() is supported.
#pragma once

#include "provider/napi_setup.h"

namespace verbs::core {

void init_text(Napi::Object exports);

}  // namespace verbs::core
