#include "nic/datagram.h"

#include <algorithm>
#include <cstring>

#include "nic/base/limits.h"
#include "nic/core/completion.h"
#include "nic/core/explanation.h"
#include "nic/core/packet_builder.h"
#include "nic/core/work_request.h"

namespace verbs::soft::nic {
namespace {

constexpr std::uint32_t kGrhSize = 40;

// ibv_wc.sl of a datagram: the type of its network header, as ConnectX adapters report it on RoCE. Programs (UCX) find
// the header in the 40 bytes by it.
enum NetworkType : std::uint8_t { kIpv6 = 1, kIpv4 = 2 };

ibv_wc_status send_datagram(Core& core, Qp& qp, std::uint32_t position) {
  const SendWqe& wqe = qp.sq.at(position);
  if (wqe.error != IBV_WC_SUCCESS) return wqe.error;
  const Datagram& datagram = qp.sq.datagram(position);
  Port& port = core.port_of(qp);
  if (wqe.length > std::min<std::uint32_t>(mtu_bytes(port.active_mtu()), datagram.path.mtu)) return IBV_WC_LOC_LEN_ERR;
  const ibv_wc_status status = check_request(core, qp, position);
  if (status != IBV_WC_SUCCESS) return status;

  const bool imm = wqe.opcode == IBV_WR_SEND_WITH_IMM;
  PacketBuilder packet(core, port, datagram.path, imm ? wire::kSendOnlyImm : wire::kSendOnly);
  if (!load_payload(core, qp, position, 0, packet.payload(), wqe.length)) return IBV_WC_LOC_PROT_ERR;
  wire::Deth{datagram.qkey, qp.number}.emit(packet.deth());
  if (imm) std::copy_n(reinterpret_cast<const std::uint8_t*>(&wqe.imm_data), 4, packet.imm_dt());
  packet.bth.dest_qpn = datagram.qpn;
  packet.bth.psn = qp.req.next_psn;
  packet.bth.solicited = (wqe.flags & IBV_SEND_SOLICITED) != 0;
  packet.send(wqe.length);
  qp.req.next_psn = psn_add(qp.req.next_psn, 1);
  ++core.counters.rdma_sends;
  return IBV_WC_SUCCESS;
}

// Why the queue pair does not take a datagram of `size` bytes; `next` is its receive request.
[[gnu::cold]] Why why_not_taken(Core& core, const Qp& qp, const wire::Deth& deth, const RecvWqe* next,
                                std::size_t size) {
  if (deth.qkey != qp.attr.qkey) return {Reason::kDropQkey, {deth.qkey, qp.attr.qkey}};
  if (next == nullptr) return {Reason::kDropNoReceive, {size}};
  const std::uint32_t mtu = mtu_bytes(core.port_of(qp).active_mtu());
  if (size > mtu) return {Reason::kDropLongDatagram, {size, qp.attr.port_num, mtu}};
  return {Reason::kDropNoRoom, {next->length, size, size + kGrhSize}};
}

[[gnu::cold]] void drop_datagram(Core& core, const Qp& qp, const Packet& packet, const wire::Deth& deth,
                                 const RecvWqe* next) {
  ++core.counters.dropped_pkts;
  explain_drop(core, why_not_taken(core, qp, deth, next, packet.payload().size()), &qp, &packet.frame, deth.src_qpn);
}

}  // namespace

std::size_t send_datagrams(Core& core, Qp& qp, std::size_t budget) {
  if (!qp.may_send()) return 0;
  std::size_t count = 0;
  for (; count < budget && !qp.sq.empty() && qp.state == IBV_QPS_RTS; ++count) {
    const ibv_wc_status status = send_datagram(core, qp, qp.sq.head);
    if (status == IBV_WC_SUCCESS) {
      complete_send(core, qp, status);
    } else {
      fail_send(core, qp, status);
    }
  }
  qp.req.position = qp.sq.head;
  qp.req.una_psn = qp.req.next_psn;
  if (qp.state == IBV_QPS_SQD) check_drained(core, qp);
  return count;
}

void receive_datagram(Core& core, Qp& qp, const Packet& packet) {
  const wire::Deth deth = wire::Deth::parse(packet.header(packet.info.deth));
  const std::span<const std::uint8_t> payload = packet.payload();
  // A datagram that fails a check is dropped, and the receive request stays posted.
  const RecvWqe* next = peek_recv(qp);
  const bool fits = next != nullptr && next->length >= payload.size() + kGrhSize;
  if (deth.qkey != qp.attr.qkey || next == nullptr || payload.size() > mtu_bytes(core.port_of(qp).active_mtu()) ||
      (!fits && !core.config.rules.short_datagrams_fail)) {
    return drop_datagram(core, qp, packet, deth, next);
  }
  dequeue_recv(core, qp);
  if (!fits) {
    explain_responder(core, qp, 0, IBV_WC_LOC_LEN_ERR, why_not_taken(core, qp, deth, qp.recv.wqe, payload.size()));
    complete_recv(core, qp, IBV_WC_LOC_LEN_ERR, {});
    enter_error(core, qp);
    return;
  }
  // An IPv6 header has the layout of a GRH; an IPv4 header goes to the last 20 of the 40 bytes.
  std::uint8_t grh[kGrhSize] = {};
  const std::span<const std::uint8_t> ip = packet.frame.ip;
  std::memcpy(grh + kGrhSize - ip.size(), ip.data(), ip.size());
  if (!write_to_recv(core, qp, 0, grh) || !write_to_recv(core, qp, kGrhSize, payload)) {
    explain_responder(core, qp, 0, IBV_WC_LOC_PROT_ERR, why_no_receive_memory(core, qp));
    complete_recv(core, qp, IBV_WC_LOC_PROT_ERR, {});
    enter_error(core, qp, IBV_EVENT_QP_FATAL);
    return;
  }
  Received received;
  received.byte_len = static_cast<std::uint32_t>(payload.size()) + kGrhSize;
  received.imm_data = packet.immediate();
  received.flags = IBV_WC_GRH | (packet.has(wire::kHasImmDt) ? unsigned{IBV_WC_WITH_IMM} : 0u);
  received.src_qp = deth.src_qpn;
  received.sl = packet.frame.ipv4 ? kIpv4 : kIpv6;
  received.solicited = packet.bth.solicited;
  if (!complete_recv(core, qp, IBV_WC_SUCCESS, received)) enter_error(core, qp, IBV_EVENT_QP_FATAL);
}

void receive_group_datagram(Core& core, std::uint8_t port_num, const Packet& packet) {
  core.multicast.for_each_member(packet.frame.destination(), [&](Qp& member) {
    if (member.attr.port_num == port_num && member.may_receive()) receive_datagram(core, member, packet);
  });
}

namespace {

constexpr std::uint32_t kManagementQkey = 0x80010000;

}  // namespace

void receive_mad(Core& core, std::uint8_t port_num, const Packet& packet) {
  const wire::Deth deth = wire::Deth::parse(packet.header(packet.info.deth));
  if (core.config.mads == nullptr || deth.qkey != kManagementQkey || deth.src_qpn != kManagementQpn) {
    ++core.counters.dropped_pkts;
    const bool answers = core.config.mads != nullptr;
    const Why why = answers ? Why{Reason::kDropQkey, {deth.qkey, kManagementQkey}}
                            : Why{Reason::kDropUnknownQp, {packet.bth.dest_qpn}};
    return explain_drop(core, why, nullptr, &packet.frame, deth.src_qpn);
  }
  core.config.mads->mad(port_num, packet.frame.path(), packet.payload(), core.now);
}

void send_mad(Core& core, std::uint8_t port_num, const wire::Path& path, std::span<const std::uint8_t> bytes) {
  Port* port = core.ports.find(port_num);
  if (port == nullptr) return;
  wire::Path from = path;
  from.destination_port = wire::kRocePort;
  from.source_port = port->source_port(path.flow_label, kManagementQpn, kManagementQpn);
  PacketBuilder packet(core, *port, from, wire::kSendOnly);
  wire::Deth{kManagementQkey, kManagementQpn}.emit(packet.deth());
  std::ranges::copy(bytes, packet.payload());
  packet.bth.dest_qpn = kManagementQpn;
  packet.bth.psn = core.mad_psn++ & 0xffffff;
  packet.send(bytes.size());
}

}  // namespace verbs::soft::nic
