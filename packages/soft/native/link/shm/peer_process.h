// The process at the other end of a connection, whose memory this one may read: where the kernel allows it to a process
// of the same user. It may not in another container, under seccomp or with Yama's restrictions.
//
// The kernel names the process by a number, which another process may have later. So the process proves itself once by
// random bytes in its memory, which are also in its hello; a pidfd tells after each access that it was alive all the
// time, and the socket that it still runs the same program.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>

#include "link/reference.h"
#include "link/shm/peer_socket.h"

namespace verbs::soft::link {

class PeerProcess {
 public:
  // Of this process, for its hellos. It never moves.
  static const Proof& own_proof();

  // nullopt: its memory cannot be read. `socket` is the connection, and outlives this object.
  static std::optional<PeerProcess> find(int socket, const Hello& hello);
  ~PeerProcess();
  PeerProcess(PeerProcess&& other) noexcept;
  PeerProcess& operator=(PeerProcess&& other) noexcept;

  // True: all of `from` was copied to `to`, and was the memory of the peer.
  bool read(std::span<const iovec> to, std::span<const Reference> from) const;
  // A copy of a descriptor of the peer, which the caller closes; -1: there is none.
  int take_descriptor(std::uint32_t fd) const;
  // Whether it was the peer all the time.
  bool still_runs() const;

 private:
  PeerProcess(pid_t pid, int pidfd, int socket) : pid_(pid), pidfd_(pidfd), socket_(socket) {}

  pid_t pid_;
  int pidfd_;
  int socket_;
};

}  // namespace verbs::soft::link
