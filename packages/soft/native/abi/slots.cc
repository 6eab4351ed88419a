#include "slots.h"

#include <cerrno>

#include "objects.h"

namespace verbs::soft::abi {

int close_xrcd(ibv_xrcd*) { return EOPNOTSUPP; }

}  // namespace verbs::soft::abi
