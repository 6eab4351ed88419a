// IP addresses as text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "link/udp/foreign_peers.h"
#include "wire/gid.h"

namespace verbs::soft::host {

// Accepts "127.0.0.1", "::1", "fe80::1". nullopt for anything else, also for an address with a zone index.
std::optional<wire::Gid> parse_address(std::string_view text);
std::string format_address(const wire::Gid& gid);
// Accepts an address, "10.0.0.0/24", "fd00::/64" (bits behind the length must be 0) and "*" for all addresses.
std::optional<link::Network> parse_network(std::string_view text);

// Whether an interface can have the address: it is not zero, 0.0.0.0 or multicast.
bool is_unicast(const wire::Gid& gid);

// 127.0.0.N
wire::Gid loopback_address(int n);

}  // namespace verbs::soft::host
