// The holder of a UDP port, for the error text when no address is free.
#pragma once

#include <cstdint>
#include <string>

#include "wire/gid.h"

namespace verbs::soft::host {

// Names the holder of `port` on `address` (or on all addresses), for example
// "0.0.0.0:4791 is held by process 4711 (ib_write_bw)" or "… by the kernel (the rdma_rxe module)".
// Empty if /proc shows no such socket.
std::string port_holder(const wire::Gid& address, std::uint16_t port);

}  // namespace verbs::soft::host
