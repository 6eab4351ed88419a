// ibv_qp_attr and its parts on their way between JavaScript and C.
#pragma once

#include <infiniband/verbs.h>

#include "provider/napi_setup.h"

namespace verbs::core {

ibv_qp_cap read_cap(Napi::Object object);
Napi::Object write_cap(Napi::Env env, const ibv_qp_cap& cap);

// Reads the fields that are there; the mask that goes with them is the caller's.
ibv_qp_attr read_qp_attr(Napi::Object object);
Napi::Object write_qp_attr(Napi::Env env, const ibv_qp_attr& attr);

}  // namespace verbs::core
