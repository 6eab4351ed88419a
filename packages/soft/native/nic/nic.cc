#include "nic/nic.h"

#include <algorithm>
#include <cstdio>

#include "nic/completer.h"
#include "nic/core/completion.h"
#include "nic/core/ways.h"
#include "nic/datagram.h"
#include "nic/raw_packets.h"
#include "nic/requester.h"
#include "nic/responder/responses.h"
#include "wire/bytes.h"

namespace verbs::soft::nic {

void Nic::query_device(ibv_device_attr* attr) const {
  const NicConfig& config = core_.config;
  const Limits& limits = config.limits;
  *attr = {};
  std::snprintf(attr->fw_ver, sizeof attr->fw_ver, "1.0.0");
  attr->node_guid = attr->sys_image_guid = wire::swap_if_little(config.guid);
  attr->max_mr_size = UINT64_MAX;
  attr->page_size_cap = 0xfffff000;
  attr->vendor_id = 0xffffff;
  attr->max_qp = limits.max_qp;
  attr->max_qp_wr = limits.max_qp_wr;
  attr->device_cap_flags = IBV_DEVICE_CHANGE_PHY_PORT | IBV_DEVICE_UD_AV_PORT_ENFORCE | IBV_DEVICE_SYS_IMAGE_GUID |
                           IBV_DEVICE_RC_RNR_NAK_GEN | IBV_DEVICE_SRQ_RESIZE | IBV_DEVICE_MEM_WINDOW |
                           IBV_DEVICE_MEM_WINDOW_TYPE_2B | IBV_DEVICE_MEM_MGT_EXTENSIONS | IBV_DEVICE_XRC;
  attr->max_sge = limits.max_sge;
  attr->max_sge_rd = limits.max_sge_rd;
  attr->max_cq = limits.max_cq;
  attr->max_cqe = limits.max_cqe;
  attr->max_mr = limits.max_mr;
  attr->max_mw = limits.max_mw;
  attr->max_pd = limits.max_pd;
  attr->max_qp_rd_atom = limits.max_qp_rd_atom;
  attr->max_qp_init_rd_atom = limits.max_qp_init_rd_atom;
  attr->max_res_rd_atom =
      static_cast<int>(std::min<std::int64_t>(std::int64_t{limits.max_qp_rd_atom} * limits.max_qp, INT32_MAX));
  attr->atomic_cap = IBV_ATOMIC_HCA;
  attr->max_ah = limits.max_ah;
  attr->max_mcast_grp = limits.max_mcast_grp;
  attr->max_mcast_qp_attach = limits.max_mcast_qp_attach;
  attr->max_total_mcast_qp_attach = static_cast<int>(
      std::min<std::int64_t>(std::int64_t{limits.max_mcast_grp} * limits.max_mcast_qp_attach, INT32_MAX));
  attr->max_srq = limits.max_srq;
  attr->max_srq_wr = limits.max_srq_wr;
  attr->max_srq_sge = limits.max_srq_sge;
  attr->max_pkeys = 1;
  attr->local_ca_ack_delay = 15;
  attr->phys_port_cnt = static_cast<std::uint8_t>(core_.ports.size());
}

void Nic::fail() {
  core_.qps.for_each([this](Qp& qp) {
    if (qp.state != IBV_QPS_RESET && qp.state != IBV_QPS_ERR) enter_error(core_, qp);
  });
  core_.events.async({IBV_EVENT_DEVICE_FATAL, nullptr, nullptr, 0});
}

namespace {

constexpr std::size_t kPumpBudget = 256;  // packets a call
constexpr std::size_t kQpBudget = 64;     // packets of one QP before the next one is served

// Ethernet frames leave by another link.
bool is_held(Core& core, Qp& qp) {
  if (qp.type == IBV_QPT_RAW_PACKET) return false;
  link::Transmitter& transmitter = core.port_of(qp).transmitter();
  if (qp.type != IBV_QPT_UD || qp.sq.empty()) return transmitter.congested(qp.path.dgid, qp.attr.dest_qp_num);
  const Datagram& next = qp.sq.datagram(qp.sq.head);
  return transmitter.congested(next.path.dgid, next.qpn);
}

}  // namespace

std::size_t Scheduler::send(Qp& qp, std::size_t budget, Nanos now) {
  if (qp.type == IBV_QPT_UD) return send_datagrams(core_, qp, budget);
  if (qp.type == IBV_QPT_RAW_PACKET) return send_raw_packets(core_, qp, budget);
  return send_requests(core_, qp, budget, now);
}

// Sends at most `budget` packets of one QP and returns how many. Requests go before responses, because the peer waits
// for the message that the application just posted. The peer gets both at once: a program with room for one request
// posts the next one when the answer to the last has come, and takes that one for done, as it is with hardware. With an
// armed send CQ the responses go first, as from hardware: a program with one channel for both directions may take the
// first event after its request for that of the request (ib_send_lat -e does).
std::size_t Scheduler::serve(Qp& qp, std::size_t budget, Nanos now) {
  const bool responses_first = qp.send_cq != nullptr && qp.send_cq->armed();
  // Not all: those to a long READ of the peer would hold up the requests.
  std::size_t sent = responses_first ? send_responses(core_, qp, budget - budget / 2) : 0;
  if (sent < budget) sent += send(qp, budget - sent, now);
  if (sent < budget && !qp.resp.responses.empty()) sent += send_responses(core_, qp, budget - sent);
  return sent;
}

// Changes when a held queue pair may send.
std::uint64_t Scheduler::relieve() {
  std::uint64_t sum = 0;
  for (std::uint8_t port_num = 1; port_num <= core_.ports.size(); ++port_num) {
    sum += core_.ports[port_num].transmitter().relieve();
  }
  return sum;
}

bool Scheduler::send_messages(Nanos now) {
  if (next_deadline() <= now) return false;
  core_.set_time(now);
  Qp* qp = core_.active.front();
  if (qp == nullptr) return true;
  if (core_.active.size() != 1 || qp->neighbourhood != link::Neighbourhood::version() || qp->way == nullptr ||
      (!qp->way->had_room() && qp->way->reserve(0) == nullptr)) {
    return false;
  }
  const std::uint64_t packets = core_.counters.sent_pkts - core_.carried;
  core_.active.remove(*qp);
  std::size_t sent = kQpBudget;  // without memory for a timer, too, the queue pair is served again
  const auto serve_again = [&] {
    // The way may have ended: a packet that was sent has looked at the peer.
    if (link::MessageWay* way = way_of(core_, *qp)) way->flush();
    // Of packets, other links have to be flushed, and the NIC knows only that it was served.
    if (sent == kQpBudget || core_.counters.sent_pkts - core_.carried != packets) core_.active.add(*qp);
  };
  try {
    sent = serve(*qp, kQpBudget, now);
  } catch (...) {
    serve_again();
    throw;
  }
  serve_again();
  return core_.active.empty();
}

bool Scheduler::pump(Nanos now) {
  core_.set_time(now);
  core_.cqs.expire(now, core_.events);
  while (TimerSlot* slot = core_.timers.expire(now)) handle_timeout(core_, static_cast<Qp&>(*slot), now);
  std::size_t left = kPumpBudget;
  std::size_t held = 0;        // queue pairs in a row that must wait
  std::uint64_t relieved = 0;  // before the first of them was looked at
  held_ = false;
  while (Qp* qp = core_.active.front()) {
    if (left == 0) return false;
    core_.active.remove(*qp);
    bool waits = is_held(core_, *qp);
    if (waits && held == 0) {
      // Room that comes from here on is a change; what this call itself makes is not, so that the first one looks
      // again.
      relieved = relieve();
      waits = is_held(core_, *qp);
    }
    if (waits) {
      core_.active.add(*qp);
      held_ = ++held >= core_.active.size();
      if (!held_) continue;
      held_at_ = relieved + core_.active.additions();
      return true;
    }
    held = 0;
    const std::size_t budget = std::min(left, kQpBudget);
    std::size_t sent = 0;
    try {
      sent = serve(*qp, budget, now);
    } catch (...) {  // there is no memory for a timer now: the queue pair is served again
      core_.active.add(*qp);
      throw;
    }
    left -= sent;
    if (sent == budget) core_.active.add(*qp);
  }
  return true;
}

}  // namespace verbs::soft::nic
