// ibv_query_device(_ex), _port, _gid, _pkey and the GID table.
#pragma once

#include "provider/napi_setup.h"

namespace verbs::core {

void init_query(Napi::Object exports);

}  // namespace verbs::core
