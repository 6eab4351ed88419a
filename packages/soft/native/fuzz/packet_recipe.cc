#include "fuzz/packet_recipe.h"

#include <algorithm>
#include <cstring>

#include "fuzz/check.h"
#include "link/link.h"
#include "nic/base/guarded_memory.h"
#include "nic/objects/multicast.h"
#include "wire/frame.h"
#include "wire/headers.h"
#include "wire/icrc.h"
#include "wire/opcode.h"

namespace verbs::soft::fuzz {
namespace {

constexpr std::uint32_t kMtu = 256;

wire::Transport transport_of(ibv_qp_type type) {
  if (type == IBV_QPT_UD) return wire::Transport::kUd;
  if (type == IBV_QPT_XRC_SEND || type == IBV_QPT_XRC_RECV) return wire::Transport::kXrc;
  return type == IBV_QPT_UC ? wire::Transport::kUc : wire::Transport::kRc;
}

// Near `expected`: mostly the next one, sometimes a repeated or a later one, or anywhere.
std::uint32_t near_psn(Input& input, std::uint32_t expected) {
  const std::uint8_t choice = input.byte();
  if (choice < 128) return expected;
  if (choice < 248) return (expected + choice - 188) & 0xffffff;
  return input.take<std::uint32_t>() & 0xffffff;
}

std::uint32_t near_size(Input& input) {
  static constexpr std::uint32_t sizes[] = {0, 1, 8, kMtu - 1, kMtu, kMtu + 1, 2 * kMtu, kRegionSize};
  const std::uint8_t choice = input.byte();
  if (choice < 64) return sizes[choice % std::size(sizes)];
  if (choice < 128) return kMtu;
  return choice < 250 ? choice - 128u : input.take<std::uint32_t>();
}

std::uint64_t near_address(Input& input) {
  const std::uint8_t choice = input.byte();
  const std::uint64_t base = World::address(choice % kRegions);
  if (choice < 96) return base;
  if (choice < 128) return base + kRegionSize - near_size(input);
  if (choice < 250) return base + static_cast<std::uint64_t>(std::int64_t{input.take<std::int16_t>()});
  return input.take<std::uint64_t>();
}

void write_extended_headers(World& world, Input& input, const wire::OpcodeInfo& info, std::uint8_t* transport) {
  if (info.has(wire::kHasDeth)) {
    const std::uint8_t choice = input.byte();
    wire::Deth{choice < 240 ? 0x1234u : choice, input.take<std::uint16_t>()}.emit(transport + info.deth);
  }
  if (info.has(wire::kHasReth)) {
    const std::uint64_t address = near_address(input);
    const std::uint32_t key = world.key(input, true);
    wire::Reth{address, key, near_size(input)}.emit(transport + info.reth);
  }
  if (info.has(wire::kHasAeth)) {
    static constexpr std::uint8_t syndromes[] = {wire::kAckUnlimitedCredits, wire::kAck,
                                                 wire::kRnrNak | 1,          wire::kNakPsnSequence,
                                                 wire::kNakInvalidRequest,   wire::kNakRemoteAccess,
                                                 wire::kNakRemoteOperational};
    const std::uint8_t choice = input.byte();
    const std::uint8_t syndrome = choice < 224 ? syndromes[choice % std::size(syndromes)] : input.byte();
    wire::Aeth{syndrome, input.byte()}.emit(transport + info.aeth);
  }
  if (info.has(wire::kHasAtomicEth)) {
    const std::uint64_t address = near_address(input);
    const std::uint32_t key = world.key(input, true);
    wire::AtomicEth{address, key, input.take<std::uint64_t>(), input.byte()}.emit(transport + info.atomic_eth);
  }
  const auto write_word = [&](std::size_t offset, std::uint32_t value) {
    for (int i = 0; i < 4; ++i)
      transport[offset + static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(value >> (24 - 8 * i));
  };
  if (info.has(wire::kHasImmDt)) write_word(info.imm_dt, input.byte());
  if (info.has(wire::kHasIeth)) write_word(info.ieth, world.key(input, true));
  if (info.has(wire::kHasFeth)) write_word(info.feth, input.byte());
  if (info.has(wire::kHasXrceth)) {
    const std::uint8_t choice = input.byte();
    write_word(info.xrceth, choice < 224 ? world.srq(choice % kSharedQueues)->number : choice);
  }
}

// Where a frame that refers to its payload says that it is.
class ClaimedMemory final : public link::SenderMemory {
 public:
  explicit ClaimedMemory(bool readable) : readable_(readable) {}
  bool read(std::span<const iovec> to, std::span<const link::Reference> /*from*/) override {
    static const std::vector<std::uint8_t> bytes(link::kMostReferred, 0x7e);
    for (const iovec& piece : to) {
      FUZZ_CHECK(piece.iov_len <= bytes.size());
      if (!nic::guarded_copy(piece.iov_base, bytes.data(), piece.iov_len, false)) return false;
    }
    return readable_;
  }

 private:
  bool readable_;
};

// Seals (mostly) and delivers.
void send(World& world, Input& input, std::span<std::uint8_t> frame) {
  const std::uint8_t choice = input.byte();
  std::size_t size = frame.size();
  if (choice < 32) {
    // Bytes that are anything, behind the network headers or in them.
    for (int i = choice % 4; i >= 0; --i) {
      const std::size_t at = input.take<std::uint16_t>() % size;
      frame[at] = input.byte();
    }
  }
  if (wire::parse_frame(frame) && choice != 255) wire::seal_icrc(frame);
  if (choice == 254) size = std::min<std::size_t>(size, input.byte());
  // A copy of this size alone, so that a sanitizer sees a read beyond it.
  const std::vector<std::uint8_t> exact(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(size));
  world.deliver(exact);
}

wire::Path path_to_victim(Input& input, bool ipv6) {
  wire::Path path;
  // From a third party or from the NIC itself now and then; the control pair is spared by its numbers.
  const std::uint8_t choice = input.byte();
  const std::uint8_t host = choice < 240 ? 2 : choice & 3;
  path.sgid = ipv6 ? ipv6_gid(host) : ipv4_gid(host);
  path.dgid = ipv6 ? ipv6_gid(1) : ipv4_gid(1);
  if (choice >= 224 && choice < 240) path.dgid = ipv4_group();
  path.hop_limit = choice;
  return path;
}

}  // namespace

void deliver_made(World& world, Input& input) {
  Slot& slot = world.slot(input.byte());
  if (slot.qp == nullptr) return;
  ibv_qp_attr attr = {};
  ibv_qp_init_attr init = {};
  world.nic().qps().query(slot.qp, &attr, &init);

  wire::Bth bth;
  const std::uint8_t kind = input.byte();
  bth.opcode =
      kind < 240 ? wire::make_opcode(transport_of(slot.type), static_cast<wire::Operation>(kind & 0x1f)) : input.byte();
  const wire::OpcodeInfo* info = wire::opcode_info(bth.opcode);
  const bool response = info != nullptr && info->has(wire::kIsResponse);
  const std::uint8_t flags = input.byte();
  bth.solicited = (flags & 1) != 0;
  bth.ack_req = (flags & 2) != 0;
  bth.dest_qpn = flags < 240 ? slot.qp->number : input.take<std::uint32_t>() & 0xffffff;
  if (flags >= 240 && flags < 248) bth.dest_qpn = nic::kMulticastQpn;
  if (world.is_control(bth.dest_qpn)) return;
  bth.psn = near_psn(input, response ? attr.sq_psn - 1 : attr.rq_psn);

  std::uint8_t frame[wire::kMaxFrame] = {};
  const bool refers = (flags & 0x18) == 0x18;
  std::vector<link::Reference> list(refers ? input.below(4) : 0);
  for (link::Reference& piece : list) piece = {input.byte(), near_size(input)};
  const std::size_t bytes = list.size() * sizeof(link::Reference);
  const std::size_t payload = refers ? bytes : std::min<std::size_t>(near_size(input), 4096);
  const std::size_t headers = info != nullptr ? info->header_size : wire::Bth::kSize;
  bth.pad = static_cast<std::uint8_t>(flags & 4 ? input.byte() : -payload);
  const std::size_t size = headers + payload + (bth.pad & 3) + wire::kIcrcSize;
  std::uint8_t* transport = frame + wire::write_network(frame, path_to_victim(input, slot.ipv6), size);
  bth.emit(transport);
  if (info != nullptr) write_extended_headers(world, input, *info, transport);
  std::memset(transport + headers, flags, payload);
  if (refers) {
    if (bytes > 0) std::memcpy(transport + headers, list.data(), bytes);
    ClaimedMemory memory(input.one_in(2));
    return world.deliver_referring({frame, static_cast<std::size_t>(transport - frame) + size}, memory);
  }
  send(world, input, {frame, static_cast<std::size_t>(transport - frame) + size});
}

void deliver_echo(World& world, Input& input) {
  if (world.heard().empty()) return;
  std::vector<std::uint8_t> frame = world.heard()[input.byte() % world.heard().size()];
  const auto view = wire::parse_frame(frame);
  if (!view) return;
  Slot& slot = world.slot(input.byte());
  if (slot.qp == nullptr) return;
  std::vector<std::uint8_t> transport(view->transport.begin(), view->transport.end());
  wire::Bth bth = wire::Bth::parse(transport.data());
  bth.dest_qpn = slot.qp->number;
  if (input.one_in(4)) bth.psn = (bth.psn + input.byte() - 4) & 0xffffff;
  bth.emit(transport.data());
  wire::Path path = view->path();
  std::swap(path.sgid, path.dgid);
  frame.resize(wire::network_size(path) + transport.size());
  const std::size_t network = wire::write_network(frame.data(), path, transport.size());
  std::copy(transport.begin(), transport.end(), frame.begin() + static_cast<std::ptrdiff_t>(network));
  send(world, input, frame);
}

void deliver_raw(World& world, Input& input) {
  const auto taken = input.bytes(input.byte());
  const std::vector<std::uint8_t> frame(taken.begin(), taken.end());
  const auto view = wire::parse_frame(frame);
  if (view && world.is_control(wire::Bth::parse(view->transport.data()).dest_qpn)) return;
  world.deliver(frame);
}

}  // namespace verbs::soft::fuzz
