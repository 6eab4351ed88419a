// Socket addresses and GIDs.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>

namespace verbs::rdmacm::model {

using Gid = std::array<std::uint8_t, 16>;  // network byte order, IPv4 mapped

bool is_ip(const sockaddr* address);
socklen_t size_of(const sockaddr* address);      // 0 for another family
std::uint16_t port_of(const sockaddr* address);  // host byte order; 0 for another family
void set_port(sockaddr* address, std::uint16_t port);
Gid gid_of(const sockaddr* address);
// 0.0.0.0 and :: are zero GIDs.
bool is_any(const sockaddr* address);
bool is_ipv4(const Gid& gid);
bool is_multicast(const Gid& gid);
bool is_link_local(const Gid& gid);
// Whether the system has the address, with whatever device.
bool is_of_system(const sockaddr* address);
// As an address of family AF_INET or AF_INET6, whichever the GID is.
void to_sockaddr(const Gid& gid, std::uint16_t port, sockaddr_storage* address);
// Two ends at link-local addresses are at the same network interface.
void copy_scope(const sockaddr* from, sockaddr* to);
// The local address by which the system would send to that one. False if it has no route.
bool source_for(const sockaddr* destination, Gid* source);

}  // namespace verbs::rdmacm::model
