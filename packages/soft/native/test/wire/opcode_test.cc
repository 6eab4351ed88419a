#include "wire/opcode.h"

#include <doctest/doctest.h>

#include <bit>
#include <cstring>
#include <string>

#include "wire/headers.h"

namespace wire = verbs::soft::wire;

namespace {

struct Header {
  std::uint32_t flag;
  std::uint8_t wire::OpcodeInfo::* offset;
  std::size_t size;
};

constexpr Header kHeaders[] = {
    {wire::kHasXrceth, &wire::OpcodeInfo::xrceth, 4}, {wire::kHasDeth, &wire::OpcodeInfo::deth, 8},
    {wire::kHasFeth, &wire::OpcodeInfo::feth, 4},     {wire::kHasReth, &wire::OpcodeInfo::reth, 16},
    {wire::kHasAeth, &wire::OpcodeInfo::aeth, 4},     {wire::kHasAtomicEth, &wire::OpcodeInfo::atomic_eth, 28},
    {wire::kHasImmDt, &wire::OpcodeInfo::imm_dt, 4},  {wire::kHasAtomicAckEth, &wire::OpcodeInfo::atomic_ack_eth, 8},
    {wire::kHasIeth, &wire::OpcodeInfo::ieth, 4},
};

bool names(const wire::OpcodeInfo& info, const char* word) { return std::strstr(info.name, word) != nullptr; }

}  // namespace

TEST_CASE("the table holds exactly the opcodes of RC, UC, UD and XRC") {
  int rows[8] = {};
  for (int opcode = 0; opcode < 256; ++opcode) rows[opcode >> 5] += wire::opcode_info(opcode & 0xff) != nullptr;
  const int expected[8] = {25, 12, 0, 2, 0, 25, 0, 0};
  for (int i = 0; i < 8; ++i) CHECK(rows[i] == expected[i]);
  CHECK(wire::opcode_info(0x81) == nullptr);  // CNP
  CHECK(wire::opcode_info(0x15) == nullptr);
  CHECK(wire::opcode_info(0x36) == nullptr);  // UC has no invalidate
}

TEST_CASE("every row agrees with itself and with its name") {
  for (int value = 0; value < 256; ++value) {
    const auto opcode = static_cast<std::uint8_t>(value);
    const wire::OpcodeInfo* info = wire::opcode_info(opcode);
    if (info == nullptr) continue;
    CAPTURE(value);
    CAPTURE(info->name);

    // Headers lie one after another without gap or overlap, and the size is their sum.
    std::size_t total = wire::Bth::kSize;
    std::uint64_t bytes = 0;
    for (const Header& header : kHeaders) {
      const std::size_t offset = info->*header.offset;
      CHECK((offset != 0) == info->has(header.flag));
      if (offset == 0) continue;
      total += header.size;
      bytes |= ((std::uint64_t{1} << header.size) - 1) << offset;
    }
    CHECK(info->header_size == total);
    CHECK(bytes == (std::uint64_t{1} << total) - (std::uint64_t{1} << wire::Bth::kSize));

    CHECK(info->has(wire::kIsRequest) != info->has(wire::kIsResponse));
    CHECK(info->has(wire::kIsMiddle) != info->has(wire::kIsStart | wire::kIsEnd));
    const std::uint32_t kinds =
        info->flags & (wire::kIsSend | wire::kIsWrite | wire::kIsRead | wire::kIsAtomic | wire::kIsAck);
    const bool by_name_only = names(*info, "FLUSH") || names(*info, "ATOMIC WRITE");
    const int expected_kinds = by_name_only ? 0 : names(*info, "ATOMIC Ack") ? 2 : 1;
    CHECK(std::popcount(kinds) == expected_kinds);

    CHECK(info->has(wire::kIsSend) == names(*info, " SEND "));
    CHECK(info->has(wire::kIsWrite) == names(*info, "RDMA WRITE"));
    CHECK(info->has(wire::kIsRead) == names(*info, "RDMA READ"));
    CHECK(info->has(wire::kIsAck) == names(*info, "Acknowledge"));
    CHECK(info->has(wire::kHasImmDt) == names(*info, "Immediate"));
    CHECK(info->has(wire::kHasIeth) == names(*info, "Invalidate"));
    CHECK(info->has(wire::kHasAtomicEth) == (names(*info, "CmpSwap") || names(*info, "FetchAdd")));
    CHECK(info->has(wire::kHasFeth) == names(*info, "FLUSH"));
    CHECK(info->has(wire::kIsMiddle) == names(*info, "Middle"));
    if (names(*info, "First")) CHECK((info->has(wire::kIsStart) && !info->has(wire::kIsEnd)));
    if (names(*info, "Last")) CHECK((!info->has(wire::kIsStart) && info->has(wire::kIsEnd)));
    if (names(*info, "Only")) CHECK((info->has(wire::kIsStart) && info->has(wire::kIsEnd)));

    const std::string prefix = std::string(info->name).substr(0, std::string(info->name).find(' '));
    const wire::Transport transport = wire::transport_of(opcode);
    CHECK((prefix == "RC") == (transport == wire::Transport::kRc));
    CHECK((prefix == "UC") == (transport == wire::Transport::kUc));
    CHECK((prefix == "UD") == (transport == wire::Transport::kUd));
    CHECK((prefix == "XRC") == (transport == wire::Transport::kXrc));
    CHECK(info->has(wire::kHasDeth) == (prefix == "UD"));
    CHECK(info->has(wire::kHasXrceth) == (prefix == "XRC" && info->has(wire::kIsRequest)));
    CHECK(wire::make_opcode(transport, wire::operation_of(opcode)) == opcode);
  }
}

TEST_CASE("rows that other parts lean on") {
  const wire::OpcodeInfo* info = wire::opcode_info(0x0b);
  REQUIRE(info != nullptr);
  CHECK(std::string(info->name) == "RC RDMA WRITE Only with Immediate");
  CHECK(info->reth == 12);
  CHECK(info->imm_dt == 28);
  CHECK(info->header_size == 32);

  info = wire::opcode_info(0x65);
  REQUIRE(info != nullptr);
  CHECK(info->deth == 12);
  CHECK(info->imm_dt == 20);

  info = wire::opcode_info(0x12);
  REQUIRE(info != nullptr);
  CHECK(info->aeth == 12);
  CHECK(info->atomic_ack_eth == 16);

  info = wire::opcode_info(0x0e);
  REQUIRE(info != nullptr);
  CHECK_FALSE(info->has(wire::kHasAeth));

  info = wire::opcode_info(0x1c);
  REQUIRE(info != nullptr);
  CHECK(info->feth == 12);
  CHECK(info->reth == 16);

  info = wire::opcode_info(0xab);
  REQUIRE(info != nullptr);
  CHECK(info->xrceth == 12);
  CHECK(info->reth == 16);
  CHECK(info->imm_dt == 32);
}
