// Making queue pairs: ibv_create_qp, ibv_create_qp_ex, ibv_open_qp.
#pragma once

#include "binding/lifetime/vendor_make.h"
#include "provider/napi_setup.h"

namespace verbs::core {

// createQp(), by a vendor's function.
Napi::Value create_qp(Napi::Env env, const napi_value* arguments, const VendorMake& vendor);

void init_qp_creation(Napi::Object exports);

}  // namespace verbs::core
