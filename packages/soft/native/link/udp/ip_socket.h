// What all sockets that carry frames have in common: the options that make the kernel write the IP header that the ICRC
// was computed over, and the fields of that header that pass beside the data.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>

#include "wire/frame.h"

namespace verbs::soft::link {

inline constexpr std::size_t kControl = 96;  // room for the ancillary messages of a frame
inline constexpr std::uint8_t kDefaultHopLimit = 64;

// 0 or errno. Such a socket never fragments; unconnected, it sends IPv4 with DF and identification 0.
int prepare_socket(int fd, bool ipv4, int buffer_bytes);

// The kernel may report what an earlier datagram met on a later call. Reading the report clears it.
bool is_stale_report(int error);

// The ancillary messages of a received datagram: what the kernel took out of the IP header.
void read_controls(msghdr& header, wire::Path* path);

// The ancillary messages for the traffic class and the hop limit of `frame`, into `room` (kControl bytes, aligned as a
// cmsghdr). Sets msg_control and msg_controllen.
void write_controls(const std::uint8_t* frame, msghdr& header, char* room);
// One more.
void add_control(msghdr& header, int level, int type, const void* value, std::size_t size);

}  // namespace verbs::soft::link
