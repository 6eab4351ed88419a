// Memory regions that are not simply of the program's memory: null, of device memory, of a dma-buf, of a library's
// buffer, imported, with hints for the bus. And the advice on regions.
#pragma once

#include "binding/device/owned.h"
#include "provider/napi_setup.h"

namespace verbs::core {

void init_special_regions(Napi::Object exports);

// ibv_dmah: hints for the bus transfers of memory regions, since release 59.

using DmaHandle = Owned<ibv_dmah, VERBS_CORE_DMAH>;

void init_dma_handle(Napi::Object exports);

}  // namespace verbs::core
