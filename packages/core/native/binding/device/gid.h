// GIDs and address vectors on their way between JavaScript and C.
#pragma once

#include <infiniband/verbs.h>

#include "provider/value.h"

namespace verbs::core {

// 16 bytes of a Uint8Array; TypeError for anything else.
ibv_gid read_gid(Napi::Value value);
Napi::Value write_gid(Napi::Env env, const ibv_gid& gid);

// A complete attribute object: every field must be there, `grh` too when isGlobal is set.
ibv_ah_attr read_ah_attr(const provider::Fields& fields);
Napi::Object write_ah_attr(Napi::Env env, const ibv_ah_attr& attr);

void init_gid(Napi::Object exports);

// Queries of a library that need no device: the names of values, rates, and whether fork() is supported.

void init_text(Napi::Object exports);

}  // namespace verbs::core
