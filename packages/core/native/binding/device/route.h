// What the machine's network knows of the way between two addresses.
#pragma once

#include "binding/lifetime/handle.h"

namespace verbs::core {

void init_route(Napi::Object exports);

}  // namespace verbs::core
