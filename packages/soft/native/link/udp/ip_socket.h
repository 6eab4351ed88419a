// Helpers for all sockets that carry frames: the options by which the kernel writes the IP header that the ICRC covers,
// and the fields of that header that travel in ancillary messages.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/frame.h"
#include "wire/gid.h"

namespace verbs::soft::link {

inline constexpr std::size_t kControl = 96;  // bytes for the ancillary messages of a frame
inline constexpr std::uint8_t kDefaultHopLimit = 64;

// 0 or errno. Such a socket never fragments; unconnected, it sends IPv4 with DF and identification 0.
int prepare_socket(int fd, bool ipv4, int buffer_bytes);

// Whether a call failed with the error of an earlier datagram, or was interrupted. The report clears the error: call
// again.
bool is_stale_report(int error);

// Reads the fields of the IP header of a received datagram from its ancillary messages.
void read_controls(msghdr& header, wire::Path* path);

// A datagram that was received without its IP header.
struct Datagram {
  std::size_t size = 0;    // of its payload, at the front of the caller's room
  bool truncated = false;  // the room was too small
  wire::Path path;         // source address and port, traffic class, hop limit
};
// Receives one datagram into `room`, without blocking. False if none waits.
bool receive_datagram(int fd, std::span<std::uint8_t> room, Datagram* datagram);

// Writes the ancillary messages for the traffic class and the hop limit of `frame` into `room` (kControl bytes, aligned
// as a cmsghdr), and sets msg_control and msg_controllen. The flow label of IPv6 goes into the address in msg_name.
void write_controls(const std::uint8_t* frame, msghdr& header, char* room);
// Adds one more message.
void add_control(msghdr& header, int level, int type, const void* value, std::size_t size);

// Conversions between GIDs and socket addresses.

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
