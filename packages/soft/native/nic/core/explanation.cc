#include "nic/core/explanation.h"

#include <algorithm>

#include "nic/core/work_request.h"

namespace verbs::soft::nic {
namespace {

// Of [address, address + size), the bytes outside [from, from + length).
std::uint64_t bytes_outside(std::uint64_t address, std::size_t size, std::uint64_t from, std::uint64_t length) {
  const std::uint64_t offset = address - from;
  if (offset < length) return size - std::min<std::uint64_t>(size, length - offset);
  const std::uint64_t before = from - address;  // it may begin before and reach in
  return before < size ? size - std::min<std::uint64_t>(size - before, length) : size;
}

ReasonEvent event_of(const Qp& qp, Place place, const Why& why) {
  ReasonEvent event{.why = why, .qp = qp.number, .place = place};
  if (qp.type != IBV_QPT_UD && qp.type != IBV_QPT_RAW_PACKET) {
    event.peer_qp = qp.attr.dest_qp_num;
    event.peer = qp.path.dgid;
  }
  return event;
}

// Why a send request fails that this end itself found wrong.
Why why_failed_here(Core& core, Qp& qp, ibv_wc_status status) {
  const SendWqe& wqe = qp.sq.at(qp.sq.head);
  const WorkRequestInfo& info = info_of(wqe.opcode);
  switch (status) {
    case IBV_WC_LOC_LEN_ERR:
      if (qp.type == IBV_QPT_UD && wqe.length <= core.config.limits.max_msg_size) {
        return {Reason::kLongDatagram, {wqe.length, mtu_bytes(core.port_of(qp).active_mtu())}};
      }
      if (qp.type == IBV_QPT_RAW_PACKET) {
        return {Reason::kFrameLength, {wqe.length, VERBS_SOFT_FRAME_MIN, core.port_of(qp).frame_limit()}};
      }
      return {Reason::kLongMessage, {wqe.length, core.config.limits.max_msg_size}};
    case IBV_WC_LOC_PROT_ERR: {
      const unsigned access = info.writes_local() ? static_cast<unsigned>(IBV_ACCESS_LOCAL_WRITE) : 0u;
      return why_no_local_access(core, qp.pd, qp.sq.sges(qp.sq.head), wqe.num_sge, access);
    }
    case IBV_WC_LOC_QP_OP_ERR:
    case IBV_WC_MW_BIND_ERR:
      if (!info.allowed_on(qp.type)) {
        return {Reason::kOperationMissing,
                {static_cast<std::uint64_t>(qp.type), static_cast<std::uint64_t>(wqe.opcode)}};
      }
      if (wqe.opcode == IBV_WR_LOCAL_INV) return {Reason::kWindowNotInvalidated, {wqe.rkey}};
      if (wqe.opcode == IBV_WR_BIND_MW) return {Reason::kWindowNotBound, {wqe.rkey}};
      return {qp.type == IBV_QPT_UD ? Reason::kHandleOfOtherPd : Reason::kNoReadsAsked};
    default:
      return {Reason::kBadResponse};
  }
}

Why why_failed(Core& core, Qp& qp, ibv_wc_status status) {
  switch (status) {
    case IBV_WC_REM_INV_REQ_ERR:
    case IBV_WC_REM_ACCESS_ERR:
    case IBV_WC_REM_OP_ERR:
      return {Reason::kPeerRefused, {static_cast<std::uint64_t>(qp.sq.at(qp.sq.head).opcode)}};
    case IBV_WC_RETRY_EXC_ERR:
      return {Reason::kNoAnswer, {qp.attr.retry_cnt, qp.attr.timeout}};
    case IBV_WC_RNR_RETRY_EXC_ERR:
      return {Reason::kNoReceiveAtPeer, {qp.attr.rnr_retry}};
    default:
      return why_failed_here(core, qp, status);
  }
}

// What the peer had against the request, or why it hears nothing: its end may be at this device.
Why why_of_peer(const Core& core, const Qp& qp, Reason reason) {
  const std::uint32_t destination = qp.attr.dest_qp_num;
  const auto concerns = [&](const ReasonEvent& event) {
    if (reason == Reason::kPeerRefused) {
      return event.place == Place::kResponder && event.qp == destination && event.peer_qp == qp.number;
    }
    // Nobody knows whose packet it was that no queue pair took.
    if (event.why.reason == Reason::kDropUnknownQp) return event.why.values[0] == destination;
    return event.place == Place::kArrival && event.qp == destination;
  };
  const bool asks = reason == Reason::kPeerRefused || reason == Reason::kNoAnswer;
  const ReasonEvent* event = asks ? core.reasons.find_last(concerns) : nullptr;
  if (event != nullptr && event->why.reason == Reason::kDropFailed) {
    const auto is_cause = [&](const ReasonEvent& other) {
      return other.place == Place::kResponder && other.qp == destination;
    };
    if (const ReasonEvent* cause = core.reasons.find_last(is_cause)) event = cause;
  }
  return event != nullptr ? event->why : Why{};
}

}  // namespace

void explain_call(Core& core, Place place, int error, const Why& why, const Qp* qp, std::uint64_t wr_id) {
  if (why.reason == Reason::kNone) return;
  ReasonEvent event = qp != nullptr ? event_of(*qp, place, why) : ReasonEvent{.why = why, .place = place};
  event.error = error;
  event.wr_id = wr_id;
  core.explain(event);
}

int refuse_post(Core& core, const Qp& qp, Place place, std::uint64_t wr_id, int error, const Why& why) {
  explain_call(core, place, error, why, &qp, wr_id);
  return error;
}

void explain_drop(Core& core, const Why& why, const Qp* qp, const wire::FrameView* frame, std::uint32_t source_qp) {
  ReasonEvent event = qp != nullptr ? event_of(*qp, Place::kArrival, why) : ReasonEvent{.why = why};
  if (frame != nullptr) event.peer = frame->source();
  if (source_qp != 0) event.peer_qp = source_qp;
  core.explain(event);
}

void explain_responder(Core& core, const Qp& qp, std::uint8_t syndrome, ibv_wc_status status, const Why& why) {
  ReasonEvent event = event_of(qp, Place::kResponder, why);
  event.syndrome = syndrome;
  if (qp.recv.wqe != nullptr) {
    event.status = status;
    event.wr_id = qp.recv.wqe->wr_id;
  }
  core.explain(event);
}

void explain_failed_send(Core& core, Qp& qp, ibv_wc_status status) {
  ReasonEvent event = event_of(qp, Place::kCompletion, why_failed(core, qp, status));
  event.status = status;
  event.wr_id = qp.sq.at(qp.sq.head).wr_id;
  event.peers = why_of_peer(core, qp, event.why.reason);
  core.explain(event);
}

void explain_overrun(Core& core, const Qp& qp, const Cq& cq) {
  core.explain(event_of(qp, Place::kCompletion, {Reason::kCqOverrun, {static_cast<std::uint64_t>(cq.cqe())}}));
}

Why why_no_remote_access(const Core& core, const Qp& qp, const Pd* pd, std::uint32_t rkey, std::uint64_t address,
                         std::size_t size, unsigned access) {
  if (MwTable::holds(rkey)) {
    const Mw* mw = core.mws.find(rkey, qp, pd, 0);
    if (mw == nullptr) return {Reason::kClosedWindow, {rkey}};
    if ((mw->access & access) != access) return {Reason::kRegionRight, {rkey, access & ~mw->access, mw->access}};
    const std::uint64_t from = (mw->access & IBV_ACCESS_ZERO_BASED) != 0 ? 0 : mw->address;
    const std::uint64_t outside = bytes_outside(address, size, from, mw->length);
    if (outside != 0) return {Reason::kBeyondRegion, {size, address, outside, rkey}};
    return {Reason::kMemoryGone, {address}};
  }
  const Mr* mr = core.mrs.find(rkey);
  if (mr == nullptr || mr->null) return {Reason::kUnknownRkey, {rkey}};
  if (mr->pd != pd) return {Reason::kRkeyOfOtherPd, {rkey}};
  if ((mr->access & access) != access) return {Reason::kRegionRight, {rkey, access & ~mr->access, mr->access}};
  const std::uint64_t outside = bytes_outside(address, size, mr->iova, mr->length);
  if (outside != 0) return {Reason::kBeyondRegion, {size, address, outside, rkey}};
  return {Reason::kMemoryGone, {address}};
}

Why why_no_local_access(const Core& core, const Pd* pd, const ibv_sge* sges, std::uint32_t count, unsigned access) {
  for (std::uint32_t i = 0; i < count; ++i) {
    const ibv_sge& sge = sges[i];
    if (sge.length == 0) continue;
    const Mr* mr = core.mrs.find(sge.lkey);
    if (mr == nullptr) return {Reason::kUnknownLkey, {sge.lkey, i}};
    if (mr->pd != pd) return {Reason::kLkeyOfOtherPd, {sge.lkey, i}};
    if ((mr->access & access) != access) return {Reason::kLocalRight, {sge.lkey, i}};
    const std::uint64_t outside = bytes_outside(sge.addr, sge.length, mr->iova, mr->length);
    if (outside != 0) return {Reason::kBeyondLocalRegion, {i, sge.length, outside, sge.lkey}};
  }
  return {Reason::kMemoryGone, {count != 0 ? sges[0].addr : 0}};
}

Why why_no_receive_memory(const Core& core, const Qp& qp) {
  const CurrentRecv& recv = qp.recv;
  return why_no_local_access(core, recv.pd, recv.sges, recv.wqe->num_sge, IBV_ACCESS_LOCAL_WRITE);
}

}  // namespace verbs::soft::nic
