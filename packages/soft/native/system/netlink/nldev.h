// Answers to requests about RDMA devices, as the kernel's nldev.c gives them: for rdma(8), rdma-core's tests and device
// plugins.
#pragma once

#include <linux/netlink.h>

#include <cstdint>

namespace verbs::soft::system {

// Answers a request by messages of `from`, a socket, to the socket `to` at the netlink address `port`, which asked. 0
// or errno: ENOBUFS for a list that the socket cannot hold, of which it has nothing then.
int answer(const nlmsghdr& request, std::uint32_t port, int from, int to);

}  // namespace verbs::soft::system
