#include "host/configuration/address.h"

#include <arpa/inet.h>

namespace verbs::soft::host {

std::optional<wire::Gid> parse_address(std::string_view text) {
  const std::string copy(text);
  std::uint8_t raw[16];
  if (inet_pton(AF_INET, copy.c_str(), raw) == 1) return wire::Gid::from_ipv4(raw);
  if (inet_pton(AF_INET6, copy.c_str(), raw) == 1) return wire::Gid::from_bytes(raw);
  return std::nullopt;
}

std::string format_address(const wire::Gid& gid) {
  char text[INET6_ADDRSTRLEN] = "";
  if (gid.is_ipv4()) {
    inet_ntop(AF_INET, gid.ipv4(), text, sizeof text);
  } else {
    inet_ntop(AF_INET6, gid.bytes.data(), text, sizeof text);
  }
  return text;
}

bool is_unicast(const wire::Gid& gid) {
  static constexpr std::uint8_t kAny[4] = {};
  return !gid.is_zero() && !gid.is_multicast() && gid != wire::Gid::from_ipv4(kAny);
}

wire::Gid loopback_address(int n) {
  const std::uint8_t raw[4] = {127, 0, 0, static_cast<std::uint8_t>(n)};
  return wire::Gid::from_ipv4(raw);
}

}  // namespace verbs::soft::host
