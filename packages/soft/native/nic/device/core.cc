#include "nic/device/core.h"

#include "nic/device/completion.h"
#include "nic/device/receive_queue.h"
#include "nic/requester/requester.h"

namespace verbs::soft::nic {
namespace {

// No attribute of a device tells it.
constexpr std::uint32_t kMaxXrcds = 1u << 16;

}  // namespace

Core::Core(NicConfig nic_config, EventSink& sink)
    : config(std::move(nic_config)),
      events(sink),
      pds(1, static_cast<std::uint32_t>(config.limits.max_pd)),
      cqs(1, static_cast<std::uint32_t>(config.limits.max_cq)),
      ahs(1, static_cast<std::uint32_t>(config.limits.max_ah)),
      qps(kFirstQpn, static_cast<std::uint32_t>(config.limits.max_qp)),
      srqs(1, static_cast<std::uint32_t>(config.limits.max_srq)),
      xrcds(1, kMaxXrcds),
      mrs(config.limits),
      mws(config.limits),
      device_memory(static_cast<std::size_t>(config.limits.max_dm_size)),
      multicast(config.limits) {
  for (PortConfig& port : config.ports) {
    ports.emplace_back(port.transmitter, port.gids, port.max_mtu, port.active_mtu, port.frames).set_up(port.up);
  }
}

void enter_error(Core& core, Qp& qp) {
  const bool was_in_error = qp.state == IBV_QPS_ERR;
  qp.state = qp.attr.qp_state = IBV_QPS_ERR;
  qp.draining = false;
  qp.req.waiting_rnr = false;
  core.timers.remove(qp);
  flush_sends(core, qp);
  flush_receives(core, qp);
  // Nobody flushes a shared queue, so the application is told that this QP has taken its last request from it.
  if (qp.is_fed_by_srq() && !was_in_error) {
    core.events.async({IBV_EVENT_QP_LAST_WQE_REACHED, &qp, nullptr, qp.attr.port_num});
  }
}

void enter_error(Core& core, Qp& qp, ibv_event_type event) {
  enter_error(core, qp);
  core.events.async({event, &qp, nullptr, qp.attr.port_num});
}

void fail_send(Core& core, Qp& qp, ibv_wc_status status) {
  complete_send(core, qp, status);
  if (qp.is_reliable()) return enter_error(core, qp);
  qp.state = qp.attr.qp_state = IBV_QPS_SQE;
  qp.draining = false;
  flush_sends(core, qp);
  // A message that broke off takes no more PSNs.
  if (qp.type == IBV_QPT_UC) qp.req.next_psn = qp.req.una_psn = qp.req.max_psn = qp.req.send_psn;
}

void flush_sends(Core& core, Qp& qp) {
  while (!qp.sq.empty()) complete_send(core, qp, IBV_WC_WR_FLUSH_ERR);
  qp.req.position = qp.sq.head;
  qp.req.packet = 0;
  qp.req.awaited_unfinished = 0;
}

void flush_receives(Core& core, Qp& qp) {
  while (qp.recv.wqe != nullptr || (!qp.rq.empty() && take_recv(core, qp))) {
    complete_recv(core, qp, IBV_WC_WR_FLUSH_ERR, {});
  }
  qp.resp.message = ResponderState::Message::kNone;
}

}  // namespace verbs::soft::nic
