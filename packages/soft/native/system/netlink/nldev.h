// Answers to requests about RDMA devices, as the kernel's nldev.c gives them: for rdma(8), rdma-core's tests and device
// plugins.
#pragma once

#include <linux/netlink.h>

#include <cstdint>

namespace verbs::soft::system {

// Answers a request by messages of `from`, a socket, to the netlink address `port`, which asked. 0 or errno.
int answer(const nlmsghdr& request, std::uint32_t port, int from);

}  // namespace verbs::soft::system
