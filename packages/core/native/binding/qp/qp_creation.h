// Making queue pairs: ibv_create_qp, ibv_create_qp_ex, ibv_open_qp.
#pragma once

#include <memory>

#include "binding/lifetime/object.h"
#include "binding/lifetime/vendor_make.h"
#include "provider/napi_setup.h"

namespace verbs::core {

// createQp(), by a vendor's function. `parent`, if there is one, is a further parent of the queue pair.
Napi::Value create_qp(Napi::Env env, const napi_value* arguments, const VendorMake& vendor,
                      const std::shared_ptr<Object>& parent);

void init_qp_creation(Napi::Object exports);

}  // namespace verbs::core
