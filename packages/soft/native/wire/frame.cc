#include "wire/frame.h"

#include <cstring>

#include "wire/bytes.h"
#include "wire/headers.h"

namespace verbs::soft::wire {
namespace {

constexpr std::uint8_t kUdpProtocol = 17;
constexpr std::uint16_t kDontFragment = 0x4000;
constexpr std::uint16_t kFragmentMask = 0x3fff;  // more-fragments flag and offset
constexpr std::size_t kMinTransport = Bth::kSize + kIcrcSize;

// The checksum of a header whose words of 32 bits add up to `sum`.
std::uint16_t checksum_of(std::uint64_t sum) {
  sum = (sum & 0xffffffff) + (sum >> 32);
  sum = (sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32);
  sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~((sum & 0xffff) + (sum >> 16)));
}

std::uint16_t header_checksum(const std::uint8_t* header) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kIpv4Size; i += 4) sum += load_be<std::uint32_t>(header + i);
  return checksum_of(sum);
}

void write_ipv6(std::uint8_t* at, const Path& path, std::size_t udp_size) {
  store_be(at, 6u << 28 | static_cast<std::uint32_t>(path.traffic_class) << 20 | (path.flow_label & 0xfffff));
  store_be(at + 4, static_cast<std::uint16_t>(udp_size));
  at[6] = kUdpProtocol;
  at[7] = path.hop_limit;
  std::memcpy(at + 8, path.sgid.bytes.data(), 16);
  std::memcpy(at + 24, path.dgid.bytes.data(), 16);
}

// Fills path and ip. Returns the offset behind the IP header, or 0 for a frame that is not valid.
std::size_t parse_ipv4(std::span<const std::uint8_t> frame, std::uint8_t protocol, FrameView* view) {
  const std::uint8_t* ip = frame.data();
  if (ip[0] != 0x45 || load_be<std::uint16_t>(ip + 2) != frame.size()) return 0;
  if ((load_be<std::uint16_t>(ip + 6) & kFragmentMask) != 0 || ip[9] != protocol) return 0;
  view->ipv4 = true;
  view->path.traffic_class = ip[1];
  view->path.hop_limit = ip[8];
  view->path.sgid = Gid::from_ipv4(ip + 12);
  view->path.dgid = Gid::from_ipv4(ip + 16);
  return kIpv4Size;
}

std::size_t parse_ipv6(std::span<const std::uint8_t> frame, FrameView* view) {
  const std::uint8_t* ip = frame.data();
  if (load_be<std::uint16_t>(ip + 4) != frame.size() - kIpv6Size || ip[6] != kUdpProtocol) return 0;
  const auto first = load_be<std::uint32_t>(ip);
  view->path.traffic_class = static_cast<std::uint8_t>(first >> 20);
  view->path.flow_label = first & 0xfffff;
  view->path.hop_limit = ip[7];
  view->path.sgid = Gid::from_bytes(ip + 8);
  view->path.dgid = Gid::from_bytes(ip + 24);
  return kIpv6Size;
}

}  // namespace

void write_ipv4(std::uint8_t* at, const Path& path, std::uint8_t protocol, std::size_t size) {
  const std::uint32_t first =
      0x45u << 24 | static_cast<std::uint32_t>(path.traffic_class) << 16 | static_cast<std::uint16_t>(kIpv4Size + size);
  const std::uint32_t second = kDontFragment;  // identification 0
  const std::uint32_t third = static_cast<std::uint32_t>(path.hop_limit) << 24 | static_cast<std::uint32_t>(protocol)
                                                                                     << 16;
  const auto source = load_be<std::uint32_t>(path.sgid.ipv4());
  const auto destination = load_be<std::uint32_t>(path.dgid.ipv4());
  store_be(at, first);
  store_be(at + 4, second);
  store_be(at + 8, third | checksum_of(std::uint64_t{first} + second + third + source + destination));
  store_be(at + 12, source);
  store_be(at + 16, destination);
}

void write_ipv4_checksum(std::uint8_t* at) {
  store_be<std::uint16_t>(at + 10, 0);
  store_be(at + 10, header_checksum(at));
}

std::size_t network_size(const Path& path) { return (path.dgid.is_ipv4() ? kIpv4Size : kIpv6Size) + kUdpSize; }

std::size_t write_network(std::uint8_t* frame, const Path& path, std::size_t transport_size) {
  const std::size_t udp_size = kUdpSize + transport_size;
  const bool ipv4 = path.dgid.is_ipv4();
  std::uint8_t* udp = frame + (ipv4 ? kIpv4Size : kIpv6Size);
  if (ipv4) {
    write_ipv4(frame, path, kUdpProtocol, udp_size);
  } else {
    write_ipv6(frame, path, udp_size);
  }
  store_be(udp, path.source_port);
  store_be(udp + 2, path.destination_port);
  store_be(udp + 4, static_cast<std::uint16_t>(udp_size));
  store_be<std::uint16_t>(udp + 6, 0);
  return static_cast<std::size_t>(udp - frame) + kUdpSize;
}

std::optional<FrameView> parse_frame(std::span<const std::uint8_t> frame) {
  const std::size_t network = network_size_of(frame);
  if (network == 0 || frame.size() < network + kMinTransport) return std::nullopt;
  FrameView view;
  const std::size_t at =
      network == kIpv4Size + kUdpSize ? parse_ipv4(frame, kUdpProtocol, &view) : parse_ipv6(frame, &view);
  if (at == 0) return std::nullopt;
  const std::uint8_t* udp = frame.data() + at;
  if (load_be<std::uint16_t>(udp + 4) != frame.size() - at) return std::nullopt;
  view.path.source_port = load_be<std::uint16_t>(udp);
  view.path.destination_port = load_be<std::uint16_t>(udp + 2);
  view.ip = frame.first(at);
  view.transport = frame.subspan(network);
  return view;
}

std::optional<FrameView> parse_ipv4_packet(std::span<const std::uint8_t> frame, std::uint8_t protocol) {
  FrameView view;
  if (frame.size() < kIpv4Size || parse_ipv4(frame, protocol, &view) == 0) return std::nullopt;
  view.ip = frame.first(kIpv4Size);
  view.transport = frame.subspan(kIpv4Size);
  return view;
}

std::size_t network_size_of(std::span<const std::uint8_t> frame) {
  if (frame.empty()) return 0;
  const std::size_t size = frame[0] == 0x45 ? kIpv4Size + kUdpSize : frame[0] >> 4 == 6 ? kIpv6Size + kUdpSize : 0;
  return frame.size() >= size ? size : 0;
}

Gid source_of(std::span<const std::uint8_t> frame) {
  return frame[0] >> 4 == 4 ? Gid::from_ipv4(&frame[12]) : Gid::from_bytes(&frame[8]);
}

Gid destination_of(std::span<const std::uint8_t> frame) {
  return frame[0] >> 4 == 4 ? Gid::from_ipv4(&frame[16]) : Gid::from_bytes(&frame[24]);
}

}  // namespace verbs::soft::wire
