#include "nic/responder/tag_matching.h"

#include <infiniband/tm_types.h>

#include <algorithm>

#include "nic/core/rendezvous.h"
#include "nic/responder/responses.h"
#include "wire/bytes.h"

namespace verbs::soft::nic {
namespace {

using Bytes = std::span<const std::uint8_t>;

// Of a message that has such a header.
ibv_wc_tm_info info_of(Bytes message) {
  return {.tag = wire::load_be<std::uint64_t>(message.data() + offsetof(ibv_tmh, tag)),
          .priv = wire::load_be<std::uint32_t>(message.data() + offsetof(ibv_tmh, app_ctx))};
}

// A message without a tag has only its operation, or nothing at all. So has the last message of a rendezvous, which is
// its sender's to recognize.
bool has_tag(Bytes message) { return !message.empty() && message[0] != IBV_TMH_NO_TAG && message[0] != IBV_TMH_FIN; }

bool is_well_formed(const Packet& packet) {
  const Bytes message = packet.payload();
  if (message[0] == IBV_TMH_EAGER) return message.size() >= kTagHeaderSize;
  return message[0] == IBV_TMH_RNDV && packet.has(wire::kIsEnd) && message.size() >= kRendezvousHeadersSize &&
         message.size() <= kMaxRendezvousRequest;
}

// A receive request of the queue itself.
bool take_request(Core& core, Qp& qp, const Packet& packet, ibv_wc_opcode opcode) {
  if (!dequeue_recv(core, qp)) {
    nak_receiver_not_ready(core, qp, packet.payload_size());
    return false;
  }
  qp.recv.opcode = opcode;
  return true;
}

void take_buffer(Qp& qp, std::uint32_t handle, bool rendezvous) {
  Srq& srq = *qp.srq;
  const TaggedBuffer& buffer = srq.tags->at(handle);
  qp.srq_wqe = {.wr_id = buffer.wr_id, .length = buffer.sge.length, .num_sge = buffer.sge.length > 0 ? 1u : 0u};
  qp.srq_sges[0] = buffer.sge;
  qp.recv = {.wqe = &qp.srq_wqe,
             .sges = qp.srq_sges.data(),
             .pd = srq.pd,
             .srq = &srq,
             .tagged = true,
             .rendezvous = rendezvous,
             .opcode = IBV_WC_TM_RECV};
  srq.tags->remove(handle);
}

void add_match(const Packet& packet, Received* received) {
  received->flags |= IBV_WC_TM_MATCH;
  received->tags.matched = info_of(packet.payload());
}

// The buffer is too short for the data: the program gets the headers, and does the rest itself.
void leave_to_program(Core& core, Qp& qp, Bytes headers, Received received) {
  const std::size_t size = std::min<std::size_t>(headers.size(), qp.recv.wqe->length);
  const bool written = write_to_recv(core, qp, 0, headers.first(size));
  received.byte_len = static_cast<std::uint32_t>(size);
  if (written && size == headers.size()) received.flags |= IBV_WC_TM_DATA_VALID;
  const bool completed = complete_recv(core, qp, written ? IBV_WC_TM_RNDV_INCOMPLETE : IBV_WC_LOC_PROT_ERR, received);
  if (!written || !completed) enter_error(core, qp, IBV_EVENT_QP_FATAL);
}

void begin_rendezvous(Core& core, Qp& qp, const Packet& packet, Received received) {
  const auto headers = packet.payload().first<kRendezvousHeadersSize>();
  const std::uint8_t* rvh = headers.data() + sizeof(ibv_tmh);
  const auto length = wire::load_be<std::uint32_t>(rvh + offsetof(ibv_rvh, len));
  add_match(packet, &received);
  if (length > qp.recv.wqe->length) return leave_to_program(core, qp, headers, received);
  const ibv_sge& buffer = *qp.recv.sges;
  const Rendezvous rendezvous{.wr_id = qp.recv.wqe->wr_id,
                              .to = {buffer.addr, length, buffer.lkey},
                              .address = wire::load_be<std::uint64_t>(rvh + offsetof(ibv_rvh, va)),
                              .rkey = wire::load_be<std::uint32_t>(rvh + offsetof(ibv_rvh, rkey)),
                              .solicited = packet.bth.solicited,
                              .headers = headers};
  received.byte_len = 0;
  const bool reported = note_match(core, qp, received);
  qp.recv = {};
  start_rendezvous(core, qp, rendezvous);
  if (!reported) enter_error(core, qp, IBV_EVENT_QP_FATAL);
}

}  // namespace

bool match_message(Core& core, Qp& qp, const Packet& packet, std::size_t* headers) {
  // It has a request already, of a WRITE whose payload could not be read: this is not what the peer has to send now.
  if (qp.recv.wqe != nullptr) {
    nak_invalid_request(core, qp, {Reason::kMessageOrder, {packet.bth.opcode}});
    return false;
  }
  // The headers say where the payload goes, so they have to be here.
  if (packet.referred != nullptr) {
    nak_unread(core, qp);
    return false;
  }
  const Bytes message = packet.payload();
  if (!has_tag(message)) return take_request(core, qp, packet, IBV_WC_TM_NO_TAG);
  if (!is_well_formed(packet)) {
    nak_invalid_request(core, qp, {Reason::kTagHeader, {message[0], message.size()}});
    return false;
  }
  TagList& tags = *qp.srq->tags;
  const std::uint32_t handle = tags.match(info_of(message).tag);
  if (handle == TagList::kNone) {
    if (!take_request(core, qp, packet, IBV_WC_TM_RECV)) return false;
    tags.note_unexpected();
    return true;
  }
  const bool rendezvous = message[0] == IBV_TMH_RNDV;
  if (rendezvous && qp.sq.full()) {
    nak_receiver_not_ready(core, qp, message.size());
    return false;
  }
  take_buffer(qp, handle, rendezvous);
  *headers = rendezvous ? message.size() : kTagHeaderSize;
  return true;
}

void report_match(Core& core, Qp& qp, const Packet& packet) {
  Received received;
  received.opcode = IBV_WC_TM_RECV;
  received.src_qp = qp.attr.dest_qp_num;
  add_match(packet, &received);
  if (!note_match(core, qp, received)) enter_error(core, qp, IBV_EVENT_QP_FATAL);
}

void finish_message(Core& core, Qp& qp, const Packet& packet, Received received) {
  if (qp.recv.rendezvous) return begin_rendezvous(core, qp, packet, received);
  if (qp.recv.tagged) {
    received.flags |= IBV_WC_TM_DATA_VALID;
    if (packet.has(wire::kIsStart)) add_match(packet, &received);
  } else if (qp.recv.opcode == IBV_WC_TM_RECV && qp.srq->tags->waits()) {
    received.flags |= IBV_WC_TM_SYNC_REQ;
  }
  if (!complete_recv(core, qp, IBV_WC_SUCCESS, received)) enter_error(core, qp, IBV_EVENT_QP_FATAL);
}

}  // namespace verbs::soft::nic
