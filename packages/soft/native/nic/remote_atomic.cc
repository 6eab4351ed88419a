#include "remote_atomic.h"

#include "answer.h"
#include "memory.h"
#include "psn.h"
#include "remote_memory.h"
#include "response_ring.h"

namespace verbs::soft::nic {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);

Response result_of(const Qp& qp, std::uint32_t psn, std::uint64_t original) {
  return {.kind = Response::Kind::kAtomic, .psn = psn, .msn = qp.resp.msn, .last_psn = psn, .original = original};
}

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
  ResponderState& resp = qp.resp;
  if ((qp.attr.qp_access_flags & IBV_ACCESS_REMOTE_ATOMIC) == 0 || qp.attr.max_dest_rd_atomic == 0 ||
      !request.payload().empty()) {
    return refuse_invalid(core, qp);
  }
  const wire::AtomicEth eth = wire::AtomicEth::parse(request.header(request.info.atomic_eth));
  std::uint8_t* memory = remote_memory(core, qp, eth.rkey, eth.address, kWord, IBV_ACCESS_REMOTE_ATOMIC);
  if (memory == nullptr) return refuse_access(core, qp);
  if (!aligned(memory, eth.address)) return refuse_invalid(core, qp);
  // More than the requester may have outstanding: not taken, it will ask again.
  if (resp.resources >= qp.attr.max_dest_rd_atomic) return;
  std::uint64_t original = 0;
  if (!execute(request, eth, memory, &original)) return refuse_access(core, qp);
  const std::uint32_t psn = resp.expected_psn;
  resp.results.add({psn, request.bth.opcode, original});
  resp.msn = psn_add(resp.msn, 1);
  resp.expected_psn = psn_add(psn, 1);
  answer(core, qp, result_of(qp, psn, original));
}

void repeat_atomic(Core& core, Qp& qp, const Request& request) {
  const SavedResult* saved = qp.resp.results.find(request.bth.psn, request.bth.opcode);
  if (saved == nullptr) return;
  ResponseRing(qp.resp).drop_from(request.bth.psn);
  if (qp.resp.resources < qp.attr.max_dest_rd_atomic) answer(core, qp, result_of(qp, saved->psn, saved->original));
}

}  // namespace verbs::soft::nic
