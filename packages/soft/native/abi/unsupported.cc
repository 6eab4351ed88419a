// What this device does not have: multicast.
#include <infiniband/verbs.h>

#include <cerrno>

#include "objects.h"

using namespace verbs::soft;

extern "C" {

int ibv_attach_mcast(ibv_qp*, const ibv_gid*, std::uint16_t) { return EOPNOTSUPP; }
int ibv_detach_mcast(ibv_qp*, const ibv_gid*, std::uint16_t) { return EOPNOTSUPP; }

}  // extern "C"
