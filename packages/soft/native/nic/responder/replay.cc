#include "nic/responder/replay.h"

#include "nic/responder/responses.h"
#include "nic/shared/psn.h"

namespace verbs::soft::nic {
namespace {

// An atomic returns the value before it; ATOMIC WRITE and FLUSH return a READ response without data.
Response make_response(const Qp& qp, const wire::OpcodeInfo& info, std::uint32_t psn, std::uint64_t original) {
  const bool atomic = info.has(wire::kIsAtomic);
  return {.kind = atomic ? Response::Kind::kAtomic : Response::Kind::kRead,
          .psn = psn,
          .msn = qp.resp.msn,
          .last_psn = psn,
          .source = original};
}

}  // namespace

bool allows(const Qp& qp, unsigned rights) {
  return (qp.attr.qp_access_flags & rights) == rights && qp.attr.max_dest_rd_atomic > 0;
}

bool is_out_of_resources(const Qp& qp) { return qp.resp.responses.resources() >= qp.attr.max_dest_rd_atomic; }

void respond_and_cache(Core& core, Qp& qp, const Packet& packet, std::uint64_t original) {
  ResponderState& resp = qp.resp;
  const std::uint32_t psn = resp.expected_psn;
  resp.replay_cache.add({psn, packet.bth.opcode, original});
  resp.msn = psn_add(resp.msn, 1);
  resp.expected_psn = psn_add(psn, 1);
  queue_response(core, qp, make_response(qp, packet.info, psn, original));
}

void replay(Core& core, Qp& qp, const Packet& packet) {
  ResponseQueue& responses = qp.resp.responses;
  const ReplayEntry* entry = qp.resp.replay_cache.find(packet.bth.psn, packet.bth.opcode);
  if (entry == nullptr || responses.holds(entry->psn)) return;
  responses.drop_from(packet.bth.psn);
  if (is_out_of_resources(qp)) return;
  queue_response(core, qp, make_response(qp, packet.info, entry->psn, entry->original));
}

}  // namespace verbs::soft::nic
