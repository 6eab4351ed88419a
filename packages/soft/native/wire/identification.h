// The identification of an IPv4 header, which the ICRC covers and a UDP socket does not show. Peers whose IPv4 headers
// the kernel or an adapter writes count it up; our own packets have 0.
//
// A CRC is linear: the ICRC that came differs from the one computed for identification 0 by a multiple of the
// identification's bits that depends on their distance to the end only. So the identification that makes the ICRC right
// follows from the two in constant time. 16 of the ICRC's 32 bits are spent on it: of random damage one in 65,536 fits
// some identification, so the result must be near the peer's last one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace verbs::soft::wire {

// The identification with which the ICRC of `frame` is right; nullopt if there is none. `frame` is an IPv4 frame with
// identification 0, for which network_size_of() is not 0, with a BTH.
std::optional<std::uint16_t> solve_identification(std::span<const std::uint8_t> frame);

// Stores the identification and the header checksum of an IPv4 frame.
void set_identification(std::span<std::uint8_t> frame, std::uint16_t identification);

}  // namespace verbs::soft::wire
