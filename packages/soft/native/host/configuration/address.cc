#include "host/configuration/address.h"

#include <arpa/inet.h>

#include "host/configuration/value.h"

namespace verbs::soft::host {

std::optional<wire::Gid> parse_address(std::string_view text) {
  const std::string copy(text);
  std::uint8_t raw[16];
  if (inet_pton(AF_INET, copy.c_str(), raw) == 1) return wire::Gid::from_ipv4(raw);
  if (inet_pton(AF_INET6, copy.c_str(), raw) == 1) return wire::Gid::from_bytes(raw);
  return std::nullopt;
}

std::optional<link::Network> parse_network(std::string_view text) {
  if (text == "*") return link::Network{.address = {}, .length = 0};
  const std::size_t slash = std::min(text.find('/'), text.size());
  const auto address = parse_address(text.substr(0, slash));
  if (!address) return std::nullopt;
  link::Network network{.address = *address};
  if (slash == text.size()) return network;
  constexpr unsigned kMapped = 96, kIpv6 = 128;
  const unsigned before = text.find(':') == std::string_view::npos ? kMapped : 0;
  const auto length = parse_number<unsigned>(std::string(text.substr(slash + 1)));
  if (!length || *length > kIpv6 - before) return std::nullopt;
  network.length = static_cast<std::uint8_t>(before + *length);
  for (unsigned bit = network.length; bit < kIpv6; ++bit) {
    if ((address->bytes[bit / 8] >> (7 - bit % 8) & 1) != 0) return std::nullopt;
  }
  return network;
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
