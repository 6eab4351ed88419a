#include "nic/nic.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "nic/completer/completer.h"
#include "nic/datagram/datagram.h"
#include "nic/device/nic_impl.h"
#include "nic/ingress/ingress.h"
#include "nic/ports/port_control.h"
#include "nic/requester/requester.h"
#include "nic/responder/responses.h"
#include "nic/shared/psn.h"
#include "nic/verbs/post.h"
#include "wire/headers.h"
#include "wire/icrc.h"
#include "wire/opcode.h"

namespace verbs::soft::nic {
namespace {

constexpr std::size_t kPumpBudget = 256;  // packets a call
constexpr std::size_t kTurnBudget = 64;   // packets a QP before the next one has its turn

std::size_t run_sends(Core& core, Qp& qp, std::size_t budget, Nanos now) {
  if (qp.type == IBV_QPT_UD) return send_datagrams(core, qp, budget);
  if (qp.type == IBV_QPT_RAW_PACKET) return send_raw_packets(core, qp, budget);
  return send_requests(core, qp, budget, now);
}

}  // namespace

Nic::Nic(NicConfig config, EventSink& events) : impl_(std::make_unique<Impl>(std::move(config), events)) {}
Nic::~Nic() = default;

const Counters& Nic::counters() const { return impl_->core.counters; }
const FrameCounters& Nic::frame_counters() const { return impl_->core.frame_counters; }

void Nic::query_device(ibv_device_attr* attr) const {
  const NicConfig& config = impl_->core.config;
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
  attr->phys_port_cnt = static_cast<std::uint8_t>(impl_->core.ports.size());
}

int Nic::query_port(std::uint8_t port_num, ibv_port_attr* attr) const {
  const Port* port = impl_->core.port(port_num);
  if (port == nullptr) return EINVAL;
  port->query(attr);
  return 0;
}

int Nic::query_gid(std::uint8_t port_num, int index, wire::Gid* gid) const {
  const Port* port = impl_->core.port(port_num);
  if (port == nullptr || index < 0 || static_cast<std::size_t>(index) >= port->gids().size()) return EINVAL;
  *gid = port->gids()[static_cast<std::size_t>(index)];
  return 0;
}

int Nic::query_pkey(std::uint8_t port_num, int index, std::uint16_t* pkey) const {
  if (impl_->core.port(port_num) == nullptr || index != 0) return EINVAL;
  *pkey = kDefaultPkey;
  return 0;
}

int Nic::set_link(std::uint8_t port_num, bool up) { return nic::set_link(impl_->core, port_num, up); }

int Nic::add_gid(std::uint8_t port_num, const wire::Gid& gid, std::uint32_t* index) {
  return nic::add_gid(impl_->core, port_num, gid, index);
}

int Nic::remove_gid(std::uint8_t port_num, const wire::Gid& gid) { return nic::remove_gid(impl_->core, port_num, gid); }

int Nic::set_mtu(std::uint8_t port_num, ibv_mtu mtu) { return nic::set_mtu(impl_->core, port_num, mtu); }

void Nic::fail() { nic::fail(impl_->core); }

int Nic::alloc_pd(Pd** pd) {
  auto made = std::make_unique<Pd>();
  Pd* raw = made.get();
  const std::uint32_t index = impl_->core.pds.insert(std::move(made));
  if (index == 0) return ENOMEM;
  raw->handle = index;
  *pd = raw;
  return 0;
}

int Nic::dealloc_pd(Pd* pd) {
  if (pd->users > 0) return EBUSY;
  impl_->core.pds.erase(pd->handle);
  return 0;
}

void Nic::retain_pd(Pd* pd) { ++pd->users; }
void Nic::release_pd(Pd* pd) { --pd->users; }

int Nic::reg_mr(Pd* pd, void* addr, std::size_t length, std::uint64_t iova, unsigned access, Mr** mr) {
  return impl_->core.mrs.reg(pd, addr, length, iova, access, mr);
}

int Nic::alloc_null_mr(Pd* pd, Mr** mr) { return impl_->core.mrs.alloc_null(pd, mr); }

int Nic::reg_dm_mr(Pd* pd, std::shared_ptr<Dm> dm, std::uint64_t offset, std::size_t length, unsigned access, Mr** mr) {
  return impl_->core.mrs.reg_dm(pd, std::move(dm), offset, length, access, mr);
}

DmPool& Nic::device_memory() { return impl_->core.device_memory; }

int Nic::rereg_mr(Mr* mr, int flags, Pd* pd, void* addr, std::size_t length, unsigned access) {
  if (mr->windows > 0) return EINVAL;
  return impl_->core.mrs.rereg(mr, flags, pd, addr, length, access);
}

int Nic::advised_range(const Pd* pd, const ibv_sge& sge, bool for_writing, void** address) const {
  return impl_->core.mrs.find_range(sge, pd, for_writing, address);
}

int Nic::dereg_mr(Mr* mr) {
  if (mr->windows > 0) return EINVAL;  // as from the kernel's soft-RoCE
  impl_->core.mrs.dereg(mr);
  return 0;
}

int Nic::create_ah(Pd* pd, const ibv_ah_attr* attr, Ah** ah) {
  Port* port = impl_->core.port(attr->port_num);
  if (port == nullptr) return EINVAL;
  auto made = std::make_unique<Ah>();
  if (const int error = port->resolve(*attr, &made->path)) return error;
  made->pd = pd;
  made->port_num = attr->port_num;
  Ah* raw = made.get();
  const std::uint32_t index = impl_->core.ahs.insert(std::move(made));
  if (index == 0) return ENOMEM;
  raw->handle = index;
  ++pd->users;
  *ah = raw;
  return 0;
}

int Nic::destroy_ah(Ah* ah) {
  --ah->pd->users;
  impl_->core.ahs.erase(ah->handle);
  return 0;
}

int Nic::post_send(Qp* qp, ibv_send_wr* wr, ibv_send_wr** bad_wr) {
  for (; wr != nullptr; wr = wr->next) {
    if (const int error = nic::post_send(impl_->core, *qp, *wr)) {
      *bad_wr = wr;
      return error;
    }
  }
  return 0;
}

int Nic::post_batch(Qp* qp, ibv_send_wr* wr) {
  const std::uint32_t tail = qp->sq.tail;
  ibv_send_wr* bad = nullptr;
  const int error = post_send(qp, wr, &bad);
  // Nothing was sent yet. In the error state everything is flushed as it is posted, and the queue is empty.
  if (error != 0 && !qp->sq.empty()) qp->sq.tail = tail;
  return error;
}

int Nic::post_recv(Qp* qp, ibv_recv_wr* wr, ibv_recv_wr** bad_wr) {
  for (; wr != nullptr; wr = wr->next) {
    if (const int error = nic::post_recv(impl_->core, *qp, *wr)) {
      *bad_wr = wr;
      return error;
    }
  }
  return 0;
}

void Nic::open_tunnel(std::uint8_t port_num, std::shared_ptr<const wire::Tunnel> tunnel) {
  if (Port* port = impl_->core.port(port_num)) port->add_tunnel(std::move(tunnel));
}

void Nic::close_tunnel(std::uint8_t port_num, const std::shared_ptr<const wire::Tunnel>& tunnel) {
  if (Port* port = impl_->core.port(port_num)) port->remove_tunnel(tunnel);
}

void Nic::set_tunnel(Qp* qp, bool requests, std::shared_ptr<const wire::Tunnel> tunnel) {
  (requests ? qp->request_tunnel : qp->response_tunnel) = std::move(tunnel);
}

void Nic::deliver(std::uint8_t port_num, std::span<const std::uint8_t> frame, Nanos now) {
  Ingress(impl_->core).deliver(port_num, frame, now);
}

bool Nic::pump(Nanos now) {
  Core& core = impl_->core;
  core.set_time(now);
  while (TimerSlot* slot = core.cq_timers.expire(now)) static_cast<Cq&>(*slot).expire(core.events);
  while (TimerSlot* slot = core.timers.expire(now)) handle_timeout(core, static_cast<Qp&>(*slot), now);
  std::size_t left = kPumpBudget;
  while (Qp* qp = core.active.front()) {
    if (left == 0) return false;
    core.active.remove(*qp);
    const std::size_t turn = std::min(left, kTurnBudget);
    // Requests before acknowledgements: an answer that the application just posted is what its peer waits for. Where
    // completions are waited for by events it is the other way round, as from hardware: a program with one channel for
    // both directions may take the first event after its request for that of the request (ib_send_lat -e does).
    const bool responses_first = qp->send_cq != nullptr && qp->send_cq->armed();
    std::size_t sent = responses_first ? send_responses(core, *qp, turn) : 0;
    if (sent < turn) {
      sent += run_sends(core, *qp, turn - sent, now);
    }
    if (!responses_first && sent < turn) sent += send_responses(core, *qp, turn - sent);
    left -= sent;
    if (sent == turn) core.active.add(*qp);
  }
  return true;
}

bool Nic::has_output() const { return !impl_->core.active.empty(); }

Nanos Nic::next_deadline() const { return std::min(impl_->core.timers.next(), impl_->core.cq_timers.next()); }

void Nic::set_time(Nanos now) { impl_->core.set_time(now); }

void* owner_of(const Cq* cq) { return cq->owner; }
int cqe_of(const Cq* cq) { return cq->cqe(); }
std::size_t pending_of(const Cq* cq) { return cq->pending(); }
ibv_ah* verbs_of(Ah* ah) { return &ah->verbs; }
std::uint32_t lkey_of(const Mr* mr) { return mr->key; }
std::uint32_t rkey_of(const Mr* mr) { return mr->null ? 0 : mr->key; }

}  // namespace verbs::soft::nic
