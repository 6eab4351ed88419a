// Memory regions that are no registration of memory of the program: null, of device memory, of a dma-buf, imported. And
// the advice on regions.
#pragma once

#include "provider/napi_setup.h"

namespace verbs::core {

void init_special_regions(Napi::Object exports);

}  // namespace verbs::core
