// Conversions between GIDs and socket addresses.
#pragma once

#include <sys/socket.h>

#include <cstdint>

#include "wire/gid.h"

namespace verbs::soft::link {

// Returns the length. `scope` is the index of the interface of a link-local IPv6 address, else 0.
socklen_t to_sockaddr(const wire::Gid& gid, std::uint16_t port, std::uint32_t scope, sockaddr_storage* storage);

// Of an AF_INET or AF_INET6 address.
wire::Gid gid_of(const sockaddr_storage& storage);
std::uint16_t port_of(const sockaddr_storage& storage);

// The index of the interface that has the IPv6 address `gid`; 0 if there is none.
std::uint32_t interface_of(const wire::Gid& gid);

// The index of the interface that has the link-local IPv6 address `gid`; 0 for every other address.
std::uint32_t scope_of(const wire::Gid& gid);

}  // namespace verbs::soft::link
