#include "link/doors/local_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>

#include "link/doors/door.h"

namespace verbs::soft::link {
namespace {

constexpr int kBacklog = 1024;
// The id that stands for every user that has no number in this user namespace: two of them need not be the same.
constexpr uid_t kUnmappedUser = 65534;
constexpr int kPassRights = 83;  // SO_PASSRIGHTS, of Linux 6.16
constexpr int kFlags = SOCK_CLOEXEC | SOCK_NONBLOCK;

// In the first user namespace, and in each that has all of its users, 65534 is a user like others.
bool has_unmapped_users() {
  static const bool kHas = [] {
    std::ifstream map("/proc/self/uid_map");
    unsigned long own = 1, outer = 1, count = 0;
    return !(map >> own >> outer >> count) || own != 0 || count != UINT32_MAX;
  }();
  return kHas;
}

bool set_pass_rights(int fd, bool wanted) {
  const int value = wanted;
  return setsockopt(fd, SOL_SOCKET, kPassRights, &value, sizeof value) == 0;
}

// Whether the kernel keeps descriptors out of a socket.
bool kernel_refuses_descriptors() {
  static const bool kRefuses = [] {
    const int fd = socket(AF_UNIX, SOCK_STREAM | kFlags, 0);
    const bool done = fd >= 0 && set_pass_rights(fd, false);
    if (fd >= 0) close(fd);
    return done;
  }();
  return kRefuses;
}

int new_socket(int* fd) {
  *fd = socket(AF_UNIX, SOCK_STREAM | kFlags, 0);
  if (*fd < 0) return errno;
  set_pass_rights(*fd, false);
  return 0;
}

// 0: the name is too long.
socklen_t name_of(std::string_view name, sockaddr_un* address) {
  *address = {};
  address->sun_family = AF_UNIX;
  if (name.size() >= sizeof address->sun_path) return 0;
  name.copy(address->sun_path + 1, name.size());  // the zero before it makes it abstract
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
}

// A filter of system calls may know accept() only.
int accept_from(int listener) {
  const int fd = accept4(listener, nullptr, nullptr, kFlags);
  if (fd >= 0 || (errno != ENOSYS && errno != EPERM)) return fd;
  const int plain = accept(listener, nullptr, nullptr);
  if (plain >= 0) {
    fcntl(plain, F_SETFD, FD_CLOEXEC);
    fcntl(plain, F_SETFL, O_NONBLOCK);
  }
  return plain;
}

// What is peeked at stays in the socket: descriptors that are with it lose no reference.
ssize_t peek(int fd, std::span<std::uint8_t> to, msghdr* message) {
  iovec piece{to.data(), to.size()};
  message->msg_iov = &piece;
  message->msg_iovlen = 1;
  const ssize_t size = recvmsg(fd, message, MSG_DONTWAIT | MSG_PEEK | MSG_CMSG_CLOEXEC);
  message->msg_iov = nullptr;
  return size;
}

int error_of_receive() { return errno == EINTR ? EAGAIN : errno; }

int receive_checked(int fd, std::span<std::uint8_t> to, std::size_t* size) {
  msghdr message{};
  ssize_t count = peek(fd, to, &message);
  if (count < 0) return error_of_receive();
  if ((message.msg_flags & MSG_CTRUNC) != 0) return EPROTO;
  // As much as was looked at: in a stream, descriptors may follow.
  if (count > 0) count = recv(fd, to.data(), static_cast<std::size_t>(count), MSG_DONTWAIT);
  if (count < 0) return error_of_receive();
  *size = static_cast<std::size_t>(count);
  return 0;
}

// Takes what has come. False: descriptors have, or more than a peer sends.
bool drain(int fd) {
  constexpr int kMost = 64;
  for (int i = 0; i < kMost; ++i) {
    std::uint8_t bytes[256];
    std::size_t size = 0;
    const int error = receive_checked(fd, bytes, &size);
    if (error != 0 || size == 0) return error != EPROTO;
  }
  return false;
}

}  // namespace

int take_name(std::string_view name, int* fd) {
  if (const int error = new_socket(fd)) return error;
  sockaddr_un address;
  const socklen_t size = name_of(name, &address);
  if (size != 0 && bind(*fd, reinterpret_cast<sockaddr*>(&address), size) == 0) return 0;
  const int error = size == 0 ? ENAMETOOLONG : errno;
  close(*fd);
  return error;
}

int listen_at(std::string_view name, int* fd) {
  if (const int error = take_name(name, fd)) return error;
  if (listen(*fd, kBacklog) == 0) return 0;
  const int error = errno;
  close(*fd);
  return error;
}

int connect_to(std::string_view name, int* fd) {
  if (const int error = new_socket(fd)) return error;
  sockaddr_un address;
  const socklen_t size = name_of(name, &address);
  int error = size == 0 ? ENAMETOOLONG : 0;
  if (error == 0 && connect(*fd, reinterpret_cast<sockaddr*>(&address), size) != 0) error = errno;
  if (error == 0 && is_own_user(*fd)) return 0;
  hang_up(*fd);
  return error != 0 ? error : EPERM;
}

int accept_own_user(int listener, int* fd) {
  *fd = accept_from(listener);
  if (*fd < 0) return errno == EINTR || errno == ECONNABORTED ? EAGAIN : errno;
  if (is_own_user(*fd)) return 0;
  hang_up(*fd);
  *fd = -1;
  return 0;
}

bool is_own_user(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  return peer.uid == geteuid() && (peer.uid != kUnmappedUser || !has_unmapped_users());
}

void take_descriptors(int fd) { set_pass_rights(fd, true); }

bool take_no_more_descriptors(int fd) {
  set_pass_rights(fd, false);
  return drain(fd);
}

int receive(int fd, std::span<std::uint8_t> to, std::size_t* size) {
  if (!kernel_refuses_descriptors()) return receive_checked(fd, to, size);
  const ssize_t count = recv(fd, to.data(), to.size(), MSG_DONTWAIT);
  if (count < 0) return error_of_receive();
  *size = static_cast<std::size_t>(count);
  return 0;
}

int receive_with_descriptor(int fd, std::span<std::uint8_t> to, int* descriptor) {
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof *descriptor)] = {};
  msghdr message{};
  message.msg_control = room;
  message.msg_controllen = CMSG_LEN(sizeof *descriptor);  // for one: a message with more is none of a peer
  const ssize_t size = peek(fd, to, &message);
  if (size < 0) return error_of_receive();
  const cmsghdr* control = CMSG_FIRSTHDR(&message);
  const bool has_one = control != nullptr && control->cmsg_level == SOL_SOCKET && control->cmsg_type == SCM_RIGHTS &&
                       control->cmsg_len == CMSG_LEN(sizeof *descriptor);
  if (!has_one) return EPROTO;
  std::memcpy(descriptor, CMSG_DATA(control), sizeof *descriptor);
  const bool whole = static_cast<std::size_t>(size) == to.size() && (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0;
  // Takes the message out; the descriptor stays by its copy.
  if (whole && recv(fd, to.data(), to.size(), MSG_DONTWAIT) == size) return 0;
  close_elsewhere(*descriptor);
  *descriptor = -1;
  return EPROTO;
}

int send_with_descriptor(int fd, std::span<const std::uint8_t> from, int descriptor) {
  iovec piece{const_cast<std::uint8_t*>(from.data()), from.size()};
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof descriptor)] = {};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = room;
  message.msg_controllen = sizeof room;
  cmsghdr* control = CMSG_FIRSTHDR(&message);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(sizeof descriptor);
  std::memcpy(CMSG_DATA(control), &descriptor, sizeof descriptor);
  return sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == static_cast<ssize_t>(from.size()) ? 0 : errno;
}

// After the shutdown nothing comes any more.
void hang_up(int fd) {
  const int error = errno;
  shutdown(fd, SHUT_RDWR);
  if (drain(fd)) {
    close(fd);
  } else {
    close_elsewhere(fd);
  }
  errno = error;
}

// The kernel would close them with it, and what they have sent.
void close_listener(int fd) {
  const int error = errno;
  shutdown(fd, SHUT_RDWR);
  for (int waiting; (waiting = accept_from(fd)) >= 0;) hang_up(waiting);
  close(fd);
  errno = error;  // that nobody waited any more is no error of the caller's
}

}  // namespace verbs::soft::link
