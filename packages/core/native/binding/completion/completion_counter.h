// ibv_comp_cntr, of libibverbs since release 65.
#pragma once

#include "binding/device/owned.h"

namespace verbs::core {

using CompletionCounter = Owned<ibv_comp_cntr, VERBS_CORE_COMP_CNTR>;

void init_completion_counter(Napi::Object exports);

}  // namespace verbs::core
