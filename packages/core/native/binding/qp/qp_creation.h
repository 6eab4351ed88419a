// Making queue pairs: ibv_create_qp, ibv_create_qp_ex, ibv_open_qp.
#pragma once

#include "binding/lifetime/napi_setup.h"
#include "binding/lifetime/vendor_make.h"

namespace verbs::core {

// createQp(), by a vendor's function.
Napi::Value CreateQp(Napi::Env env, const napi_value* arguments, const VendorMake& vendor);

void InitQpCreation(Napi::Object exports);

}  // namespace verbs::core
