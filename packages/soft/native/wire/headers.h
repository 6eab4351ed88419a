// The transport headers of IBTA volume 1, chapter 9: plain values with parse() and emit().
// parse() and emit() access exactly kSize bytes, and the caller has checked that they exist.
#pragma once

#include <cstdint>

#include "wire/bytes.h"

namespace verbs::soft::wire {

struct Bth {
  static constexpr std::size_t kSize = 12;
  std::uint8_t opcode = 0;
  bool solicited = false;
  bool mig_req = false;
  std::uint8_t pad = 0;
  std::uint8_t version = 0;
  std::uint16_t pkey = 0xffff;
  bool fecn = false;
  bool becn = false;
  std::uint32_t dest_qpn = 0;
  bool ack_req = false;
  std::uint32_t psn = 0;

  static Bth parse(const std::uint8_t* at) {
    const auto first = load_be<std::uint32_t>(at);
    const auto second = load_be<std::uint32_t>(at + 4);
    const auto third = load_be<std::uint32_t>(at + 8);
    Bth bth;
    bth.opcode = static_cast<std::uint8_t>(first >> 24);
    bth.solicited = (first & 0x800000) != 0;
    bth.mig_req = (first & 0x400000) != 0;
    bth.pad = first >> 20 & 3;
    bth.version = first >> 16 & 0x0f;
    bth.pkey = static_cast<std::uint16_t>(first);
    bth.fecn = (second & 0x80000000) != 0;
    bth.becn = (second & 0x40000000) != 0;
    bth.dest_qpn = second & 0xffffff;
    bth.ack_req = (third & 0x80000000) != 0;
    bth.psn = third & 0xffffff;
    return bth;
  }

  void emit(std::uint8_t* at) const {
    store_be(at, std::uint32_t{opcode} << 24 | std::uint32_t{solicited} << 23 | std::uint32_t{mig_req} << 22 |
                     (pad & 3u) << 20 | (version & 0x0fu) << 16 | pkey);
    store_be(at + 4, std::uint32_t{fecn} << 31 | std::uint32_t{becn} << 30 | (dest_qpn & 0xffffff));
    store_be(at + 8, std::uint32_t{ack_req} << 31 | (psn & 0xffffff));
  }
};

struct Deth {
  static constexpr std::size_t kSize = 8;
  std::uint32_t qkey = 0;
  std::uint32_t src_qpn = 0;

  static Deth parse(const std::uint8_t* at) { return {load_be<std::uint32_t>(at), load_be24(at + 5)}; }
  void emit(std::uint8_t* at) const {
    store_be(at, qkey);
    at[4] = 0;
    store_be24(at + 5, src_qpn);
  }
};

struct Xrceth {
  static constexpr std::size_t kSize = 4;
  std::uint32_t srqn = 0;

  static Xrceth parse(const std::uint8_t* at) { return {load_be24(at + 1)}; }
  void emit(std::uint8_t* at) const {
    at[0] = 0;
    store_be24(at + 1, srqn);
  }
};

struct Reth {
  static constexpr std::size_t kSize = 16;
  std::uint64_t address = 0;
  std::uint32_t rkey = 0;
  std::uint32_t length = 0;

  static Reth parse(const std::uint8_t* at) {
    return {load_be<std::uint64_t>(at), load_be<std::uint32_t>(at + 8), load_be<std::uint32_t>(at + 12)};
  }
  void emit(std::uint8_t* at) const {
    store_be(at, address);
    store_be(at + 8, rkey);
    store_be(at + 12, length);
  }
};

struct Aeth {
  static constexpr std::size_t kSize = 4;
  std::uint8_t syndrome = 0;
  std::uint32_t msn = 0;

  static Aeth parse(const std::uint8_t* at) { return {at[0], load_be24(at + 1)}; }
  void emit(std::uint8_t* at) const {
    at[0] = syndrome;
    store_be24(at + 1, msn);
  }
};

struct AtomicEth {
  static constexpr std::size_t kSize = 28;
  std::uint64_t address = 0;
  std::uint32_t rkey = 0;
  std::uint64_t swap_or_add = 0;
  std::uint64_t compare = 0;

  static AtomicEth parse(const std::uint8_t* at) {
    return {load_be<std::uint64_t>(at), load_be<std::uint32_t>(at + 8), load_be<std::uint64_t>(at + 12),
            load_be<std::uint64_t>(at + 20)};
  }
  void emit(std::uint8_t* at) const {
    store_be(at, address);
    store_be(at + 8, rkey);
    store_be(at + 12, swap_or_add);
    store_be(at + 20, compare);
  }
};

// The flush extended transport header.
struct Feth {
  static constexpr std::size_t kSize = 4;
  enum Placement : std::uint8_t { kGlobal = 1, kPersistent = 2 };
  enum Selectivity : std::uint8_t { kRange = 0, kRegion = 1 };
  std::uint8_t placement = 0;
  std::uint8_t selectivity = kRange;

  static Feth parse(const std::uint8_t* at) {
    return {static_cast<std::uint8_t>(at[3] & 0x0f), static_cast<std::uint8_t>(at[3] >> 4 & 3)};
  }
  void emit(std::uint8_t* at) const {
    at[0] = at[1] = at[2] = 0;
    at[3] = static_cast<std::uint8_t>((selectivity & 3) << 4 | (placement & 0x0f));
  }
};

// ImmDt, IETH and AtomicAckETH are one field each.
inline constexpr std::size_t kImmDtSize = 4;
inline constexpr std::size_t kIethSize = 4;
inline constexpr std::size_t kAtomicAckEthSize = 8;
inline constexpr std::size_t kIcrcSize = 4;

// AETH syndromes (IBTA 9.7.5.2): the kind is in bits 6-5, the value in bits 4-0.
enum Syndrome : std::uint8_t {
  kAck = 0x00,
  kAckUnlimitedCredits = 0x1f,
  kRnrNak = 0x20,
  kNakPsnSequence = 0x60,
  kNakInvalidRequest = 0x61,
  kNakRemoteAccess = 0x62,
  kNakRemoteOperational = 0x63,
  kSyndromeKind = 0x60,
};

}  // namespace verbs::soft::wire
