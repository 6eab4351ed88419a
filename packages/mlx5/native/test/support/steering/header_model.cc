#include "test/support/steering/header_model.h"

namespace verbs::mlx5::steering::test {

Bytes big_endian(std::uint64_t value, int bytes) {
  Bytes result;
  for (int i = bytes - 1; i >= 0; --i) result.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
  return result;
}

std::uint16_t internet_checksum(const Bytes& bytes) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    sum += i % 2 == 0 ? bytes[i] * 256u : bytes[i];
    if (sum > 0xffff) sum -= 0xffff;
  }
  return static_cast<std::uint16_t>(0xffff - sum);
}

Address ipv4_address(std::uint32_t address) {
  Address result{};
  for (std::size_t i = 0; i < 4; ++i) result[12 + i] = static_cast<std::uint8_t>(address >> (24 - 8 * i));
  return result;
}

namespace {

void put(Bytes& bytes, std::size_t at, std::uint16_t value) {
  bytes[at] = static_cast<std::uint8_t>(value >> 8);
  bytes[at + 1] = static_cast<std::uint8_t>(value);
}

Bytes part(const Address& address, int version) { return {address.begin() + (version == 4 ? 12 : 0), address.end()}; }

}  // namespace

Bytes IpHeader::bytes(const Bytes& payload) const {
  const Bytes addresses = part(source, version) + part(destination, version);
  if (version == 4) {
    Bytes header = big_endian(0x40 | (5 + options.size() / 4), 1);
    header = header + big_endian(dscp * 4u + ecn, 1) + big_endian(20 + options.size() + payload.size(), 2);
    header = header + big_endian(identification, 2) + big_endian(fragment, 2) + Bytes{ttl, protocol, 0, 0};
    header = header + addresses + options;
    put(header, 10, internet_checksum(header));
    return header + payload;
  }
  const std::uint32_t first = 6u << 28 | (dscp * 4u + ecn) << 20 | flow_label;
  Bytes chain;
  for (std::size_t i = 0; i < extensions.size(); ++i) {
    const std::uint8_t next = i + 1 < extensions.size() ? extensions[i + 1] : protocol;
    chain = chain + Bytes{next, 0, 1, 4, 0, 0, 0, 0};  // padded with PadN
  }
  return big_endian(first, 4) + big_endian(chain.size() + payload.size(), 2) +
         Bytes{extensions.empty() ? protocol : extensions[0], ttl} + addresses + chain + payload;
}

Bytes FrameModel::segment_bytes() const {
  const Bytes ports = big_endian(source_port, 2) + big_endian(destination_port, 2);
  const auto pseudo = [&](std::size_t size) {
    return part(ip.source, ip.version) + part(ip.destination, ip.version) + big_endian(ip.protocol, 4) +
           big_endian(size, 4);
  };
  if (l4 == L4::kTcp) {
    Bytes segment = ports + big_endian(sequence, 4) + big_endian(acknowledgement, 4) +
                    big_endian(0x5000u | tcp_flags, 2) + big_endian(0xffff, 2) + Bytes(4) + payload;
    put(segment, 16, internet_checksum(pseudo(segment.size()) + segment));
    return segment;
  }
  if (l4 == L4::kUdp) {
    Bytes segment = ports + big_endian(8 + payload.size(), 2) + Bytes(2) + payload;
    if (!has_udp_checksum) return segment;
    const std::uint16_t checksum = internet_checksum(pseudo(segment.size()) + segment);
    put(segment, 6, checksum == 0 ? 0xffff : checksum);
    return segment;
  }
  if (l4 == L4::kIcmp) {
    Bytes segment = Bytes{ip.version == 4 ? std::uint8_t{8} : std::uint8_t{128}, 0, 0, 0} + ports + payload;
    put(segment, 2, internet_checksum(ip.version == 4 ? segment : pseudo(segment.size()) + segment));
    return segment;
  }
  if (l4 == L4::kEsp) return big_endian(sequence, 4) + big_endian(acknowledgement, 4) + payload;
  return payload;
}

Bytes FrameModel::mac_bytes() const {
  Bytes bytes = big_endian(dmac, 6) + big_endian(smac, 6);
  for (const Tag& tag : tags) bytes = bytes + big_endian(tag.tpid, 2) + big_endian(tag.tci, 2);
  return bytes + big_endian(last_ethertype(), 2);
}

Bytes FrameModel::packet_bytes() const { return is_ip ? ip.bytes(segment_bytes()) : payload; }

}  // namespace verbs::mlx5::steering::test
