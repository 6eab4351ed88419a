// ibv_flow and ibv_counters.
#pragma once

#include "binding/device/owned.h"

namespace verbs::core {

using Flow = Owned<ibv_flow, VERBS_CORE_FLOW>;
using Counters = Owned<ibv_counters, VERBS_CORE_COUNTERS>;

void init_flow(Napi::Object exports);

}  // namespace verbs::core
