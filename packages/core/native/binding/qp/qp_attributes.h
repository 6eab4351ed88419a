// ibv_qp_attr and its parts on their way between JavaScript and C.
#pragma once

#include <infiniband/verbs.h>

#include "binding/lifetime/napi_setup.h"

namespace verbs::core {

ibv_qp_cap ReadCap(Napi::Object object);
Napi::Object WriteCap(Napi::Env env, const ibv_qp_cap& cap);

// Reads the fields that are there; the mask that goes with them is the caller's.
ibv_qp_attr ReadQpAttr(Napi::Object object);
Napi::Object WriteQpAttr(Napi::Env env, const ibv_qp_attr& attr);

}  // namespace verbs::core
