#include "steering/actions/modify_header.h"

#include <algorithm>
#include <iterator>

#include "steering/headers/bytes.h"
#include "steering/headers/checksum.h"

namespace verbs::mlx5::steering {
namespace {

constexpr std::size_t kEntrySize = 8;

// Whether a write changes the result of the parser.
bool decides_headers(const ModifyField& field) {
  return field.place == ModifyField::Place::kEthertype || field.place == ModifyField::Place::kUdp;
}

}  // namespace

std::shared_ptr<const ModifyHeader> ModifyHeader::create(std::span<const std::uint8_t> entries, ModifyProblem* problem,
                                                         std::size_t* entry) {
  *problem = ModifyProblem::kSize;
  if (entry != nullptr) *entry = 0;
  if (entries.empty() || entries.size() % kEntrySize != 0) return nullptr;
  auto list = std::make_shared<ModifyHeader>();
  for (std::size_t at = 0; at < entries.size(); at += kEntrySize) {
    if (entry != nullptr) *entry = at / kEntrySize;
    *problem = list->append(load32(entries.data() + at), load32(entries.data() + at + 4));
    if (*problem != ModifyProblem::kNone) return nullptr;
  }
  return list;
}

ModifyProblem ModifyHeader::append(std::uint32_t first, std::uint32_t second) {
  Operation operation{};
  operation.type = static_cast<Type>(first >> 28);
  operation.offset = first >> 8 & 0x1f;
  operation.length = (first & 0x1f) == 0 ? 32 : first & 0x1f;
  operation.field = find_modify_field(first >> 16 & 0xfff);
  operation.value = second;
  switch (operation.type) {
    case Type::kSet:
      break;
    case Type::kAdd:  // to the whole field; offset and length are ignored
      operation.offset = 0;
      operation.length = operation.field != nullptr ? operation.field->width : 0;
      break;
    case Type::kCopy:  // the first word names the source
      operation.source = operation.field;
      operation.source_offset = operation.offset;
      operation.field = find_modify_field(second >> 16 & 0xfff);
      operation.offset = second >> 8 & 0x1f;
      if (operation.source == nullptr) return ModifyProblem::kField;
      if (operation.source_offset + operation.length > operation.source->width) return ModifyProblem::kBits;
      break;
    default:
      return ModifyProblem::kType;
  }
  if (operation.field == nullptr) return ModifyProblem::kField;
  if (operation.offset + operation.length > operation.field->width) return ModifyProblem::kBits;
  operations_.push_back(operation);
  moves_headers_ = moves_headers_ || decides_headers(*operation.field);
  return ModifyProblem::kNone;
}

void ModifyHeader::apply(Packet& packet) const {
  for (const Operation& operation : operations_) {
    std::uint32_t value = operation.value;
    if (operation.type != Type::kSet) {
      const ModifyField& source = operation.type == Type::kAdd ? *operation.field : *operation.source;
      const auto current = read_field(packet, source);
      if (!current) continue;
      value = operation.type == Type::kAdd ? *current + operation.value : *current >> operation.source_offset;
    }
    const std::uint32_t mask = ones(operation.length) << operation.offset;
    write_field(packet, *operation.field, value << operation.offset, mask);
  }
  if (moves_headers_) packet.change();
}

namespace {

using Place = ModifyField::Place;

// Sorted by number. Two rows with the same number are one field in IPv4 and in IPv6.
constexpr ModifyField kFields[] = {
    // number, place, inner, IP version, offset, bytes, shift, width
    {0x01, Place::kMac, false, 0, 6, 4, 0, 32},   // smac_47_16
    {0x02, Place::kMac, false, 0, 10, 2, 0, 16},  // smac_15_0
    {0x03, Place::kEthertype, false, 0, 0, 2, 0, 16},
    {0x04, Place::kMac, false, 0, 0, 4, 0, 32},  // dmac_47_16
    {0x05, Place::kMac, false, 0, 4, 2, 0, 16},  // dmac_15_0
    {0x06, Place::kIp, false, 4, 0, 2, 2, 6},    // ip_dscp
    {0x06, Place::kIp, false, 6, 0, 2, 6, 6},
    {0x07, Place::kTcp, false, 0, 12, 2, 0, 9},  // tcp_flags
    {0x08, Place::kTcp, false, 0, 0, 2, 0, 16},  // tcp_sport
    {0x09, Place::kTcp, false, 0, 2, 2, 0, 16},  // tcp_dport
    {0x0a, Place::kIp, false, 4, 8, 2, 8, 8},    // ip_ttl
    {0x0b, Place::kUdp, false, 0, 0, 2, 0, 16},  // udp_sport
    {0x0c, Place::kUdp, false, 0, 2, 2, 0, 16},  // udp_dport
    {0x0d, Place::kIp, false, 6, 8, 4, 0, 32},   // sipv6_127_96 and on
    {0x0e, Place::kIp, false, 6, 12, 4, 0, 32},
    {0x0f, Place::kIp, false, 6, 16, 4, 0, 32},
    {0x10, Place::kIp, false, 6, 20, 4, 0, 32},
    {0x11, Place::kIp, false, 6, 24, 4, 0, 32},  // dipv6_127_96 and on
    {0x12, Place::kIp, false, 6, 28, 4, 0, 32},
    {0x13, Place::kIp, false, 6, 32, 4, 0, 32},
    {0x14, Place::kIp, false, 6, 36, 4, 0, 32},
    {0x15, Place::kIp, false, 4, 12, 4, 0, 32},   // sipv4
    {0x16, Place::kIp, false, 4, 16, 4, 0, 32},   // dipv4
    {0x17, Place::kVlan, false, 0, 2, 2, 0, 12},  // first_vid
    {0x31, Place::kMac, true, 0, 6, 4, 0, 32},    // the same of the inner headers
    {0x32, Place::kMac, true, 0, 10, 2, 0, 16},
    {0x33, Place::kEthertype, true, 0, 0, 2, 0, 16},
    {0x34, Place::kMac, true, 0, 0, 4, 0, 32},
    {0x35, Place::kMac, true, 0, 4, 2, 0, 16},
    {0x36, Place::kIp, true, 4, 0, 2, 2, 6},
    {0x36, Place::kIp, true, 6, 0, 2, 6, 6},
    {0x37, Place::kTcp, true, 0, 12, 2, 0, 9},
    {0x38, Place::kTcp, true, 0, 0, 2, 0, 16},
    {0x39, Place::kTcp, true, 0, 2, 2, 0, 16},
    {0x3a, Place::kIp, true, 4, 8, 2, 8, 8},
    {0x3b, Place::kUdp, true, 0, 0, 2, 0, 16},
    {0x3c, Place::kUdp, true, 0, 2, 2, 0, 16},
    {0x3d, Place::kIp, true, 6, 8, 4, 0, 32},
    {0x3e, Place::kIp, true, 6, 12, 4, 0, 32},
    {0x3f, Place::kIp, true, 6, 16, 4, 0, 32},
    {0x40, Place::kIp, true, 6, 20, 4, 0, 32},
    {0x41, Place::kIp, true, 6, 24, 4, 0, 32},
    {0x42, Place::kIp, true, 6, 28, 4, 0, 32},
    {0x43, Place::kIp, true, 6, 32, 4, 0, 32},
    {0x44, Place::kIp, true, 6, 36, 4, 0, 32},
    {0x45, Place::kIp, true, 4, 12, 4, 0, 32},
    {0x46, Place::kIp, true, 4, 16, 4, 0, 32},
    {0x47, Place::kIp, false, 6, 6, 2, 0, 8},  // ipv6_hoplimit
    {0x48, Place::kIp, true, 6, 6, 2, 0, 8},
    {0x49, Place::kRegister, false, 0, 8, 4, 0, 32},  // reg_a
    {0x50, Place::kRegister, false, 0, 9, 4, 0, 32},  // reg_b
    {0x51, Place::kRegister, false, 0, 0, 4, 0, 32},  // reg_c_0 and on
    {0x52, Place::kRegister, false, 0, 1, 4, 0, 32},
    {0x53, Place::kRegister, false, 0, 2, 4, 0, 32},
    {0x54, Place::kRegister, false, 0, 3, 4, 0, 32},
    {0x55, Place::kRegister, false, 0, 4, 4, 0, 32},
    {0x56, Place::kRegister, false, 0, 5, 4, 0, 32},
    {0x57, Place::kRegister, false, 0, 6, 4, 0, 32},
    {0x58, Place::kRegister, false, 0, 7, 4, 0, 32},
    {0x59, Place::kTcp, false, 0, 4, 4, 0, 32},  // tcp_seq_num, tcp_ack_num
    {0x5a, Place::kTcp, true, 0, 4, 4, 0, 32},
    {0x5b, Place::kTcp, false, 0, 8, 4, 0, 32},
    {0x5c, Place::kTcp, true, 0, 8, 4, 0, 32},
    {0x6e, Place::kGtpu, false, 0, 4, 4, 0, 32},  // gtpu_teid
    {0x73, Place::kIp, false, 4, 0, 2, 0, 2},     // ip_ecn
    {0x73, Place::kIp, false, 6, 0, 2, 4, 2},
};
static_assert(std::is_sorted(std::begin(kFields), std::end(kFields),
                             [](const ModifyField& a, const ModifyField& b) { return a.number < b.number; }));

// The offset of the field's bytes in the frame; kAbsent without the header.
std::uint16_t locate(const Layers& layers, const ModifyField& field) {
  const HeaderSet& set = field.inner ? layers.inner : layers.outer;
  std::uint16_t start = kAbsent;
  switch (field.place) {
    case Place::kMac:
      start = set.mac;
      break;
    case Place::kEthertype:
      start = set.ethertype_at;
      break;
    case Place::kVlan:
      start = set.vlan[0];
      break;
    case Place::kIp:
      if (set.ip_version == field.ip_version) start = set.l3;
      break;
    case Place::kTcp:
      if (set.transport == Transport::kTcp) start = set.l4;
      break;
    case Place::kUdp:
      if (set.transport == Transport::kUdp) start = set.l4;
      break;
    case Place::kGtpu:
      if (layers.tunnel == Tunnel::kGtpU) start = layers.tunnel_header;
      break;
    case Place::kRegister:
      break;
  }
  return start == kAbsent ? kAbsent : static_cast<std::uint16_t>(start + field.offset);
}

// Chooses the field's row for this packet's IP version, with its offset.
std::uint16_t locate_either(const Layers& layers, const ModifyField*& field) {
  const std::uint16_t at = locate(layers, *field);
  const ModifyField* other = field + 1;
  if (at != kAbsent || other == std::end(kFields) || other->number != field->number) return at;
  field = other;
  return locate(layers, *field);
}

template <typename Registers>
auto& register_of(Registers& registers, std::uint8_t number) {
  return number == 8 ? registers.a : number == 9 ? registers.b : registers.c[number];
}

}  // namespace

const ModifyField* find_modify_field(std::uint16_t number) {
  const auto* found = std::lower_bound(std::begin(kFields), std::end(kFields), number,
                                       [](const ModifyField& field, std::uint16_t n) { return field.number < n; });
  return found != std::end(kFields) && found->number == number ? found : nullptr;
}

std::optional<std::uint32_t> read_field(const Packet& packet, const ModifyField& wanted) {
  const ModifyField* field = &wanted;
  if (field->place == Place::kRegister) return register_of(packet.registers(), field->offset);
  const std::uint16_t at = locate_either(packet.layers(), field);
  if (at == kAbsent) return std::nullopt;
  const std::uint8_t* bytes = packet.frame().data + at;
  return (field->bytes == 4 ? load32(bytes) : load16(bytes)) >> field->shift & ones(field->width);
}

void write_field(Packet& packet, const ModifyField& wanted, std::uint32_t value, std::uint32_t mask) {
  const ModifyField* field = &wanted;
  if (field->place == Place::kRegister) {
    std::uint32_t& target = register_of(packet.change_registers(), field->offset);
    target = (target & ~mask) | (value & mask);
    return;
  }
  const std::uint16_t at = locate_either(packet.layers(), field);
  if (at == kAbsent) return;
  std::uint8_t* data = packet.change_fields();
  mask = (mask & ones(field->width)) << field->shift;
  value <<= field->shift;
  if (field->bytes == 4) {
    const std::uint32_t word = (load32(data + at) & ~mask) | (value & mask);
    change_word(data, packet.layers(), at, static_cast<std::uint16_t>(word >> 16));
    change_word(data, packet.layers(), at + 2u, static_cast<std::uint16_t>(word));
  } else {
    const std::uint32_t word = (load16(data + at) & ~mask) | (value & mask);
    change_word(data, packet.layers(), at, static_cast<std::uint16_t>(word));
  }
}

}  // namespace verbs::mlx5::steering
