#include "link/shm/peer_socket.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>

namespace verbs::soft::link {
namespace {

// Changes with the layout of the ring and the hello, so that other versions do not find each other.
constexpr std::uint8_t kMagic[8] = {'v', 'e', 'r', 'b', 's', 'h', 'm', '6'};
constexpr int kBacklog = 1024;
// The id that stands for every user that has no number in this user namespace: two of them need not be the same.
constexpr uid_t kUnmappedUser = 65534;

socklen_t name_of(const wire::Gid& address, sockaddr_un* name) {
  *name = {};
  name->sun_family = AF_UNIX;
  char* at = name->sun_path + 1;  // the zero before it makes it abstract
  int size = std::snprintf(at, sizeof name->sun_path - 1, "verbs-soft/%.8s/", reinterpret_cast<const char*>(kMagic));
  for (const std::uint8_t byte : address.bytes) {
    size += std::snprintf(at + size, sizeof name->sun_path - 1 - static_cast<std::size_t>(size), "%02x", byte);
  }
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(size));
}

int new_socket(int* fd) {
  *fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  return *fd < 0 ? errno : 0;
}

bool is_own_user(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  return peer.uid == geteuid() && peer.uid != kUnmappedUser;
}

}  // namespace

int listen_for_peers(const wire::Gid& address, int* fd) {
  if (const int error = new_socket(fd)) return error;
  sockaddr_un name;
  const socklen_t length = name_of(address, &name);
  if (bind(*fd, reinterpret_cast<sockaddr*>(&name), length) == 0 && listen(*fd, kBacklog) == 0) return 0;
  const int error = errno;
  close(*fd);
  return error;
}

int connect_to_peer(const wire::Gid& address, int* fd) {
  if (const int error = new_socket(fd)) return error;
  sockaddr_un name;
  const socklen_t length = name_of(address, &name);
  int error = connect(*fd, reinterpret_cast<sockaddr*>(&name), length) != 0 ? errno : 0;
  if (error == 0 && !is_own_user(*fd)) error = EPERM;
  if (error != 0) close(*fd);
  return error;
}

int accept_peer(int listener, int* fd) {
  *fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (*fd < 0) return errno == EINTR ? EAGAIN : errno;
  if (is_own_user(*fd)) return 0;
  close(*fd);
  return EPERM;
}

Hello make_hello(const wire::Gid& source, const wire::Gid& destination, const Proof& proof) {
  Hello hello{};
  hello.proof = proof;
  hello.proof_at = reinterpret_cast<std::uintptr_t>(&proof);
  std::memcpy(hello.magic, kMagic, sizeof kMagic);
  hello.source = source;
  hello.destination = destination;
  return hello;
}

int send_hello(int fd, const Hello& hello, int memory) {
  Hello copy = hello;
  iovec piece{&copy, sizeof copy};
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof memory)] = {};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = room;
  message.msg_controllen = sizeof room;
  cmsghdr* control = CMSG_FIRSTHDR(&message);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(sizeof memory);
  std::memcpy(CMSG_DATA(control), &memory, sizeof memory);
  return sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof copy ? 0 : errno;
}

int receive_hello(int fd, Hello* hello, int* memory) {
  iovec piece{hello, sizeof *hello};
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof *memory)] = {};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = room;
  message.msg_controllen = CMSG_LEN(sizeof *memory);  // for one descriptor: the kernel closes all others
  const ssize_t size = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (size < 0) return errno == EAGAIN || errno == EINTR ? EAGAIN : EPROTO;
  *memory = -1;
  const cmsghdr* control = CMSG_FIRSTHDR(&message);
  if (control != nullptr && control->cmsg_level == SOL_SOCKET && control->cmsg_type == SCM_RIGHTS &&
      control->cmsg_len == CMSG_LEN(sizeof *memory)) {
    std::memcpy(memory, CMSG_DATA(control), sizeof *memory);
  }
  if (*memory < 0) return EPROTO;
  const bool whole = size == sizeof *hello && (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0;
  if (whole && std::memcmp(hello->magic, kMagic, sizeof kMagic) == 0) return 0;
  close(*memory);
  return EPROTO;
}

void ring_bell(int fd) {
  const char bell = 0;
  // A full socket is readable, and a peer that is gone needs no bell.
  (void)!send(fd, &bell, sizeof bell, MSG_DONTWAIT | MSG_NOSIGNAL);
}

bool take_bells(int fd) {
  constexpr int kMost = 16;  // a peer that rings all the time keeps nobody here
  for (int i = 0; i < kMost; ++i) {
    char bell = 0;
    const ssize_t size = recv(fd, &bell, sizeof bell, MSG_DONTWAIT);
    if (size > 0) continue;
    return size < 0 && (errno == EAGAIN || errno == EINTR);
  }
  return true;
}

}  // namespace verbs::soft::link
