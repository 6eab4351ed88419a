#include "link/shm/peer_process.h"

#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "verbs_soft_cancel.h"

namespace verbs::soft::link {
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
