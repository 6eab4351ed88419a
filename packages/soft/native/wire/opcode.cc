#include "wire/opcode.h"

#include <array>

#include "wire/headers.h"

namespace verbs::soft::wire {
namespace {

struct OperationRow {
  Operation operation;
  std::uint32_t flags;
};

constexpr std::uint32_t kWhole = kIsStart | kIsEnd;
constexpr std::uint32_t kSend = kIsRequest | kIsSend | kHasPayload;
constexpr std::uint32_t kWrite = kIsRequest | kIsWrite | kHasPayload;
constexpr std::uint32_t kReadReply = kIsResponse | kIsRead | kHasPayload;
constexpr std::uint32_t kAtomicRequest = kIsRequest | kIsAtomic | kWhole | kHasAtomicEth;

// The operations of all transports. FLUSH and ATOMIC WRITE have neither kIsWrite nor kIsAtomic: their rules differ, and
// a responder checks for their operation.
constexpr OperationRow kOperations[] = {
    {kSendFirst, kSend | kIsStart},
    {kSendMiddle, kSend | kIsMiddle},
    {kSendLast, kSend | kIsEnd},
    {kSendLastImm, kSend | kIsEnd | kHasImmDt},
    {kSendOnly, kSend | kWhole},
    {kSendOnlyImm, kSend | kWhole | kHasImmDt},
    {kWriteFirst, kWrite | kIsStart | kHasReth},
    {kWriteMiddle, kWrite | kIsMiddle},
    {kWriteLast, kWrite | kIsEnd},
    {kWriteLastImm, kWrite | kIsEnd | kHasImmDt},
    {kWriteOnly, kWrite | kWhole | kHasReth},
    {kWriteOnlyImm, kWrite | kWhole | kHasReth | kHasImmDt},
    {kReadRequest, kIsRequest | kIsRead | kWhole | kHasReth},
    {kReadResponseFirst, kReadReply | kIsStart | kHasAeth},
    {kReadResponseMiddle, kReadReply | kIsMiddle},
    {kReadResponseLast, kReadReply | kIsEnd | kHasAeth},
    {kReadResponseOnly, kReadReply | kWhole | kHasAeth},
    {kAcknowledge, kIsResponse | kIsAck | kWhole | kHasAeth},
    {kAtomicAcknowledge, kIsResponse | kIsAck | kIsAtomic | kWhole | kHasAeth | kHasAtomicAckEth},
    {kCompareSwap, kAtomicRequest},
    {kFetchAdd, kAtomicRequest},
    {kSendLastInvalidate, kSend | kIsEnd | kHasIeth},
    {kSendOnlyInvalidate, kSend | kWhole | kHasIeth},
    {kFlush, kIsRequest | kWhole | kHasFeth | kHasReth},
    {kAtomicWrite, kIsRequest | kWhole | kHasReth | kHasPayload},
};

constexpr const char* kRcNames[32] = {
    "RC SEND First",
    "RC SEND Middle",
    "RC SEND Last",
    "RC SEND Last with Immediate",
    "RC SEND Only",
    "RC SEND Only with Immediate",
    "RC RDMA WRITE First",
    "RC RDMA WRITE Middle",
    "RC RDMA WRITE Last",
    "RC RDMA WRITE Last with Immediate",
    "RC RDMA WRITE Only",
    "RC RDMA WRITE Only with Immediate",
    "RC RDMA READ Request",
    "RC RDMA READ response First",
    "RC RDMA READ response Middle",
    "RC RDMA READ response Last",
    "RC RDMA READ response Only",
    "RC Acknowledge",
    "RC ATOMIC Acknowledge",
    "RC CmpSwap",
    "RC FetchAdd",
    nullptr,
    "RC SEND Last with Invalidate",
    "RC SEND Only with Invalidate",
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    "RC FLUSH",
    "RC ATOMIC WRITE",
};

constexpr const char* kUcNames[32] = {
    "UC SEND First",       "UC SEND Middle",
    "UC SEND Last",        "UC SEND Last with Immediate",
    "UC SEND Only",        "UC SEND Only with Immediate",
    "UC RDMA WRITE First", "UC RDMA WRITE Middle",
    "UC RDMA WRITE Last",  "UC RDMA WRITE Last with Immediate",
    "UC RDMA WRITE Only",  "UC RDMA WRITE Only with Immediate",
};

constexpr const char* kUdNames[32] = {
    nullptr, nullptr, nullptr, nullptr, "UD SEND Only", "UD SEND Only with Immediate",
};

constexpr const char* kXrcNames[32] = {
    "XRC SEND First",
    "XRC SEND Middle",
    "XRC SEND Last",
    "XRC SEND Last with Immediate",
    "XRC SEND Only",
    "XRC SEND Only with Immediate",
    "XRC RDMA WRITE First",
    "XRC RDMA WRITE Middle",
    "XRC RDMA WRITE Last",
    "XRC RDMA WRITE Last with Immediate",
    "XRC RDMA WRITE Only",
    "XRC RDMA WRITE Only with Immediate",
    "XRC RDMA READ Request",
    "XRC RDMA READ response First",
    "XRC RDMA READ response Middle",
    "XRC RDMA READ response Last",
    "XRC RDMA READ response Only",
    "XRC Acknowledge",
    "XRC ATOMIC Acknowledge",
    "XRC CmpSwap",
    "XRC FetchAdd",
    nullptr,
    "XRC SEND Last with Invalidate",
    "XRC SEND Only with Invalidate",
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    "XRC FLUSH",
    "XRC ATOMIC WRITE",
};

// The extended headers in the order in which they follow the BTH.
constexpr OpcodeInfo lay_out(const char* name, std::uint32_t flags) {
  OpcodeInfo info;
  info.name = name;
  info.flags = flags;
  std::size_t at = Bth::kSize;
  auto place = [&](std::uint32_t flag, std::size_t size) -> std::uint8_t {
    if ((flags & flag) == 0) return 0;
    const auto offset = static_cast<std::uint8_t>(at);
    at += size;
    return offset;
  };
  info.xrceth = place(kHasXrceth, Xrceth::kSize);
  info.deth = place(kHasDeth, Deth::kSize);
  info.feth = place(kHasFeth, Feth::kSize);
  info.reth = place(kHasReth, Reth::kSize);
  info.atomic_eth = place(kHasAtomicEth, AtomicEth::kSize);
  info.aeth = place(kHasAeth, Aeth::kSize);
  info.atomic_ack_eth = place(kHasAtomicAckEth, kAtomicAckEthSize);
  info.imm_dt = place(kHasImmDt, kImmDtSize);
  info.ieth = place(kHasIeth, kIethSize);
  info.header_size = static_cast<std::uint8_t>(at);
  return info;
}

using Table = std::array<OpcodeInfo, 256>;

constexpr void fill(Table& table, Transport transport, const char* const (&names)[32], std::uint32_t request_flags) {
  for (const OperationRow& row : kOperations) {
    if (names[row.operation] == nullptr) continue;
    const std::uint32_t extra = (row.flags & kIsRequest) != 0 ? request_flags : 0;
    table[make_opcode(transport, row.operation)] = lay_out(names[row.operation], row.flags | extra);
  }
}

constexpr Table make_table() {
  Table table{};
  fill(table, Transport::kRc, kRcNames, 0);
  fill(table, Transport::kUc, kUcNames, 0);
  fill(table, Transport::kUd, kUdNames, kHasDeth);
  fill(table, Transport::kXrc, kXrcNames, kHasXrceth);
  return table;
}

}  // namespace

constinit const std::array<OpcodeInfo, 256> kOpcodes = make_table();

}  // namespace verbs::soft::wire
