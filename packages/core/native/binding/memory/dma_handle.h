// ibv_dmah: hints for the bus transfers of memory regions, since release 59.
#pragma once

#include "binding/device/owned.h"

namespace verbs::core {

using DmaHandle = Owned<ibv_dmah, VERBS_CORE_DMAH>;

void init_dma_handle(Napi::Object exports);

}  // namespace verbs::core
