// The program by which the kernel chooses the socket of a shared address that receives a datagram: a classic BPF
// program, which needs no privilege. It sees the datagram from the BTH on, and answers with the socket's place in the
// group; a place that the group does not have means one by a hash.
#pragma once

#include <cstdint>
#include <map>

#include "link/frame_range.h"

namespace verbs::soft::link {

using Place = std::uint16_t;  // of a socket in its group

// `places`: the ranges of queue pair numbers that are known. Requests of the connection manager go to any place below
// `count`, to another one each time that they are repeated: none that hears nothing gets all of them. 0 or errno.
int attach_program(int socket, const std::map<Range, Place>& places, std::size_t count);

// Probes say themselves to which place they go: 32 bits, so far behind the beginning.
inline constexpr std::size_t kProbePlace = 8;

}  // namespace verbs::soft::link
