#include "nic/responder/read.h"

#include "nic/responder/nak.h"
#include "nic/responder/remote_memory.h"
#include "nic/responder/replay.h"
#include "nic/responder/responses.h"
#include "nic/shared/psn.h"

namespace verbs::soft::nic {
namespace {

std::uint32_t response_packets(const Qp& qp, std::uint32_t length) {
  return length == 0 ? 1 : static_cast<std::uint32_t>((std::uint64_t{length} + qp.mtu - 1) / qp.mtu);
}

bool may_read(Core& core, const Qp& qp, const wire::Reth& reth) {
  return reth.length == 0 ||
         remote_memory(core, qp, qp.remote_pd, reth.rkey, reth.address, reth.length, IBV_ACCESS_REMOTE_READ).at !=
             nullptr;
}

// The requester says whether the response may refer to its payload (requester.cc).
bool queue_read(Core& core, Qp& qp, const wire::Reth& reth, std::uint32_t psn, bool may_refer) {
  if (is_out_of_resources(qp)) return false;
  const std::uint32_t last = psn_add(psn, response_packets(qp, reth.length) - 1);
  return queue_response(core, qp,
                        {.kind = Response::Kind::kRead,
                         .may_refer = may_refer,
                         .psn = psn,
                         .msn = qp.resp.msn,
                         .last_psn = last,
                         .rkey = reth.rkey,
                         .remaining = reth.length,
                         .pd = qp.remote_pd,
                         .source = reth.address});
}

}  // namespace

void execute_read(Core& core, Qp& qp, const Packet& packet) {
  ResponderState& resp = qp.resp;
  const wire::Reth reth = wire::Reth::parse(packet.header(packet.info.reth));
  if ((qp.attr.qp_access_flags & IBV_ACCESS_REMOTE_READ) == 0 || reth.length > kMaxRdmaLength ||
      qp.attr.max_dest_rd_atomic == 0 || !packet.payload().empty()) {
    return nak_invalid_request(core, qp);
  }
  if (!may_read(core, qp, reth)) return nak_remote_access(core, qp);
  const std::uint32_t psn = resp.expected_psn;
  resp.msn = psn_add(resp.msn, 1);
  if (!queue_read(core, qp, reth, psn, packet.bth.solicited)) {
    resp.msn = psn_add(resp.msn, kPsnMask);
    return;  // more than the requester may have outstanding: dropped, it comes again
  }
  qp.count(CompletionCounter::kRemoteRead, IBV_WC_SUCCESS, reth.length);
  resp.replay_cache.add({psn, packet.bth.opcode, 0});
  resp.expected_psn = psn_add(psn, response_packets(qp, reth.length));
}

void execute_read_again(Core& core, Qp& qp, const Packet& packet) {
  const wire::Reth reth = wire::Reth::parse(packet.header(packet.info.reth));
  const std::uint32_t end = psn_add(packet.bth.psn, response_packets(qp, reth.length));
  // A duplicate READ is executed again (IBTA 9.7.5.1.2), but only for PSNs that were requested before.
  if (psn_before(qp.resp.expected_psn, end) || reth.length > kMaxRdmaLength ||
      (qp.attr.qp_access_flags & IBV_ACCESS_REMOTE_READ) == 0) {
    return;
  }
  ReplayEntry* entry = qp.resp.replay_cache.find_last(packet.bth.psn);
  const bool by_payload = !packet.bth.solicited && entry != nullptr;
  if (!may_read(core, qp, reth)) {
    // The requester may have all that it asked for before the key went. It has not if it could not read the response.
    if (by_payload && entry->has_referred(packet.bth.psn)) nak_lost_read(core, qp, packet.bth.psn);
    return;
  }
  ResponseQueue& responses = qp.resp.responses;
  if (responses.holds(packet.bth.psn)) return;
  responses.drop_from(packet.bth.psn);
  if (queue_read(core, qp, reth, packet.bth.psn, packet.bth.solicited) && by_payload) entry->remove_referred(end);
}

}  // namespace verbs::soft::nic
