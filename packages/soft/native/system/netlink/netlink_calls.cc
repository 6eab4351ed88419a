#include "system/netlink/netlink_calls.h"

#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>

#include "system/libc.h"
#include "system/netlink/nldev.h"
#include "system/tree.h"

// NETLINK_RDMA, by which rdma(8), rdma-core's tests and device plugins ask the kernel for RDMA devices, their ports,
// objects and counters. Where the kernel has it, it answers. Elsewhere a program's socket is one of NETLINK_USERSOCK,
// and what the program sends to the kernel is answered here: by messages of another such socket, so that receiving,
// polling and closing stay the kernel's. Only sending is replaced, and of it what has a kernel's netlink address.

namespace verbs::soft::system {

namespace {

using Socket = int(int, int, int);
using Sendto = ssize_t(int, const void*, std::size_t, int, const sockaddr*, socklen_t);
using Sendmsg = ssize_t(int, const msghdr*, int);
VERBS_LIBC(Socket, socket);
VERBS_LIBC(Sendto, sendto);
VERBS_LIBC(Sendmsg, sendmsg);

bool is_user_socket(int fd) {
  int protocol = 0;
  socklen_t size = sizeof protocol;
  return syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) == 0 && protocol == NETLINK_USERSOCK;
}

// The address by which messages reach the socket; it gets one now if it has none. 0: it cannot have one.
std::uint32_t port_of(int fd) {
  sockaddr_nl address{};
  socklen_t size = sizeof address;
  if (syscall(SYS_getsockname, fd, &address, &size) != 0) return 0;
  if (address.nl_pid != 0) return address.nl_pid;
  address = {};
  address.nl_family = AF_NETLINK;
  size = sizeof address;
  if (syscall(SYS_bind, fd, &address, size) != 0) return 0;
  return syscall(SYS_getsockname, fd, &address, &size) == 0 ? address.nl_pid : 0;
}

// Whether `data` is a request to the kernel about RDMA devices on such a socket.
const nlmsghdr* request_in(int fd, const void* data, std::size_t size, const sockaddr* to, socklen_t to_size) {
  if (!to || to_size < sizeof(sockaddr_nl) || to->sa_family != AF_NETLINK) return nullptr;
  if (reinterpret_cast<const sockaddr_nl*>(to)->nl_pid != 0 || size < NLMSG_HDRLEN || !data) return nullptr;
  const auto* request = static_cast<const nlmsghdr*>(data);
  if (request->nlmsg_len < NLMSG_HDRLEN || request->nlmsg_len > size) return nullptr;
  if (request->nlmsg_type >> 10 != RDMA_NL_NLDEV || machine_folder().empty()) return nullptr;
  const KeepErrno keep;
  return is_user_socket(fd) ? request : nullptr;
}

int answer_on(int fd, const nlmsghdr& request) {
  const KeepErrno keep;
  const std::uint32_t port = port_of(fd);
  if (port == 0) return ECONNREFUSED;
  const auto from = static_cast<int>(syscall(SYS_socket, AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_USERSOCK));
  if (from < 0) return ECONNREFUSED;
  const int error = answer(request, port, from, fd);
  kernel::close(from);
  return error;
}

// The answer is in the socket's queue when this returns. -1 and errno.
ssize_t send_request(int fd, const nlmsghdr& request, std::size_t size) {
  const int error = answer_on(fd, request);
  if (error == 0) return static_cast<ssize_t>(size);
  errno = error;
  return -1;
}

}  // namespace

}  // namespace verbs::soft::system

using namespace verbs::soft::system;

VERBS_REPLACES(int, socket, int domain, int type, int protocol) {
  const int fd = libc_socket(domain, type, protocol);
  if (fd >= 0 || domain != AF_NETLINK || protocol != NETLINK_RDMA || machine_folder().empty()) return fd;
  return libc_socket(domain, type, NETLINK_USERSOCK);
}

VERBS_REPLACES(ssize_t, sendto, int fd, const void* data, std::size_t size, int flags, const sockaddr* to,
               socklen_t to_size) {
  if (const nlmsghdr* request = request_in(fd, data, size, to, to_size)) return send_request(fd, *request, size);
  return libc_sendto(fd, data, size, flags, to, to_size);
}

VERBS_REPLACES(ssize_t, sendmsg, int fd, const msghdr* message, int flags) {
  if (message && message->msg_iovlen == 1 && message->msg_iov) {
    const iovec& part = message->msg_iov[0];
    const auto* to = static_cast<const sockaddr*>(message->msg_name);
    if (const nlmsghdr* request = request_in(fd, part.iov_base, part.iov_len, to, message->msg_namelen)) {
      return send_request(fd, *request, part.iov_len);
    }
  }
  return libc_sendmsg(fd, message, flags);
}
