// Slots of a context that are filled for the sake of callers that do not check them, and those that are thin.
#pragma once

#include <infiniband/verbs.h>

namespace verbs::soft::abi {

// This device has no XRC domains: EOPNOTSUPP.
int close_xrcd(ibv_xrcd* xrcd);

}  // namespace verbs::soft::abi
