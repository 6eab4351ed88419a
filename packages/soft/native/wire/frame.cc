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

// Of a frame that is long enough for the header.
bool is_ipv4_packet(std::span<const std::uint8_t> frame, std::uint8_t protocol) {
  const std::uint8_t* ip = frame.data();
  return ip[0] == 0x45 && load_be<std::uint16_t>(ip + 2) == frame.size() &&
         (load_be<std::uint16_t>(ip + 6) & kFragmentMask) == 0 && ip[9] == protocol;
}

bool is_ipv6_packet(std::span<const std::uint8_t> frame) {
  const std::uint8_t* ip = frame.data();
  return load_be<std::uint16_t>(ip + 4) == frame.size() - kIpv6Size && ip[6] == kUdpProtocol;
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

NetworkHeaders::NetworkHeaders(const Path& path) : size_(static_cast<std::uint32_t>(network_size(path))) {
  write_network(bytes_.data(), path, 0);
  if (size_ != kIpv4Size + kUdpSize) return;
  store_be<std::uint16_t>(&bytes_[2], 0);
  store_be<std::uint16_t>(&bytes_[10], 0);
  for (std::size_t i = 0; i < kIpv4Size; i += 2) sum_ += load_be<std::uint16_t>(&bytes_[i]);
}

Path FrameView::path() const {
  Path path;
  path.sgid = source();
  path.dgid = destination();
  if (ipv4) {
    path.traffic_class = ip[1];
    path.hop_limit = ip[8];
  } else {
    const auto first = load_be<std::uint32_t>(ip.data());
    path.traffic_class = static_cast<std::uint8_t>(first >> 20);
    path.flow_label = first & 0xfffff;
    path.hop_limit = ip[7];
  }
  if (udp != nullptr) {
    path.source_port = load_be<std::uint16_t>(udp);
    path.destination_port = load_be<std::uint16_t>(udp + 2);
  }
  return path;
}

std::optional<FrameView> parse_frame(std::span<const std::uint8_t> frame) {
  const std::size_t network = network_size_of(frame);
  if (network == 0 || frame.size() < network + kMinTransport) return std::nullopt;
  const bool ipv4 = network == kIpv4Size + kUdpSize;
  if (ipv4 ? !is_ipv4_packet(frame, kUdpProtocol) : !is_ipv6_packet(frame)) return std::nullopt;
  const std::size_t ip = network - kUdpSize;
  const std::uint8_t* udp = frame.data() + ip;
  if (load_be<std::uint16_t>(udp + 4) != frame.size() - ip) return std::nullopt;
  return FrameView{.ipv4 = ipv4, .ip = frame.first(ip), .udp = udp, .transport = frame.subspan(network)};
}

std::optional<FrameView> parse_ipv4_packet(std::span<const std::uint8_t> frame, std::uint8_t protocol) {
  if (frame.size() < kIpv4Size || !is_ipv4_packet(frame, protocol)) return std::nullopt;
  return FrameView{.ipv4 = true, .ip = frame.first(kIpv4Size), .transport = frame.subspan(kIpv4Size)};
}

}  // namespace verbs::soft::wire
