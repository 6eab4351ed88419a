// Making queue pairs: ibv_create_qp, ibv_create_qp_ex, ibv_open_qp.
#pragma once

#include "napi_setup.h"

namespace verbs::core {

void InitQpCreation(Napi::Object exports);

}  // namespace verbs::core
