#include "cm/message.h"

#include <algorithm>
#include <cstring>

#include "wire/bytes.h"

namespace verbs::soft::cm {
namespace {

// Offsets are those of the specification's tables, which count from the end of the header.
class Reader {
 public:
  explicit Reader(MadView mad) : mad_(mad) {}

  std::uint8_t u8(std::size_t at) const { return mad_[kMadHeader + at]; }
  std::uint16_t u16(std::size_t at) const { return wire::load_be<std::uint16_t>(&mad_[kMadHeader + at]); }
  std::uint32_t u24(std::size_t at) const { return wire::load_be24(&mad_[kMadHeader + at]); }
  std::uint32_t u32(std::size_t at) const { return wire::load_be<std::uint32_t>(&mad_[kMadHeader + at]); }
  std::uint64_t u64(std::size_t at) const { return wire::load_be<std::uint64_t>(&mad_[kMadHeader + at]); }
  std::uint32_t modifier() const { return wire::load_be<std::uint32_t>(&mad_[kMadModifier]); }
  wire::Gid gid(std::size_t at) const { return wire::Gid::from_bytes(&mad_[kMadHeader + at]); }
  Data bytes(std::size_t at, std::size_t size) const { return mad_.subspan(kMadHeader + at, size); }

 private:
  MadView mad_;
};

class Writer {
 public:
  explicit Writer(Mad* mad) : mad_(*mad) {}

  void u8(std::size_t at, unsigned value) { mad_[kMadHeader + at] = static_cast<std::uint8_t>(value); }
  void u16(std::size_t at, std::uint16_t value) { wire::store_be(&mad_[kMadHeader + at], value); }
  void u24(std::size_t at, std::uint32_t value) { wire::store_be24(&mad_[kMadHeader + at], value & 0xffffff); }
  void u32(std::size_t at, std::uint32_t value) { wire::store_be(&mad_[kMadHeader + at], value); }
  void u64(std::size_t at, std::uint64_t value) { wire::store_be(&mad_[kMadHeader + at], value); }
  void modifier(std::uint32_t value) { wire::store_be(&mad_[kMadModifier], value); }
  void gid(std::size_t at, const wire::Gid& gid) { std::ranges::copy(gid.bytes, &mad_[kMadHeader + at]); }
  void bytes(std::size_t at, Data data, std::size_t limit) {
    std::ranges::copy(data.first(std::min(data.size(), limit)), &mad_[kMadHeader + at]);
  }

