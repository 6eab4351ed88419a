// ibv_td and ibv_xrcd: domains that group other objects.
#pragma once

#include "binding/device/owned.h"

namespace verbs::core {

using ThreadDomain = Owned<ibv_td, VERBS_CORE_TD>;
using XrcDomain = Owned<ibv_xrcd, VERBS_CORE_XRCD>;

void init_domains(Napi::Object exports);

}  // namespace verbs::core
