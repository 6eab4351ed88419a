#include "link/udp/foreign_peers.h"

#include <algorithm>
#include <cstring>

namespace verbs::soft::link {

bool Network::contains(const wire::Gid& gid) const {
  const std::size_t whole = length / 8;
  if (std::memcmp(gid.bytes.data(), address.bytes.data(), whole) != 0) return false;
  const unsigned rest = length % 8;
  return rest == 0 || (gid.bytes[whole] ^ address.bytes[whole]) >> (8 - rest) == 0;
}

bool ForeignPeers::contains(const wire::Gid& gid) const {
  return std::any_of(networks_.begin(), networks_.end(), [&](const Network& network) { return network.contains(gid); });
}

}  // namespace verbs::soft::link
