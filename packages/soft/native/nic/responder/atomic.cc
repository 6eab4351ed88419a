#include "nic/responder/atomic.h"

#include <cstring>

#include "nic/responder/nak.h"
#include "nic/responder/remote_memory.h"
#include "nic/responder/replay.h"
#include "nic/shared/guarded_memory.h"

namespace verbs::soft::nic {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);

bool aligned(const std::uint8_t* memory, std::uint64_t address) {
  return ((reinterpret_cast<std::uintptr_t>(memory) | address) & (kWord - 1)) == 0;
}

bool execute(const Packet& packet, const wire::AtomicEth& eth, const RemoteMemory& memory, std::uint64_t* original) {
  if (wire::operation_of(packet.bth.opcode) == wire::kCompareSwap) {
    return guarded_compare_swap(memory.at, eth.compare, eth.swap_or_add, original, memory.lasts);
  }
  return guarded_fetch_add(memory.at, eth.swap_or_add, original, memory.lasts);
}

}  // namespace

void execute_atomic(Core& core, Qp& qp, const Packet& packet) {
  if (!allows(qp, IBV_ACCESS_REMOTE_ATOMIC) || !packet.payload().empty()) return nak_invalid_request(core, qp);
  const wire::AtomicEth eth = wire::AtomicEth::parse(packet.header(packet.info.atomic_eth));
  if (core.config.rules.alignment_before_key && !aligned(nullptr, eth.address)) return nak_invalid_request(core, qp);
  const RemoteMemory memory =
      remote_memory(core, qp, qp.remote_pd, eth.rkey, eth.address, kWord, IBV_ACCESS_REMOTE_ATOMIC);
  if (memory.at == nullptr) return nak_remote_access(core, qp);
  if (!aligned(memory.at, eth.address)) return nak_invalid_request(core, qp);
  if (is_out_of_resources(qp)) return;
  std::uint64_t original = 0;
  if (!execute(packet, eth, memory, &original)) return nak_remote_access(core, qp);
  respond_and_cache(core, qp, packet, original);
}

void execute_atomic_write(Core& core, Qp& qp, const Packet& packet) {
  const std::span<const std::uint8_t> payload = packet.payload();
  const wire::Reth reth = wire::Reth::parse(packet.header(packet.info.reth));
  if (!allows(qp, IBV_ACCESS_REMOTE_WRITE) || payload.size() != kWord || reth.length != kWord || packet.bth.pad != 0) {
    return nak_invalid_request(core, qp);
  }
  if (core.config.rules.alignment_before_key && !aligned(nullptr, reth.address)) return nak_invalid_request(core, qp);
  const RemoteMemory memory =
      remote_memory(core, qp, qp.remote_pd, reth.rkey, reth.address, kWord, IBV_ACCESS_REMOTE_WRITE);
  if (memory.at == nullptr) return nak_remote_access(core, qp);
  if (!aligned(memory.at, reth.address)) return nak_invalid_request(core, qp);
  if (is_out_of_resources(qp)) return;
  std::uint64_t value = 0;
  std::memcpy(&value, payload.data(), kWord);  // bytes in memory order, not a number
  if (!guarded_store(memory.at, value, memory.lasts)) return nak_remote_access(core, qp);
  respond_and_cache(core, qp, packet, 0);
}

}  // namespace verbs::soft::nic
