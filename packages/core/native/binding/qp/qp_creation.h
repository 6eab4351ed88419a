// Making queue pairs: ibv_create_qp, ibv_create_qp_ex, ibv_open_qp.
#pragma once

#include <infiniband/verbs.h>

#include <memory>

#include "binding/lifetime/object.h"
#include "binding/lifetime/vendor_make.h"
#include "provider/value.h"

namespace verbs::core {

// createQp(), by a vendor's function. `parent`, if there is one, is a further parent of the queue pair.
Napi::Value create_qp(Napi::Env env, const napi_value* arguments, const VendorMake& vendor,
                      const std::shared_ptr<Object>& parent);

void init_qp_creation(Napi::Object exports);

// ibv_qp_attr and its parts on their way between JavaScript and C.

ibv_qp_cap read_cap(const provider::Fields& fields);
Napi::Object write_cap(Napi::Env env, const ibv_qp_cap& cap);

// Reads the fields that are there; the mask that goes with them is the caller's.
ibv_qp_attr read_qp_attr(const provider::Fields& fields);
Napi::Object write_qp_attr(Napi::Env env, const ibv_qp_attr& attr);

}  // namespace verbs::core
