#include "slots.h"

#include <cerrno>

#include "objects.h"

namespace verbs::soft::abi {

int bind_mw(ibv_qp*, ibv_mw*, ibv_mw_bind*) { return EOPNOTSUPP; }
int dealloc_mw(ibv_mw*) { return EOPNOTSUPP; }
int close_xrcd(ibv_xrcd*) { return EOPNOTSUPP; }

}  // namespace verbs::soft::abi
