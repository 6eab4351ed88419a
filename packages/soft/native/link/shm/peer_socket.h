// How processes of one host find each other: each process has a door (link/doors) for each of its addresses and ranges
// of queue pair numbers (frame_range.h), named by both, in the network namespace that the address is in; one that
// shares its address with no other has one door for all numbers. A connection carries the frames of one direction. The
// process at the door invites its visitor, whose first message brings the memory of the ring. Every other message is a
// bell, and the end of the connection tells that the peer is gone.
//
// Until the invitation has come, frames pass by the next link: a process that does not respond holds nobody up.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "link/frame_range.h"
#include "link/link.h"
#include "wire/gid.h"

namespace verbs::soft::link {

// Random bytes of a process, and where it has them: who finds them there has found the process.
using Proof = std::array<std::uint8_t, 16>;

// The first message, with the descriptor of the ring's memory.
struct Hello {
  std::uint8_t magic[8];
  wire::Gid source;  // every frame comes from this address; zero: they came by the network to the wrong process
  wire::Gid destination;
  Proof proof;
  std::uint64_t proof_at;
};

// All calls return 0 or errno, and do not block.

// kAnyRange: all numbers.
std::string name_of_peer(const wire::Gid& address, Range range);
// To the process that has the numbers there. ECONNREFUSED: nobody has. EPERM: another user has.
int connect_to_peer(const wire::Gid& address, Range range, int* fd);

int send_invitation(int fd);
// EAGAIN: it has not come yet.
int receive_invitation(int fd);

int send_hello(int fd, const Hello& hello, int memory);
// EAGAIN: it has not come yet. The caller closes `memory`.
int receive_hello(int fd, Hello* hello, int* memory);
// `proof` stays where it is.
Hello make_hello(const wire::Gid& source, const wire::Gid& destination, const Proof& proof);

void ring_bell(int fd);
// Takes the bells that were rung. False: the peer is gone.
bool take_bells(int fd);

// The process at the other end of a connection, whose memory this one may read: where the kernel allows it to a process
// of the same user. It may not in another container, under seccomp or with Yama's restrictions.
//
// The kernel names the process by a number, which another process may have later. So the process proves itself once by
// random bytes in its memory, which are also in its hello; a pidfd tells after each access that it was alive all the
// time, and the socket that it still runs the same program.

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
