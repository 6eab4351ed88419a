#include "fuzz/adversary/adversary.h"

#include <algorithm>

#include "wire/frame.h"
#include "wire/headers.h"
#include "wire/icrc.h"
#include "wire/opcode.h"

namespace verbs::soft::fuzz {
namespace {

constexpr std::size_t kSeen = 16;

// The frame without what routers may change, and the ICRC does not cover.
Bytes covered(Bytes frame) {
  const std::size_t network = wire::network_size_of(frame);
  if (network == 0 || frame.size() < network + wire::Bth::kSize) return frame;
  if (frame[0] >> 4 == 4) {
    frame[1] = frame[8] = frame[10] = frame[11] = 0xff;  // type of service, time to live, header checksum
  } else {
    frame[0] = 0x6f;                                   // traffic class and flow label
    frame[1] = frame[2] = frame[3] = frame[7] = 0xff;  // and the hop limit
  }
  frame[network - 2] = frame[network - 1] = 0xff;  // the checksum of UDP
  frame[network + 4] = 0xff;                       // congestion bits of the BTH
  return frame;
}

}  // namespace

void Adversary::keep(const Bytes& frame) {
  seen_.push_back(frame);
  if (seen_.size() > kSeen) seen_.pop_front();
}

bool Adversary::may_arrive(const Bytes& frame, const Bytes& original) const {
  if (forges_ || !wire::parse_frame(frame) || !wire::check_icrc(frame)) return true;
  return covered(frame) == covered(original);
}

void Adversary::rewrite(Bytes& frame) {
  for (std::size_t i = input_.below(4) + 1; i > 0; --i) {
    const std::size_t at = input_.take<std::uint16_t>() % frame.size();
    frame[at] = input_.byte();
  }
}

// A field of the transport headers, so that the packet stays one.
void Adversary::rewrite_header(Bytes& frame) {
  const std::size_t network = wire::network_size_of(frame);
  std::uint8_t* transport = frame.data() + network;
  wire::Bth bth = wire::Bth::parse(transport);
  const wire::OpcodeInfo* info = wire::opcode_info(bth.opcode);
  const std::size_t choice = input_.below(8);
  const auto nearby = static_cast<std::uint32_t>(std::int32_t{input_.take<std::int8_t>()});
  if (choice == 0) bth.opcode = static_cast<std::uint8_t>(nearby);
  if (choice == 1 || choice == 2) bth.psn = (bth.psn + nearby) & 0xffffff;
  if (choice == 3) bth.ack_req = !bth.ack_req;
  if (choice == 4) bth.pad = nearby & 3;
  bth.emit(transport);
  if (info == nullptr) return;
  if (info->has(wire::kHasAeth) && choice >= 4) {
    wire::Aeth aeth = wire::Aeth::parse(transport + info->aeth);
    if (choice < 6) aeth.msn = (aeth.msn + nearby) & 0xffffff;
    if (choice >= 6) aeth.syndrome = static_cast<std::uint8_t>(nearby);
    aeth.emit(transport + info->aeth);
  }
  if (info->has(wire::kHasReth) && choice >= 5) {
    wire::Reth reth = wire::Reth::parse(transport + info->reth);
    if (choice == 5) reth.length += nearby;
    if (choice == 6) reth.address += std::uint64_t{nearby} * kBorder;
    if (choice == 7) reth.rkey += nearby;
    reth.emit(transport + info->reth);
  }
  if (info->has(wire::kHasAtomicEth) && choice >= 5) {
    wire::AtomicEth atomic = wire::AtomicEth::parse(transport + info->atomic_eth);
    if (choice == 5) atomic.swap_or_add += nearby;
    if (choice == 6) atomic.address += nearby;
    if (choice == 7) atomic.rkey += nearby;
    atomic.emit(transport + info->atomic_eth);
  }
}

// Longer or shorter, with lengths in the network headers that agree.
void Adversary::resize(Bytes& frame) {
  const auto view = wire::parse_frame(frame);
  if (!view) return;
  const wire::Path path = view->path();
  const std::size_t network = frame.size() - view->transport.size();
  const std::size_t most = wire::kMaxFrame - network;
  std::size_t transport = view->transport.size() + input_.byte();
  transport = transport > 128 ? transport - 128 : 0;
  transport = std::min(std::max(transport, wire::Bth::kSize + wire::kIcrcSize), most);
  frame.resize(network + transport);
  wire::write_network(frame.data(), path, transport);
}

void Adversary::act(std::deque<Bytes>& underway, std::vector<Bytes>& arriving) {
  const std::size_t choice = input_.below(16);
  if (choice == 15 && !seen_.empty()) {  // of either direction: also reflected
    arriving.push_back(seen_[input_.below(seen_.size())]);
    return;
  }
  if (underway.empty()) return;
  std::size_t which = choice == 8 ? input_.below(underway.size()) : 0;
  Bytes frame = underway[which];
  keep(frame);
  if (choice != 9) underway.erase(underway.begin() + static_cast<std::ptrdiff_t>(which));  // 9: once more, later
  if (choice == 10) return;                                                                // lost
  const Bytes original = frame;
  if (choice == 11) rewrite(frame);
  if (choice == 12) rewrite_header(frame);
  if (choice == 13) resize(frame);
  if (choice == 14) underway.push_back(original);  // twice, the second time behind all others
  if (forges_ && choice >= 11 && choice <= 13 && wire::parse_frame(frame)) wire::seal_icrc(frame);
  if (may_arrive(frame, original)) arriving.push_back(std::move(frame));
}

}  // namespace verbs::soft::fuzz
