// ibv_query_device(_ex), _port, _gid, _pkey and the GID table.
#pragma once

#include "binding/lifetime/napi_setup.h"

namespace verbs::core {

void InitQuery(Napi::Object exports);

}  // namespace verbs::core