 private:
  Mad& mad_;
};

// The lowest `width` bits of a value, at bit `shift`.
constexpr unsigned bits(unsigned value, unsigned width, unsigned shift) {
  return (value & ((1u << width) - 1)) << shift;
}

constexpr std::uint8_t bits_of(std::uint8_t byte, unsigned width, unsigned shift) {
  return static_cast<std::uint8_t>(byte >> shift & ((1u << width) - 1));
}

// Transport service type 3 is an extended one.
constexpr std::uint8_t kExtendedXrc = 1;

}  // namespace

Req Req::parse(MadView mad) {
  const Reader in(mad);
  Req req;
  req.local_id = in.u32(0);
  req.service_id = in.u64(8);
  req.guid = in.u64(16);
  req.qkey = in.u32(28);
  req.qpn = in.u24(32);
  req.responder_resources = in.u8(35);
  req.initiator_depth = in.u8(39);
  req.remote_timeout = bits_of(in.u8(43), 5, 3);
  req.transport = bits_of(in.u8(43), 2, 1);
  if (req.transport == VERBS_SOFT_CM_XRC && bits_of(in.u8(51), 3, 0) != kExtendedXrc) req.transport = Req::kReserved;
  req.flow_control = bits_of(in.u8(43), 1, 0) != 0;
  req.psn = in.u24(44);
  req.local_timeout = bits_of(in.u8(47), 5, 3);
  req.retry_count = bits_of(in.u8(47), 3, 0);
  req.pkey = in.u16(48);
  req.path_mtu = bits_of(in.u8(50), 4, 4);
  req.rnr_retry_count = bits_of(in.u8(50), 3, 0);
  req.max_cm_retries = bits_of(in.u8(51), 4, 4);
  req.srq = bits_of(in.u8(51), 1, 3) != 0;
  req.local_gid = in.gid(56);
  req.remote_gid = in.gid(72);
  req.flow_label = in.u32(88) >> 12;
  req.traffic_class = in.u8(92);
  req.hop_limit = in.u8(93);
  req.ack_timeout = bits_of(in.u8(95), 5, 3);
  req.ece = {in.u24(5), in.modifier()};
  req.data = in.bytes(140, kData);
  return req;
}

void Req::emit(Mad* mad) const {
  constexpr std::uint8_t kRate = 3;  // 10 Gb/s, as the kernel's for an unknown rate
  constexpr std::uint16_t kPermissiveLid = 0xffff;
  Writer out(mad);
  out.u32(0, local_id);
  out.u24(5, ece.vendor_id);
  out.modifier(ece.options);
  out.u64(8, service_id);
  out.u64(16, guid);
  out.u32(28, qkey);
  out.u24(32, qpn);
  out.u8(35, responder_resources);
  out.u8(39, initiator_depth);
  out.u8(43, bits(remote_timeout, 5, 3) | bits(transport, 2, 1) | bits(flow_control, 1, 0));
  out.u24(44, psn);
  out.u8(47, bits(local_timeout, 5, 3) | bits(retry_count, 3, 0));
  out.u16(48, pkey);
  out.u8(50, bits(path_mtu, 4, 4) | bits(rnr_retry_count, 3, 0));
  out.u8(51, bits(max_cm_retries, 4, 4) | bits(srq, 1, 3) | (transport == VERBS_SOFT_CM_XRC ? kExtendedXrc : 0));
  out.u16(52, kPermissiveLid);
  out.u16(54, kPermissiveLid);
  out.gid(56, local_gid);
  out.gid(72, remote_gid);
  out.u32(88, flow_label << 12 | kRate);
  out.u8(92, traffic_class);
  out.u8(93, hop_limit);
  out.u8(94, bits(1, 1, 3));  // subnet local, as the kernel sends on RoCE
  out.u8(95, bits(ack_timeout, 5, 3));
  out.bytes(140, data, kData);
}

Rep Rep::parse(MadView mad) {
  const Reader in(mad);
  Rep rep;
  rep.local_id = in.u32(0);
  rep.remote_id = in.u32(4);
  rep.qpn = in.u24(12);
  rep.eecn = in.u24(16);
  rep.psn = in.u24(20);
  rep.responder_resources = in.u8(24);
  rep.initiator_depth = in.u8(25);
  rep.ack_delay = bits_of(in.u8(26), 5, 3);
  rep.flow_control = bits_of(in.u8(26), 1, 0) != 0;
  rep.rnr_retry_count = bits_of(in.u8(27), 3, 5);
  rep.srq = bits_of(in.u8(27), 1, 4) != 0;
  rep.guid = in.u64(28);
  // The vendor is in the gaps that the numbers of 24 bits leave.
  rep.ece.vendor_id = static_cast<std::uint32_t>(in.u8(15) << 16 | in.u8(19) << 8 | in.u8(23));
  rep.ece.options = in.modifier();
  rep.data = in.bytes(36, kData);
  return rep;
}

void Rep::emit(Mad* mad) const {
  Writer out(mad);
  out.u32(0, local_id);
  out.u32(4, remote_id);
  out.u24(12, qpn);
  out.u8(15, ece.vendor_id >> 16);
  out.u24(16, eecn);
  out.u8(19, ece.vendor_id >> 8);
  out.u24(20, psn);
  out.u8(23, ece.vendor_id);
  out.modifier(ece.options);
  out.u8(24, responder_resources);
  out.u8(25, initiator_depth);
  out.u8(26, bits(ack_delay, 5, 3) | bits(flow_control, 1, 0));
  out.u8(27, bits(rnr_retry_count, 3, 5) | bits(srq, 1, 4));
  out.u64(28, guid);
  out.bytes(36, data, kData);
}

void Req::set_path_mtu(Mad* mad, std::uint8_t path_mtu) {
  Writer(mad).u8(50, (Reader(*mad).u8(50) & 0x0fu) | bits(path_mtu, 4, 4));
}

Rej Rej::parse(MadView mad) {
  const Reader in(mad);
  Rej rej;
  rej.local_id = in.u32(0);
  rej.remote_id = in.u32(4);
  rej.about = static_cast<About>(bits_of(in.u8(8), 2, 6));
  rej.reason = in.u16(10);
  rej.info = in.bytes(12, std::min<std::size_t>(bits_of(in.u8(9), 7, 1), kInfo));
  rej.data = in.bytes(84, kData);
  return rej;
}

void Rej::emit(Mad* mad) const {
  Writer out(mad);
  out.u32(0, local_id);
  out.u32(4, remote_id);
  out.u8(8, bits(static_cast<unsigned>(about), 2, 6));
  out.u8(9, bits(static_cast<unsigned>(std::min(info.size(), kInfo)), 7, 1));
  out.u16(10, reason);
  out.bytes(12, info, kInfo);
  out.bytes(84, data, kData);
}

bool Withdrawal::parse(Data info, Withdrawal* withdrawal) {
  if (info.size() < kGuid) return false;
  *withdrawal = {.guid = wire::load_be<std::uint64_t>(info.data())};
  if (info.size() < kSize) return true;
  withdrawal->service_id = wire::load_be<std::uint64_t>(&info[kGuid]);
  withdrawal->address = wire::Gid::from_bytes(&info[2 * kGuid]);
  return true;
}

std::array<std::uint8_t, Withdrawal::kSize> Withdrawal::bytes() const {
  std::array<std::uint8_t, kSize> info{};
  wire::store_be(info.data(), guid);
  wire::store_be(&info[kGuid], service_id);
  std::ranges::copy(address.bytes, &info[2 * kGuid]);
  return info;
}

Mra Mra::parse(MadView mad) {
  const Reader in(mad);
  return {in.u32(0), in.u32(4), static_cast<About>(bits_of(in.u8(8), 2, 6)), bits_of(in.u8(9), 5, 3)};
}

void Mra::emit(Mad* mad) const {
  Writer out(mad);
  out.u32(0, local_id);
  out.u32(4, remote_id);
  out.u8(8, bits(static_cast<unsigned>(about), 2, 6));
  out.u8(9, bits(service_timeout, 5, 3));
}

Notice Notice::parse(MadView mad) {
  const Reader in(mad);
  return {in.u32(0), in.u32(4), in.bytes(8, kData)};
}

void Notice::emit(Mad* mad) const {
  Writer out(mad);
  out.u32(0, local_id);
  out.u32(4, remote_id);
  out.bytes(8, data, kData);
}

Dreq Dreq::parse(MadView mad) {
  const Reader in(mad);
  return {in.u32(0), in.u32(4), in.u24(8), in.bytes(12, kData)};
}

void Dreq::emit(Mad* mad) const {
  Writer out(mad);
  out.u32(0, local_id);
  out.u32(4, remote_id);
  out.u24(8, remote_qpn);
  out.bytes(12, data, kData);
}

Apr Apr::parse(MadView mad) {
  const Reader in(mad);
  return {in.u32(0), in.u32(4), in.u8(9)};
}

void Apr::emit(Mad* mad) const {
  Writer out(mad);
  out.u32(0, local_id);
  out.u32(4, remote_id);
  out.u8(9, status);
}

SidrReq SidrReq::parse(MadView mad) {
  const Reader in(mad);
  return {in.u32(0), in.u16(4), in.u64(8), in.bytes(16, kData)};
}

void SidrReq::emit(Mad* mad) const {
  Writer out(mad);
  out.u32(0, request_id);
  out.u16(4, pkey);
  out.u64(8, service_id);
  out.bytes(16, data, kData);
}

SidrRep SidrRep::parse(MadView mad) {
  const Reader in(mad);
  return {in.u32(0), in.u8(4), in.u24(8), in.u64(12), in.u32(20), in.bytes(96, kData)};
}

void SidrRep::emit(Mad* mad) const {
  Writer out(mad);
  out.u32(0, request_id);
  out.u8(4, status);
  out.u24(8, qpn);
  out.u64(12, service_id);
  out.u32(20, qkey);
  out.bytes(96, data, kData);
}

namespace {

constexpr std::size_t kSource = 4, kDestination = 20;
constexpr std::size_t kIpv4Offset = 12;  // the address is in the last 4 of its 16 bytes

// As a GID.
void read_address(const std::uint8_t* at, bool ipv4, std::uint8_t* address) {
  const wire::Gid gid = ipv4 ? wire::Gid::from_ipv4(at + kIpv4Offset) : wire::Gid::from_bytes(at);
  std::ranges::copy(gid.bytes, address);
}

void write_address(const std::uint8_t* address, bool ipv4, std::uint8_t* at) {
  std::memset(at, 0, 16);
  if (ipv4) {
    std::memcpy(at + kIpv4Offset, address + 12, 4);
  } else {
    std::memcpy(at, address, 16);
  }
}

}  // namespace

bool parse_ip_header(std::span<const std::uint8_t> bytes, verbs_soft_cm_ip* ip) {
  if (bytes.size() < VERBS_SOFT_CM_IP_HEADER || bytes[0] != 0) return false;
  const unsigned version = bytes[1] >> 4;
  if (version != 4 && version != 6) return false;
  ip->source_port = wire::load_be<std::uint16_t>(&bytes[2]);
  read_address(&bytes[kSource], version == 4, ip->source);
  read_address(&bytes[kDestination], version == 4, ip->destination);
  return true;
}

void emit_ip_header(const verbs_soft_cm_ip& ip, std::uint8_t* bytes) {
  const bool ipv4 = wire::Gid::from_bytes(ip.destination).is_ipv4();
  bytes[0] = 0;
  bytes[1] = static_cast<std::uint8_t>((ipv4 ? 4 : 6) << 4);
  wire::store_be(bytes + 2, ip.source_port);
  write_address(ip.source, ipv4, bytes + kSource);
  write_address(ip.destination, ipv4, bytes + kDestination);
}

}  // namespace verbs::soft::cm
