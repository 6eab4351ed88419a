// Management datagrams of the communication management class: 256 bytes, of which the first 24 are the header that all
// classes have (IBTA volume 1, 13.4 and 12.6).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/bytes.h"

namespace verbs::soft::cm {

inline constexpr std::size_t kMadSize = 256;
inline constexpr std::size_t kMadHeader = 24;
// Of the attribute modifier, in which REQ and REP have the options of extended connection establishment.
inline constexpr std::size_t kMadModifier = 20;

using Mad = std::array<std::uint8_t, kMadSize>;
using MadView = std::span<const std::uint8_t, kMadSize>;

enum class Attribute : std::uint16_t {
  kReq = 0x10,
  kMra = 0x11,
  kRej = 0x12,
  kRep = 0x13,
  kRtu = 0x14,
  kDreq = 0x15,
  kDrep = 0x16,
  kSidrReq = 0x17,
  kSidrRep = 0x18,
  kLap = 0x19,
  kApr = 0x1a,
};

struct MadHeader {
  static constexpr std::uint8_t kBaseVersion = 1;
  static constexpr std::uint8_t kClass = 0x07;
  static constexpr std::uint8_t kClassVersion = 2;
  static constexpr std::uint8_t kSend = 0x03;

  std::uint64_t transaction = 0;
  Attribute attribute = Attribute::kReq;

  // False unless it is a message of this class and version.
  static bool parse(MadView mad, MadHeader* header) {
    if (mad[0] != kBaseVersion || mad[1] != kClass || mad[2] != kClassVersion || mad[3] != kSend) return false;
    header->transaction = wire::load_be<std::uint64_t>(&mad[8]);
    header->attribute = static_cast<Attribute>(wire::load_be<std::uint16_t>(&mad[16]));
    return true;
  }

  void emit(Mad* mad) const {
    (*mad)[0] = kBaseVersion;
    (*mad)[1] = kClass;
    (*mad)[2] = kClassVersion;
    (*mad)[3] = kSend;
    wire::store_be(&(*mad)[8], transaction);
    wire::store_be(&(*mad)[16], static_cast<std::uint16_t>(attribute));
  }
};

}  // namespace verbs::soft::cm
