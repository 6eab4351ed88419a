#include "link/shm/peer_socket.h"

#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "link/doors/door.h"
#include "link/doors/local_socket.h"
#include "verbs_soft_cancel.h"

namespace verbs::soft::link {
namespace {

// Changes with the layout of the ring and the hello, so that other versions do not find each other.
constexpr std::uint8_t kMagic[8] = {'v', 'e', 'r', 'b', 's', 'h', 'm', '8'};

int send_byte(int fd) {
  const char byte = 0;
  return send(fd, &byte, sizeof byte, MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof byte ? 0 : errno;
}

}  // namespace

std::string name_of_peer(const wire::Gid& address, Range range) {
  std::string name = "verbs-soft/" + std::string(std::begin(kMagic), std::end(kMagic)) + "/";
  for (const std::uint8_t byte : address.bytes) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", byte);
    name += digits;
  }
  return range == kAnyRange ? name : name + "/" + std::to_string(range);
}

int connect_to_peer(const wire::Gid& address, Range range, int* fd) {
  const int error = connect_to(name_of_peer(address, range), fd);
  return error == ECONNREFUSED && range != kAnyRange ? connect_to(name_of_peer(address, kAnyRange), fd) : error;
}

int send_invitation(int fd) {
  take_descriptors(fd);
  return send_byte(fd);
}

int receive_invitation(int fd) {
  std::uint8_t byte = 0;
  std::size_t size = 0;
  const int error = receive(fd, {&byte, 1}, &size);
  return error == 0 && size == 0 ? EPROTO : error;
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
  return send_with_descriptor(fd, {reinterpret_cast<const std::uint8_t*>(&hello), sizeof hello}, memory);
}

int receive_hello(int fd, Hello* hello, int* memory) {
  const int error = receive_with_descriptor(fd, {reinterpret_cast<std::uint8_t*>(hello), sizeof *hello}, memory);
  if (error != 0) return error;
  if (take_no_more_descriptors(fd) && std::memcmp(hello->magic, kMagic, sizeof kMagic) == 0) return 0;
  close_elsewhere(*memory);
  return EPROTO;
}

// A full socket is readable, and a peer that is gone needs no bell.
void ring_bell(int fd) {
  const Uncancelled call;
  (void)send_byte(fd);
}

bool take_bells(int fd) {
  std::uint8_t bells[64];  // others are there at the next look
  std::size_t size = 0;
  const int error = receive(fd, bells, &size);
  return error == EAGAIN || (error == 0 && size != 0);
}

namespace {

// References have the layout that the kernel takes.
static_assert(sizeof(Reference) == sizeof(iovec) && sizeof(std::size_t) == sizeof(std::uint64_t));

std::size_t size_of(std::span<const Reference> pieces) {
  std::size_t size = 0;
  for (const Reference& piece : pieces) size += piece.size;
  return size;
}

}  // namespace

const Proof& PeerProcess::own_proof() {
  static const auto* proof = [] {
    auto* made = new Proof{};  // outlives every thread
    // Without random bytes nobody finds this process, and its frames have their payload.
    if (getrandom(made->data(), made->size(), 0) != static_cast<ssize_t>(made->size())) *made = {};
    return made;
  }();
  return *proof;
}

std::optional<PeerProcess> PeerProcess::find(int socket, const Hello& hello) {
  ucred peer{};
  socklen_t length = sizeof peer;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0 || peer.pid <= 0) return std::nullopt;
  const auto pidfd = static_cast<int>(syscall(SYS_pidfd_open, peer.pid, 0));
  if (pidfd < 0) return std::nullopt;
  PeerProcess found(peer.pid, pidfd, socket);
  Proof proof{};
  const iovec to{proof.data(), proof.size()};
  const Reference from{hello.proof_at, proof.size()};
  if (!found.read({&to, 1}, {&from, 1}) || proof != hello.proof || proof == Proof{}) return std::nullopt;
  return found;
}

PeerProcess::PeerProcess(PeerProcess&& other) noexcept
    : pid_(other.pid_), pidfd_(std::exchange(other.pidfd_, -1)), socket_(other.socket_) {}

PeerProcess& PeerProcess::operator=(PeerProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(pidfd_, other.pidfd_);
  std::swap(socket_, other.socket_);
  return *this;
}

PeerProcess::~PeerProcess() {
  if (pidfd_ >= 0) close(pidfd_);
}

bool PeerProcess::read(std::span<const iovec> to, std::span<const Reference> from) const {
  if (from.size() > kMostReferences || to.size() > kMostReferences) return false;
  const ssize_t size =
      process_vm_readv(pid_, to.data(), to.size(), reinterpret_cast<const iovec*>(from.data()), from.size(), 0);
  if (size < 0 || static_cast<std::size_t>(size) != size_of(from)) return false;
  return still_runs();
}

int PeerProcess::take_descriptor(std::uint32_t fd) const {
  return static_cast<int>(syscall(SYS_pidfd_getfd, pidfd_, fd, 0));  // closes at exec
}

bool PeerProcess::still_runs() const {
  // An exec takes the memory and closes the socket under one lock of the kernel, which the access takes, too.
  const Uncancelled call;
  std::array<pollfd, 2> ends{{{pidfd_, POLLIN, 0}, {socket_, POLLRDHUP, 0}}};
  return poll(ends.data(), ends.size(), 0) == 0;
}

}  // namespace verbs::soft::link
