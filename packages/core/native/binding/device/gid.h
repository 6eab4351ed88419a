// GIDs and address vectors on their way between JavaScript and C.
#pragma once

#include <infiniband/verbs.h>

#include "binding/lifetime/napi_setup.h"

namespace verbs::core {

// 16 bytes of a Uint8Array; TypeError for anything else.
ibv_gid ReadGid(Napi::Value value);
Napi::Value WriteGid(Napi::Env env, const ibv_gid& gid);

// A complete attribute object: every field must be there, `grh` too when isGlobal is set.
ibv_ah_attr ReadAhAttr(Napi::Object object);
Napi::Object WriteAhAttr(Napi::Env env, const ibv_ah_attr& attr);

void InitGid(Napi::Object exports);

}  // namespace verbs::core
