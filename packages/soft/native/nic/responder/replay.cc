#include "nic/responder/replay.h"

#include "nic/objects/qp/response_ring.h"
#include "nic/responder/response.h"
#include "nic/shared/psn.h"

namespace verbs::soft::nic {
namespace {

// An atomic returns the value before it; the others a READ response without data.
Response result_of(const Qp& qp, const wire::OpcodeInfo& info, std::uint32_t psn, std::uint64_t original) {
  const bool atomic = info.has(wire::kIsAtomic);
  return {.kind = atomic ? Response::Kind::kAtomic : Response::Kind::kRead,
          .psn = psn,
          .msn = qp.resp.msn,
          .last_psn = psn,
          .original = original};
}

}  // namespace

bool allows_once(const Qp& qp, unsigned rights) {
  return (qp.attr.qp_access_flags & rights) == rights && qp.attr.max_dest_rd_atomic > 0;
}

bool is_busy(const Qp& qp) { return qp.resp.resources >= qp.attr.max_dest_rd_atomic; }

void answer_once(Core& core, Qp& qp, const Request& request, std::uint64_t original) {
  ResponderState& resp = qp.resp;
  const std::uint32_t psn = resp.expected_psn;
  resp.results.add({psn, request.bth.opcode, original});
  resp.msn = psn_add(resp.msn, 1);
  resp.expected_psn = psn_add(psn, 1);
  answer(core, qp, result_of(qp, request.info, psn, original));
}

void repeat_once(Core& core, Qp& qp, const Request& request) {
  const SavedResult* saved = qp.resp.results.find(request.bth.psn, request.bth.opcode);
  if (saved == nullptr || ResponseRing(qp.resp).owes(saved->psn)) return;
  ResponseRing(qp.resp).drop_from(request.bth.psn);
  if (!is_busy(qp)) answer(core, qp, result_of(qp, request.info, saved->psn, saved->original));
}

}  // namespace verbs::soft::nic
