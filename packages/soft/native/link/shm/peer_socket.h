// How processes of one host find each other: each address has a door (link/doors), named by the address, in the network
// namespace that the address is in. A connection carries the frames of one direction. The process at the door invites
// its visitor, whose first message brings the memory of the ring. Every other message is a bell, and the end of the
// connection tells that the peer is gone.
//
// Until the invitation has come, frames pass by the next link: a process that does not respond holds nobody up.
#pragma once

#include <array>
#include <cstdint>
#include <string>

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

// All calls return 0 or errno, and do not block.

std::string name_of_peer(const wire::Gid& address);
// ECONNREFUSED: nobody is there. EPERM: another user is.
int connect_to_peer(const wire::Gid& address, int* fd);

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

}  // namespace verbs::soft::link
