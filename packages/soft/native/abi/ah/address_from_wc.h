// The address of the sender of a datagram, from its completion and the 40 bytes in front of its data.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

namespace verbs::soft::abi {

// 0 or errno. The 40 bytes are an IPv6 header, or 20 unused bytes and an IPv4 header (RoCE v2 annex A17.4.5.2).
int address_from_wc(ibv_context* context, std::uint8_t port_num, const ibv_wc& wc, const ibv_grh* grh,
                    ibv_ah_attr* attr);

}  // namespace verbs::soft::abi
