// ibv_attach_mcast and ibv_detach_mcast.
#include <infiniband/verbs.h>

#include <cerrno>

#include "abi/objects/objects.h"

using namespace verbs::soft;

// The LID has a meaning on InfiniBand only.
extern "C" {

int ibv_attach_mcast(ibv_qp* qp, const ibv_gid* gid, std::uint16_t) {
  return verb([&] {
    abi::Uses uses;
    if (const int error = uses.add(qp)) return error;
    if (!gid) return EINVAL;
    return abi::of(qp->context)->adapter->multicast.attach(abi::of(qp)->nic, wire::Gid::from_bytes(gid->raw));
  });
}

int ibv_detach_mcast(ibv_qp* qp, const ibv_gid* gid, std::uint16_t) {
  return verb([&] {
    abi::Uses uses;
    if (const int error = uses.add(qp)) return error;
    if (!gid) return EINVAL;
    return abi::of(qp->context)->adapter->multicast.detach(abi::of(qp)->nic, wire::Gid::from_bytes(gid->raw));
  });
}

}  // extern "C"
