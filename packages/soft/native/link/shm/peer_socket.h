// How processes of one host find each other without a file: each address has an abstract Unix socket, named by the
// address, in the network namespace that the address is in. A connection carries the frames of one direction: its first
// message brings the memory of the ring, every other message is a bell, and its end tells that the peer is gone.
//
// Only processes of one user connect. Both ends look at the other's user, as the kernel tells it.
#pragma once

#include <array>
#include <cstdint>

#include "wire/gid.h"

namespace verbs::soft::link {

// Random bytes of a process, and where it has them: who finds them there has found the process.
using Proof = std::array<std::uint8_t, 16>;

// The first message, with the descriptor of the ring's memory.
struct Hello {
  std::uint8_t magic[8];
  wire::Gid source;  // every frame comes from this address
  wire::Gid destination;
  Proof proof;
  std::uint64_t proof_at;
};

// All calls return 0 or errno, do not block, and make descriptors that close at exec.

// EADDRINUSE: another socket has the name.
int listen_for_peers(const wire::Gid& address, int* fd);
// ECONNREFUSED: nobody listens there. EPERM: another user does.
int connect_to_peer(const wire::Gid& address, int* fd);
// EAGAIN: nobody waits to be accepted. EPERM: another user did.
int accept_peer(int listener, int* fd);

int send_hello(int fd, const Hello& hello, int memory);
// EAGAIN: it has not come yet. EPROTO: it is none. The caller closes `memory`.
int receive_hello(int fd, Hello* hello, int* memory);
// `proof` stays where it is.
Hello make_hello(const wire::Gid& source, const wire::Gid& destination, const Proof& proof);

void ring_bell(int fd);
// Takes the bells that were rung. False: the peer is gone.
bool take_bells(int fd);

}  // namespace verbs::soft::link
