// The BTH opcodes and one table of their properties and headers. Code reads the table and does not switch on opcodes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace verbs::soft::wire {

// Operation (low five bits of the opcode), the same for every transport.
enum Operation : std::uint8_t {
  kSendFirst = 0x00,
  kSendMiddle = 0x01,
  kSendLast = 0x02,
  kSendLastImm = 0x03,
  kSendOnly = 0x04,
  kSendOnlyImm = 0x05,
  kWriteFirst = 0x06,
  kWriteMiddle = 0x07,
  kWriteLast = 0x08,
  kWriteLastImm = 0x09,
  kWriteOnly = 0x0a,
  kWriteOnlyImm = 0x0b,
  kReadRequest = 0x0c,
  kReadResponseFirst = 0x0d,
  kReadResponseMiddle = 0x0e,
  kReadResponseLast = 0x0f,
  kReadResponseOnly = 0x10,
  kAcknowledge = 0x11,
  kAtomicAcknowledge = 0x12,
  kCompareSwap = 0x13,
  kFetchAdd = 0x14,
  kSendLastInvalidate = 0x16,
  kSendOnlyInvalidate = 0x17,
  kFlush = 0x1c,
  kAtomicWrite = 0x1d,
};

// Transport (high three bits of the opcode). kNone: for queue pairs whose frames have no BTH.
enum class Transport : std::uint8_t { kRc = 0x00, kUc = 0x20, kRd = 0x40, kUd = 0x60, kXrc = 0xa0, kNone = 0xff };

enum OpcodeFlag : std::uint32_t {
  kIsRequest = 1u << 0,
  kIsResponse = 1u << 1,
  kIsStart = 1u << 2,  // first or only packet of a message
  kIsMiddle = 1u << 3,
  kIsEnd = 1u << 4,  // last or only packet of a message
  kIsSend = 1u << 5,
  kIsWrite = 1u << 6,
  kIsRead = 1u << 7,
  kIsAtomic = 1u << 8,
  kIsAck = 1u << 9,  // ACKNOWLEDGE or ATOMIC ACKNOWLEDGE
  kHasPayload = 1u << 10,
  kHasReth = 1u << 11,
  kHasAeth = 1u << 12,
  kHasAtomicEth = 1u << 13,
  kHasAtomicAckEth = 1u << 14,
  kHasImmDt = 1u << 15,
  kHasIeth = 1u << 16,
  kHasDeth = 1u << 17,
  kHasFeth = 1u << 18,
  kHasXrceth = 1u << 19,
};

struct OpcodeInfo {
  const char* name = nullptr;  // as in IBTA table 38, for example "RC SEND First"
  std::uint32_t flags = 0;
  std::uint8_t header_size = 0;  // BTH and all extended headers
  // Offsets from the start of the BTH; 0 where the header is absent.
  std::uint8_t deth = 0, reth = 0, aeth = 0, atomic_eth = 0, atomic_ack_eth = 0, imm_dt = 0, ieth = 0, feth = 0,
               xrceth = 0;

  bool has(std::uint32_t wanted) const { return (flags & wanted) != 0; }
};

extern const std::array<OpcodeInfo, 256> kOpcodes;

// The table's row, or nullptr for an opcode that RoCE v2 does not define or that no transport here uses (RD, CNP).
inline const OpcodeInfo* opcode_info(std::uint8_t opcode) {
  const OpcodeInfo& info = kOpcodes[opcode];
  return info.name != nullptr ? &info : nullptr;
}

inline constexpr std::uint8_t make_opcode(Transport transport, Operation operation) {
  return static_cast<std::uint8_t>(static_cast<std::uint8_t>(transport) | operation);
}
inline constexpr Transport transport_of(std::uint8_t opcode) { return static_cast<Transport>(opcode & 0xe0); }
inline constexpr Operation operation_of(std::uint8_t opcode) { return static_cast<Operation>(opcode & 0x1f); }

}  // namespace verbs::soft::wire
