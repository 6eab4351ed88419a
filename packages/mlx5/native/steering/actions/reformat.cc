#include "steering/actions/reformat.h"

#include <cstring>

#include "steering/headers/bytes.h"
#include "steering/headers/checksum.h"

namespace verbs::mlx5::steering {

namespace {

constexpr std::uint32_t kMaxIpLength = 0xffff;
constexpr std::uint32_t kIpv6Size = 40, kGtpSize = 8;

ReformatProblem check(ReformatType type, std::span<const std::uint8_t> data, const ReformatOptions& options) {
  if (type == ReformatType::kL2TunnelToL2) {
    return data.empty() ? ReformatProblem::kNone : ReformatProblem::kUnexpectedData;
  }
  if (data.empty()) return ReformatProblem::kNoData;
  if (data.size() > options.max_size) return ReformatProblem::kTooLarge;
  if (type == ReformatType::kL3TunnelToL2) {
    return data.size() == 14 || data.size() == 18 ? ReformatProblem::kNone : ReformatProblem::kNotMac;
  }
  return data.size() % 2 == 0 ? ReformatProblem::kNone : ReformatProblem::kOddSize;
}

std::uint32_t vni_of(const std::uint8_t* data, const Layers& layers) {
  const std::uint8_t* header = data + layers.tunnel_header;
  switch (layers.tunnel) {
    case Tunnel::kVxlan:
    case Tunnel::kVxlanGpe:
    case Tunnel::kGeneve:
      return load24(header + 4);
    case Tunnel::kGre:  // the VSID of NVGRE: a key and nothing else, before an Ethernet frame
      return load32(header) == 0x20006558 ? load24(header + 4) : 0;
    default:
      return 0;
  }
}

}  // namespace

std::shared_ptr<const Reformat> Reformat::create(ReformatType type, std::span<const std::uint8_t> data,
                                                 const ReformatOptions& options, ReformatProblem* problem) {
  *problem = check(type, data, options);
  if (*problem != ReformatProblem::kNone) return nullptr;
  return std::shared_ptr<const Reformat>(new Reformat(type, data, options));
}

Reformat::Reformat(ReformatType type, std::span<const std::uint8_t> data, const ReformatOptions& options)
    : type_(type), data_(data.begin(), data.end()), options_(options) {
  if (is_encap(type)) find_fields();
}

void Reformat::find_fields() {
  const Layers layers = parse(data_.data(), static_cast<std::uint32_t>(data_.size()), Lengths::kIgnored);
  if (!layers.outer.has_ip()) return;
  ip_ = layers.outer.l3;
  ip_version_ = layers.outer.ip_version;
  if (layers.outer.transport == Transport::kUdp) udp_ = layers.outer.l4;
  if (layers.tunnel == Tunnel::kGtpU) gtp_ = layers.tunnel_header;
  if (ip_version_ == 4) {
    const std::uint8_t* ip = data_.data() + ip_;
    const std::uint32_t size = (ip[0] & 0xfu) * 4;
    const std::uint64_t sum = checksum_add(checksum_add(0, ip, 2), ip + 4, 6);
    checksum_start_ = checksum_fold(checksum_add(sum, ip + 12, size - 12));
  }
  if (options_.gre_entropy && layers.gre != kAbsent) {
    const std::uint8_t* gre = data_.data() + layers.gre;
    if (load32(gre) == 0x20006558 && gre[7] == 0) nvgre_key_ = static_cast<std::uint16_t>(layers.gre + 4);
  }
}

std::optional<DropReason> Reformat::apply(Packet& packet) const {
  return is_encap(type_) ? encapsulate(packet) : decapsulate(packet);
}

std::optional<DropReason> Reformat::decapsulate(Packet& packet) const {
  const Layers& layers = packet.layers();
  if (layers.tunnel == Tunnel::kNone) return DropReason::kNoTunnel;
  const bool is_l2 = type_ == ReformatType::kL2TunnelToL2;
  const std::uint16_t inner = is_l2 ? layers.inner.mac : layers.inner.l3;
  if (inner == kAbsent) return is_l2 ? DropReason::kNoInnerMac : DropReason::kNoInnerIp;
  packet.tunnel_vni = vni_of(packet.frame().data, layers);
  packet.decapsulated = true;
  Frame& frame = packet.change();
  frame.strip(inner);
  if (data_.empty()) return std::nullopt;
  // The removed headers are longer than any MAC header.
  frame.extend(static_cast<std::uint32_t>(data_.size()));
  std::memcpy(frame.data, data_.data(), data_.size());
  return std::nullopt;
}

std::optional<DropReason> Reformat::encapsulate(Packet& packet) const {
  std::uint16_t crc = 0;
  std::uint32_t stripped = 0;
  const bool needs_entropy = udp_ != kAbsent || nvgre_key_ != kAbsent;
  if (needs_entropy) crc = entropy_crc(packet.frame().data, packet.layers());
  if (type_ == ReformatType::kL2ToL3Tunnel) {
    if (!packet.layers().outer.has_ip()) return DropReason::kNotIp;
    stripped = packet.layers().outer.l3;
  }
  const auto added = static_cast<std::uint32_t>(data_.size());
  const std::uint32_t size = packet.frame().size - stripped + added;
  if (ip_ != kAbsent && size - ip_ - (ip_version_ == 6 ? kIpv6Size : 0) > kMaxIpLength) return DropReason::kTooLong;
  if (added > packet.frame().headroom + stripped) return DropReason::kNoHeadroom;

  Frame& frame = packet.change();
  frame.strip(stripped);
  frame.extend(added);
  std::memcpy(frame.data, data_.data(), added);
  if (ip_ == kAbsent) return std::nullopt;
  std::uint8_t* ip = frame.data + ip_;
  if (ip_version_ == 4) {
    store16(ip + 2, size - ip_);
    store16(ip + 10, static_cast<std::uint16_t>(~checksum_fold(checksum_start_ + (size - ip_))));
  } else {
    store16(ip + 4, size - ip_ - kIpv6Size);
  }
  if (udp_ != kAbsent) {
    store16(frame.data + udp_, entropy_udp_port(crc, options_.udp_ports));
    store16(frame.data + udp_ + 4, size - udp_);
  }
  if (gtp_ != kAbsent) store16(frame.data + gtp_ + 2, size - gtp_ - kGtpSize);
  if (nvgre_key_ != kAbsent) frame.data[nvgre_key_ + 3] = entropy_flow_id(crc);
  return std::nullopt;
}

}  // namespace verbs::mlx5::steering
