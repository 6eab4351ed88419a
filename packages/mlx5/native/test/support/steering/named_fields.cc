#include "test/support/steering/named_fields.h"

#include <algorithm>
#include <stdexcept>

namespace verbs::mlx5::steering::test {

namespace {

bool has_tcp(const FrameModel& f) { return f.is_ip && f.l4 == L4::kTcp; }
bool has_udp(const FrameModel& f) { return f.is_ip && f.l4 == L4::kUdp; }
std::uint16_t tci(const FrameModel& f, std::size_t i) { return i < f.tags.size() ? f.tags[i].tci : 0; }
bool has_tpid(const FrameModel& f, std::size_t i, std::uint16_t tpid) {
  return i < f.tags.size() && f.tags[i].tpid == tpid;
}

constexpr std::uint32_t kMisc = 512, kMisc3 = 2048;

NamedField number(std::string_view name, std::uint32_t bit, std::uint32_t width,
                  std::uint64_t (*value)(const FrameModel&)) {
  return {name, bit, width,
          [width, value](const FrameModel& f) { return big_endian(value(f), static_cast<int>((width + 7) / 8)); }};
}

NamedField address(std::string_view name, std::uint32_t bit, Address IpHeader::* which) {
  return {name, bit, 128, [which](const FrameModel& f) {
            return f.is_ip ? Bytes((f.ip.*which).begin(), (f.ip.*which).end()) : Bytes(16);
          }};
}

std::vector<NamedField> make_fields() {
  using F = const FrameModel&;
  return {
      number("smac", 0, 48, [](F f) -> std::uint64_t { return f.smac; }),
      number("ethertype", 48, 16, [](F f) -> std::uint64_t { return f.last_ethertype(); }),
      number("dmac", 64, 48, [](F f) -> std::uint64_t { return f.dmac; }),
      number("first_prio", 112, 3, [](F f) -> std::uint64_t { return tci(f, 0) >> 13; }),
      number("first_cfi", 115, 1, [](F f) -> std::uint64_t { return tci(f, 0) >> 12 & 1; }),
      number("first_vid", 116, 12, [](F f) -> std::uint64_t { return tci(f, 0) & 0xfff; }),
      number("ip_protocol", 128, 8, [](F f) -> std::uint64_t { return f.is_ip ? f.ip.protocol : 0; }),
      number("ip_dscp", 136, 6, [](F f) -> std::uint64_t { return f.is_ip ? f.ip.dscp : 0; }),
      number("ip_ecn", 142, 2, [](F f) -> std::uint64_t { return f.is_ip ? f.ip.ecn : 0; }),
      number("cvlan_tag", 144, 1, [](F f) -> std::uint64_t { return has_tpid(f, 0, 0x8100); }),
      number("svlan_tag", 145, 1, [](F f) -> std::uint64_t { return has_tpid(f, 0, 0x88a8); }),
      number("frag", 146, 1,
             [](F f) -> std::uint64_t { return f.is_ip && f.ip.version == 4 && (f.ip.fragment & 0x3fff) != 0; }),
      number("ip_version", 147, 4, [](F f) -> std::uint64_t { return f.is_ip ? f.ip.version : 0; }),
      number("tcp_flags", 151, 9, [](F f) -> std::uint64_t { return has_tcp(f) ? f.tcp_flags : 0; }),
      number("tcp_sport", 160, 16, [](F f) -> std::uint64_t { return has_tcp(f) ? f.source_port : 0; }),
      number("tcp_dport", 176, 16, [](F f) -> std::uint64_t { return has_tcp(f) ? f.destination_port : 0; }),
      number("ipv4_ihl", 208, 4,
             [](F f) -> std::uint64_t { return f.is_ip && f.ip.version == 4 ? 5 + f.ip.options.size() / 4 : 0; }),
      number("l3_ok", 212, 1, [](F f) -> std::uint64_t { return f.is_ip; }),
      number("l4_ok", 213, 1, [](F f) -> std::uint64_t { return f.is_ip && f.l4 != L4::kRaw; }),
      number("ipv4_checksum_ok", 214, 1, [](F f) -> std::uint64_t { return f.is_ip && f.ip.version == 4; }),
      number("l4_checksum_ok", 215, 1,
             [](F f) -> std::uint64_t { return f.is_ip && f.l4 != L4::kRaw && f.l4 != L4::kEsp; }),
      number("ttl_hoplimit", 216, 8, [](F f) -> std::uint64_t { return f.is_ip ? f.ip.ttl : 0; }),
      number("udp_sport", 224, 16, [](F f) -> std::uint64_t { return has_udp(f) ? f.source_port : 0; }),
      number("udp_dport", 240, 16, [](F f) -> std::uint64_t { return has_udp(f) ? f.destination_port : 0; }),
      address("source_ip", 256, &IpHeader::source),
      address("destination_ip", 384, &IpHeader::destination),
      number("outer_second_prio", kMisc + 64, 3, [](F f) -> std::uint64_t { return tci(f, 1) >> 13; }),
      number("outer_second_vid", kMisc + 68, 12, [](F f) -> std::uint64_t { return tci(f, 1) & 0xfff; }),
      number("outer_second_cvlan_tag", kMisc + 96, 1, [](F f) -> std::uint64_t { return has_tpid(f, 1, 0x8100); }),
      number("outer_second_svlan_tag", kMisc + 98, 1, [](F f) -> std::uint64_t { return has_tpid(f, 1, 0x88a8); }),
      number("outer_ipv6_flow_label", kMisc + 236, 20,
             [](F f) -> std::uint64_t { return f.is_ip && f.ip.version == 6 ? f.ip.flow_label : 0; }),
      number("outer_esp_spi", kMisc + 384, 32,
             [](F f) -> std::uint64_t { return f.is_ip && f.l4 == L4::kEsp ? f.sequence : 0; }),
      number("outer_tcp_seq_num", kMisc3 + 32, 32, [](F f) -> std::uint64_t { return has_tcp(f) ? f.sequence : 0; }),
      number("outer_tcp_ack_num", kMisc3 + 96, 32,
             [](F f) -> std::uint64_t { return has_tcp(f) ? f.acknowledgement : 0; }),
      number("vxlan_vni", kMisc + 160, 24, [](F) -> std::uint64_t { return 0; }),
      number("gre_key", kMisc + 128, 32, [](F) -> std::uint64_t { return 0; }),
  };
}

}  // namespace

const std::vector<NamedField>& named_fields() {
  static const std::vector<NamedField> fields = make_fields();
  return fields;
}

const NamedField& named_field(std::string_view name) {
  for (const NamedField& field : named_fields()) {
    if (field.name == name) return field;
  }
  throw std::invalid_argument("no such field");
}

void MatchWriter::put(std::uint32_t bit, std::uint32_t width, const Bytes& value) {
  for (std::uint32_t i = 0; i < width; ++i) {
    const std::uint32_t from = static_cast<std::uint32_t>(value.size()) * 8 - width + i;
    if ((value[from / 8] >> (7 - from % 8) & 1) == 0) continue;
    const std::uint32_t to = bit + i;
    bytes_[to / 8] = static_cast<std::uint8_t>(bytes_[to / 8] | 1 << (7 - to % 8));
  }
}

void MatchWriter::put(std::string_view name, std::uint64_t value) {
  const NamedField& field = named_field(name);
  put(field.bit, field.width, big_endian(value, static_cast<int>((field.width + 7) / 8)));
}

}  // namespace verbs::mlx5::steering::test
