#include "test/support/steering/modify_model.h"

namespace verbs::mlx5::steering::test {

namespace {

// The parser does not see headers after a third tag.
bool shows_ip(const FrameModel& f, int version) { return f.is_ip && f.ip.version == version && f.tags.size() <= 2; }
bool shows(const FrameModel& f, L4 l4) { return f.is_ip && f.l4 == l4 && f.tags.size() <= 2; }

std::uint32_t word_of(const Address& address, std::size_t word) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | address[4 * word + i];
  return value;
}

void set_word(Address& address, std::size_t word, std::uint32_t value) {
  for (std::size_t i = 0; i < 4; ++i) address[4 * word + i] = static_cast<std::uint8_t>(value >> (24 - 8 * i));
}

}  // namespace

Bytes ModifyEntry::bytes() const {
  const std::uint32_t first = static_cast<std::uint32_t>(type) << 28 | std::uint32_t{field} << 16 | offset << 8u |
                              static_cast<std::uint32_t>(length % 32);
  const std::uint32_t second = type == kCopy ? std::uint32_t{to_field} << 16 | to_offset << 8u : value;
  return big_endian(first, 4) + big_endian(second, 4);
}

const std::vector<std::uint16_t>& modify_fields() {
  static const std::vector<std::uint16_t> fields = {
      1,    2,    4,    5,    6,    7,    8,    9,    0xa,  0xb,  0xc,  0xd,  0xe,  0xf,  0x10, 0x11, 0x12, 0x13,
      0x14, 0x15, 0x16, 0x17, 0x47, 0x49, 0x50, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59, 0x5b, 0x73};
  return fields;
}

int width_of(std::uint16_t field) {
  switch (field) {
    case 2:
    case 5:
    case 8:
    case 9:
    case 0xb:
    case 0xc:
      return 16;
    case 6:
      return 6;
    case 7:
      return 9;
    case 0xa:
    case 0x47:
      return 8;
    case 0x17:
      return 12;
    case 0x73:
      return 2;
    default:
      return 32;
  }
}

std::optional<std::uint32_t> get(const FrameModel& f, const RegisterModel& registers, std::uint16_t field) {
  const auto only = [](bool has, std::uint64_t value) {
    return has ? std::optional(static_cast<std::uint32_t>(value)) : std::nullopt;
  };
  const bool has_ip = shows_ip(f, 4) || shows_ip(f, 6);
  if (field >= 0x0d && field <= 0x10) return only(shows_ip(f, 6), word_of(f.ip.source, field - 0x0du));
  if (field >= 0x11 && field <= 0x14) return only(shows_ip(f, 6), word_of(f.ip.destination, field - 0x11u));
  if (field >= 0x51 && field <= 0x58) return registers[field - 0x51u];
  switch (field) {
    case 1:
      return static_cast<std::uint32_t>(f.smac >> 16);
    case 2:
      return static_cast<std::uint32_t>(f.smac & 0xffff);
    case 4:
      return static_cast<std::uint32_t>(f.dmac >> 16);
    case 5:
      return static_cast<std::uint32_t>(f.dmac & 0xffff);
    case 6:
      return only(has_ip, f.ip.dscp);
    case 7:
      return only(shows(f, L4::kTcp), f.tcp_flags);
    case 8:
      return only(shows(f, L4::kTcp), f.source_port);
    case 9:
      return only(shows(f, L4::kTcp), f.destination_port);
    case 0xa:
      return only(shows_ip(f, 4), f.ip.ttl);
    case 0xb:
      return only(shows(f, L4::kUdp), f.source_port);
    case 0xc:
      return only(shows(f, L4::kUdp), f.destination_port);
    case 0x15:
      return only(shows_ip(f, 4), word_of(f.ip.source, 3));
    case 0x16:
      return only(shows_ip(f, 4), word_of(f.ip.destination, 3));
    case 0x17:
      return f.tags.empty() ? std::nullopt : std::optional<std::uint32_t>(f.tags[0].tci & 0xfff);
    case 0x47:
      return only(shows_ip(f, 6), f.ip.ttl);
    case 0x49:
      return registers[8];
    case 0x50:
      return registers[9];
    case 0x59:
      return only(shows(f, L4::kTcp), f.sequence);
    case 0x5b:
      return only(shows(f, L4::kTcp), f.acknowledgement);
    case 0x73:
      return only(has_ip, f.ip.ecn);
    default:
      return std::nullopt;
  }
}

namespace {

void set(FrameModel& f, RegisterModel& registers, std::uint16_t field, std::uint32_t value) {
  const auto low = static_cast<std::uint16_t>(value);
  if (field >= 0x0d && field <= 0x10) return set_word(f.ip.source, field - 0x0du, value);
  if (field >= 0x11 && field <= 0x14) return set_word(f.ip.destination, field - 0x11u, value);
  if (field >= 0x51 && field <= 0x58) {
    registers[field - 0x51u] = value;
    return;
  }
  switch (field) {
    case 1:
      f.smac = (f.smac & 0xffff) | std::uint64_t{value} << 16;
      break;
    case 2:
      f.smac = (f.smac & ~0xffffull) | low;
      break;
    case 4:
      f.dmac = (f.dmac & 0xffff) | std::uint64_t{value} << 16;
      break;
    case 5:
      f.dmac = (f.dmac & ~0xffffull) | low;
      break;
    case 6:
      f.ip.dscp = static_cast<std::uint8_t>(value);
      break;
    case 7:
      f.tcp_flags = low;
      break;
    case 8:
    case 0xb:
      f.source_port = low;
      break;
    case 9:
    case 0xc:
      f.destination_port = low;
      break;
    case 0xa:
    case 0x47:
      f.ip.ttl = static_cast<std::uint8_t>(value);
      break;
    case 0x15:
      set_word(f.ip.source, 3, value);
      break;
    case 0x16:
      set_word(f.ip.destination, 3, value);
      break;
    case 0x17:
      f.tags[0].tci = static_cast<std::uint16_t>((f.tags[0].tci & 0xf000) | low);
      break;
    case 0x49:
      registers[8] = value;
      break;
    case 0x50:
      registers[9] = value;
      break;
    case 0x59:
      f.sequence = value;
      break;
    case 0x5b:
      f.acknowledgement = value;
      break;
    case 0x73:
      f.ip.ecn = static_cast<std::uint8_t>(value);
      break;
    default:
      break;
  }
}

}  // namespace

void apply(FrameModel& frame, RegisterModel& registers, const ModifyEntry& entry) {
  const std::uint16_t target = entry.type == ModifyEntry::kCopy ? entry.to_field : entry.field;
  const auto before = get(frame, registers, target);
  const auto source = get(frame, registers, entry.field);
  if (!before || !source) return;
  const std::uint64_t whole = (1ull << width_of(target)) - 1;
  if (entry.type == ModifyEntry::kAdd) {
    set(frame, registers, target, static_cast<std::uint32_t>((*before + std::uint64_t{entry.value}) & whole));
    return;
  }
  const int to = entry.type == ModifyEntry::kCopy ? entry.to_offset : entry.offset;
  const std::uint64_t value = entry.type == ModifyEntry::kCopy ? *source >> entry.offset : entry.value;
  const std::uint64_t ones = ((1ull << entry.length) - 1) << to;
  set(frame, registers, target, static_cast<std::uint32_t>(((*before & ~ones) | (value << to & ones)) & whole));
}

}  // namespace verbs::mlx5::steering::test
