// Finds the headers of a frame. Never reads outside of the frame.
//
// Known: Ethernet with up to two VLAN tags (0x8100, 0x88a8), IPv4 with options, IPv6 with extension headers, TCP, UDP,
// ICMP, ICMPv6, ESP, RoCE v2 (4791) and the tunnels VXLAN (4789), VXLAN-GPE (4790), GENEVE (6081), GRE and NVGRE, MPLS
// over UDP (6635) and over GRE, GTP-U (2152) and IP in IP. Only the outermost tunnel is entered. A fragment is not
// parsed as a tunnel. Nothing is parsed after an Ethernet MPLS label.
#pragma once

#include <cstdint>

#include "steering/headers/layers.h"

namespace verbs::mlx5::steering {

enum class Lengths : std::uint8_t {
  kChecked,  // of a frame
  kIgnored,  // for an encapsulation's headers, whose lengths are filled in later
};

Layers parse(const std::uint8_t* data, std::uint32_t size, Lengths lengths = Lengths::kChecked);

}  // namespace verbs::mlx5::steering
