#include "nic/datagram/datagram.h"

#include <algorithm>
#include <cstring>

#include "nic/device/completion.h"
#include "nic/device/packet_builder.h"
#include "nic/device/receive_queue.h"
#include "nic/device/scatter.h"
#include "nic/device/send_data.h"
#include "nic/responder/message.h"
#include "nic/shared/psn.h"

namespace verbs::soft::nic {
namespace {

constexpr std::uint32_t kGrhSize = 40;

}  // namespace

std::size_t run_datagrams(Core& core, Qp& qp, std::size_t budget) {
  if (!qp.may_send()) return 0;
  std::size_t count = 0;
  for (; count < budget && !qp.sq.empty() && qp.state == IBV_QPS_RTS; ++count) {
    const std::uint32_t position = qp.sq.head;
    SendWqe& wqe = qp.sq.at(position);
    const Datagram& datagram = qp.sq.datagram(position);
    ibv_wc_status status =
        wqe.length > mtu_bytes(core.port_of(qp).active_mtu()) ? IBV_WC_LOC_LEN_ERR : check_request(core, qp, position);
    if (status == IBV_WC_SUCCESS) {
      const bool imm = wqe.opcode == IBV_WR_SEND_WITH_IMM;
      PacketBuilder packet(core, core.port_of(qp), datagram.path,
                           wire::make_opcode(wire::Transport::kUd, imm ? wire::kSendOnlyImm : wire::kSendOnly));
      if (load_payload(core, qp, position, 0, packet.payload(), wqe.length)) {
        wire::Deth{datagram.qkey, qp.number}.emit(packet.deth());
        if (imm) std::copy_n(reinterpret_cast<const std::uint8_t*>(&wqe.imm_data), 4, packet.imm_dt());
        packet.bth.dest_qpn = datagram.qpn;
        packet.bth.psn = qp.req.next_psn;
        packet.bth.solicited = (wqe.flags & IBV_SEND_SOLICITED) != 0;
        packet.send(wqe.length);
        qp.req.next_psn = psn_add(qp.req.next_psn, 1);
        ++core.counters.rdma_sends;
      } else {
        status = IBV_WC_LOC_PROT_ERR;
      }
    }
    if (status != IBV_WC_SUCCESS) {
      fail_send(core, qp, status);
    } else {
      complete_send(core, qp, status);
    }
  }
  qp.req.position = qp.sq.head;
  qp.req.una_psn = qp.req.next_psn;
  if (qp.state == IBV_QPS_SQD) check_drained(core, qp);
  return count;
}

void take_datagram(Core& core, Qp& qp, const wire::FrameView& frame, const Request& request) {
  const wire::Deth deth = wire::Deth::parse(request.header(request.info.deth));
  const std::span<const std::uint8_t> payload = request.payload();
  // Nothing answers a datagram: what cannot be taken is dropped, and the receive request stays.
  const RecvWqe* next = next_recv(qp);
  if (deth.qkey != qp.attr.qkey || next == nullptr || payload.size() > mtu_bytes(core.port_of(qp).active_mtu()) ||
      next->length < payload.size() + kGrhSize) {
    ++core.counters.dropped_pkts;
    return;
  }
  take_recv(core, qp);
  // The network header comes first in the buffer: an IPv6 header is a GRH, an IPv4 header sits in its last 20 bytes.
  std::uint8_t grh[kGrhSize] = {};
  std::memcpy(grh + kGrhSize - frame.ip.size(), frame.ip.data(), frame.ip.size());
  const TakenRecv& recv = qp.recv;
  if (!scatter(core.mrs, recv.pd, recv.sges, recv.wqe->num_sge, 0, grh, kGrhSize) ||
      !scatter(core.mrs, recv.pd, recv.sges, recv.wqe->num_sge, kGrhSize, payload.data(), payload.size())) {
    complete_recv(core, qp, IBV_WC_LOC_PROT_ERR, {});
    enter_error(core, qp, IBV_EVENT_QP_FATAL);
    return;
  }
  Received received;
  received.byte_len = static_cast<std::uint32_t>(payload.size()) + kGrhSize;
  received.imm_data = immediate(request);
  received.flags = IBV_WC_GRH | (request.has(wire::kHasImmDt) ? unsigned{IBV_WC_WITH_IMM} : 0u);
  received.src_qp = deth.src_qpn;
  received.solicited = request.bth.solicited;
  if (!complete_recv(core, qp, IBV_WC_SUCCESS, received)) enter_error(core, qp, IBV_EVENT_QP_FATAL);
}

}  // namespace verbs::soft::nic
