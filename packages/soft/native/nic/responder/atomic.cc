#include "nic/responder/atomic.h"

#include <cstring>

#include "nic/responder/remote_memory.h"
#include "nic/responder/replay.h"
#include "nic/responder/response.h"
#include "nic/shared/guarded_memory.h"

namespace verbs::soft::nic {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);

bool aligned(const std::uint8_t* memory, std::uint64_t address) {
  return ((reinterpret_cast<std::uintptr_t>(memory) | address) & (kWord - 1)) == 0;
}

bool execute(const Request& request, const wire::AtomicEth& eth, std::uint8_t* memory, std::uint64_t* original) {
  if (wire::operation_of(request.bth.opcode) == wire::kCompareSwap) {
    return guarded_compare_swap(memory, eth.compare, eth.swap_or_add, original);
  }
  return guarded_fetch_add(memory, eth.swap_or_add, original);
}

}  // namespace

void take_atomic(Core& core, Qp& qp, const Request& request) {
  if (!allows_once(qp, IBV_ACCESS_REMOTE_ATOMIC) || !request.payload().empty()) return refuse_invalid(core, qp);
  const wire::AtomicEth eth = wire::AtomicEth::parse(request.header(request.info.atomic_eth));
  std::uint8_t* memory = remote_memory(core, qp, qp.remote_pd, eth.rkey, eth.address, kWord, IBV_ACCESS_REMOTE_ATOMIC);
  if (memory == nullptr) return refuse_access(core, qp);
  if (!aligned(memory, eth.address)) return refuse_invalid(core, qp);
  if (is_busy(qp)) return;
  std::uint64_t original = 0;
  if (!execute(request, eth, memory, &original)) return refuse_access(core, qp);
  answer_once(core, qp, request, original);
}

void take_atomic_write(Core& core, Qp& qp, const Request& request) {
  const std::span<const std::uint8_t> payload = request.payload();
  const wire::Reth reth = wire::Reth::parse(request.header(request.info.reth));
  if (!allows_once(qp, IBV_ACCESS_REMOTE_WRITE) || payload.size() != kWord || reth.length != kWord ||
      request.bth.pad != 0) {
    return refuse_invalid(core, qp);
  }
  std::uint8_t* memory = remote_memory(core, qp, qp.remote_pd, reth.rkey, reth.address, kWord, IBV_ACCESS_REMOTE_WRITE);
  if (memory == nullptr) return refuse_access(core, qp);
  if (!aligned(memory, reth.address)) return refuse_invalid(core, qp);
  if (is_busy(qp)) return;
  std::uint64_t value = 0;
  std::memcpy(&value, payload.data(), kWord);  // bytes, not a number: they arrive as they lay there
  if (!guarded_store(memory, value)) return refuse_access(core, qp);
  answer_once(core, qp, request, 0);
}

}  // namespace verbs::soft::nic
