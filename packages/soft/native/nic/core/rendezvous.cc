#include "nic/core/rendezvous.h"

#include <infiniband/tm_types.h>

#include <algorithm>
#include <array>

#include "nic/core/completion.h"
#include "nic/core/work_request.h"

namespace verbs::soft::nic {
namespace {

static_assert(sizeof(ibv_tmh) == kTagHeaderSize && sizeof(ibv_tmh) + sizeof(ibv_rvh) == kRendezvousHeadersSize);

using Headers = std::array<std::uint8_t, kRendezvousHeadersSize>;

void enqueue(Core& core, Qp& qp, const SendWqe& wqe, const std::uint8_t* headers) {
  SendQueue& sq = qp.sq;
  sq.at(sq.tail) = wqe;
  std::copy_n(headers, kRendezvousHeadersSize, sq.inline_data(sq.tail));
  ++sq.tail;
  core.active.add(qp);
}

// A copy of the headers but for the operation. It takes the slot of the READ, which is done: only now, since the peer
// may forget the data as soon as it hears of it, and a lost part of the READ would be asked for again.
void send_fin(Core& core, Qp& qp, Headers headers) {
  headers[offsetof(ibv_tmh, opcode)] = IBV_TMH_FIN;
  SendWqe wqe{};
  wqe.opcode = IBV_WR_SEND;
  wqe.length = kRendezvousHeadersSize;
  wqe.flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED;  // asks for an acknowledgement
  enqueue(core, qp, wqe, headers.data());
}

}  // namespace

void start_rendezvous(Core& core, Qp& qp, const Rendezvous& rendezvous) {
  SendWqe wqe{};
  wqe.wr_id = rendezvous.wr_id;
  wqe.opcode = IBV_WR_RDMA_READ;
  wqe.remote_addr = rendezvous.address;
  wqe.rkey = rendezvous.rkey;
  wqe.length = rendezvous.to.length;
  wqe.num_sge = rendezvous.to.length > 0 ? 1 : 0;
  wqe.flags = rendezvous.solicited ? IBV_SEND_SOLICITED : 0;
  *qp.sq.sges(qp.sq.tail) = rendezvous.to;
  enqueue(core, qp, wqe, rendezvous.headers.data());
}

void complete_rendezvous(Core& core, Qp& qp, std::uint32_t position, ibv_wc_status status) {
  SendQueue& sq = qp.sq;
  const SendWqe wqe = sq.at(position);  // the FIN may take its slot
  sq.released = sq.reported = sq.head;
  if (wqe.opcode != IBV_WR_RDMA_READ) return;
  Received received;
  received.opcode = IBV_WC_TM_RECV;
  received.src_qp = qp.attr.dest_qp_num;
  received.solicited = (wqe.flags & IBV_SEND_SOLICITED) != 0;
  if (status != IBV_WC_SUCCESS) {
    complete_tagged(core, qp, *qp.srq, wqe.wr_id, IBV_WC_TM_RNDV_INCOMPLETE, received);
    return;
  }
  --qp.req.unanswered_requests;
  received.byte_len = wqe.length;
  received.flags = IBV_WC_TM_DATA_VALID;
  complete_tagged(core, qp, *qp.srq, wqe.wr_id, IBV_WC_SUCCESS, received);
  Headers headers;
  std::copy_n(sq.inline_data(position), kRendezvousHeadersSize, headers.begin());
  send_fin(core, qp, headers);
}

}  // namespace verbs::soft::nic
