#include "nic/responder/read.h"

#include "nic/objects/qp/response_ring.h"
#include "nic/responder/remote_memory.h"
#include "nic/responder/response.h"
#include "nic/shared/psn.h"

namespace verbs::soft::nic {
namespace {

std::uint32_t response_packets(const Qp& qp, std::uint32_t length) {
  return length == 0 ? 1 : static_cast<std::uint32_t>((std::uint64_t{length} + qp.mtu - 1) / qp.mtu);
}

bool may_read(Core& core, const Qp& qp, const wire::Reth& reth) {
  return reth.length == 0 ||
         remote_memory(core, qp, qp.remote_pd, reth.rkey, reth.address, reth.length, IBV_ACCESS_REMOTE_READ) != nullptr;
}

bool queue_read(Core& core, Qp& qp, const wire::Reth& reth, std::uint32_t psn) {
  if (qp.resp.resources >= qp.attr.max_dest_rd_atomic) return false;
  const std::uint32_t last = psn_add(psn, response_packets(qp, reth.length) - 1);
  return answer(core, qp,
                {.kind = Response::Kind::kRead,
                 .psn = psn,
                 .msn = qp.resp.msn,
                 .last_psn = last,
                 .pd = qp.remote_pd,
                 .rkey = reth.rkey,
                 .remaining = reth.length,
                 .address = reth.address});
}

}  // namespace

void take_read(Core& core, Qp& qp, const Request& request) {
  ResponderState& resp = qp.resp;
  const wire::Reth reth = wire::Reth::parse(request.header(request.info.reth));
  if ((qp.attr.qp_access_flags & IBV_ACCESS_REMOTE_READ) == 0 || reth.length > kMaxRdmaLength ||
      qp.attr.max_dest_rd_atomic == 0 || !request.payload().empty()) {
    return refuse_invalid(core, qp);
  }
  if (!may_read(core, qp, reth)) return refuse_access(core, qp);
  const std::uint32_t psn = resp.expected_psn;
  resp.msn = psn_add(resp.msn, 1);
  if (!queue_read(core, qp, reth, psn)) {
    resp.msn = psn_add(resp.msn, kPsnMask);
    return;  // more than the requester may have outstanding: not taken, it will ask again
  }
  resp.expected_psn = psn_add(psn, response_packets(qp, reth.length));
}

void repeat_read(Core& core, Qp& qp, const Request& request) {
  const wire::Reth reth = wire::Reth::parse(request.header(request.info.reth));
  const std::uint32_t end = psn_add(request.bth.psn, response_packets(qp, reth.length));
  // Only what was asked for before is answered again; a read can simply be executed once more (IBTA 9.7.5.1.2).
  if (psn_before(qp.resp.expected_psn, end) || reth.length > kMaxRdmaLength || !may_read(core, qp, reth) ||
      (qp.attr.qp_access_flags & IBV_ACCESS_REMOTE_READ) == 0) {
    return;
  }
  if (ResponseRing(qp.resp).owes(request.bth.psn)) return;
  ResponseRing(qp.resp).drop_from(request.bth.psn);
  queue_read(core, qp, reth, request.bth.psn);
}

}  // namespace verbs::soft::nic
