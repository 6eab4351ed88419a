// The life of a connection: its memory and queue pairs.
#include <sys/mman.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "model/base/error.h"
#include "model/channel/connection.h"
#include "model/nic/verbs.h"

namespace verbs::doca_comm::model {

Connection::Connection(doca_dev& dev, CompletionQueues& sends, CompletionQueues& receives, const Sizes& sizes,
                       std::uint32_t number)
    : dev_(dev), sends_(sends), receives_(receives), sizes_(sizes), number_(number), sent_(sizes.send_queue) {
  constexpr std::size_t kAlign = 64;
  stride_ = (sizeof(Frame) + sizes.message + kAlign - 1) / kAlign * kAlign;
  // One more of each than the user asked for: the farewell's.
  size_ = (sent_.slots() + sizes.recv_queue + 1) * stride_ + (kControlReceives + kControlSends) * sizeof(Control);
}

doca_error_t Connection::create(doca_dev& dev, CompletionQueues& sends, CompletionQueues& receives, const Sizes& sizes,
                                std::uint32_t number, std::unique_ptr<Connection>* connection) {
  std::unique_ptr<Connection> made(new Connection(dev, sends, receives, sizes, number));
  if (const int error = made->allocate()) return error_of(error, DOCA_ERROR_INITIALIZATION);
  *connection = std::move(made);
  return DOCA_SUCCESS;
}

int Connection::allocate() {
  const Verbs* verbs = Verbs::get();
  if (const int error = Faults::get().next(Fault::kAllocate)) return error;
  void* memory = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return errno;
  memory_ = static_cast<std::uint8_t*>(memory);
  mr_ = verbs->reg_mr(dev_.pd, memory_, size_, IBV_ACCESS_LOCAL_WRITE);
  if (!mr_) return errno;
  send_cq_ = sends_.reserve(sends_reserved());
  if (!send_cq_) return errno;
  recv_cq_ = receives_.reserve(sizes_.recv_queue + 1);
  if (!recv_cq_) return errno;
  quiet_cq_ = verbs->create_cq(dev_.context, kControlSends, nullptr);
  if (!quiet_cq_) return errno;
  ibv_qp_init_attr init{};
  init.qp_type = IBV_QPT_RC;
  init.send_cq = send_cq_;
  init.recv_cq = recv_cq_;
  init.cap = {data_sends(), sizes_.recv_queue + 1u, 1, 1, 0};
  if (const int error = make_pair(&data_, init)) return error;
  init.send_cq = quiet_cq_;
  init.recv_cq = send_cq_;
  init.cap = {kControlSends, kControlReceives, 1, 1, 0};
  init.sq_sig_all = 1;
  if (const int error = make_pair(&control_, init)) return error;
  for (std::uint32_t slot = 0; slot <= sizes_.recv_queue; ++slot) {
    if (const int error = post_receive(slot)) return error;
  }
  for (std::uint32_t slot = 0; slot < kControlReceives; ++slot) {
    if (const int error = post_control_receive(slot)) return error;
  }
  ibv_port_attr port;
  if (const int error = verbs->query_port(dev_.context, 1, &port)) return error;
  own_.data_qpn = data_->qp_num;
  own_.control_qpn = control_->qp_num;
  if (getrandom(&own_.psn, sizeof own_.psn, 0) != sizeof own_.psn) return errno;
  own_.psn &= 0xffffff;
  own_.max_msg_size = sizes_.message;
  own_.recv_queue_size = sizes_.recv_queue;
  own_.mtu = static_cast<std::uint8_t>(port.active_mtu);
  return 0;
}

int Connection::make_pair(ibv_qp** qp, const ibv_qp_init_attr& init) {
  const Verbs* verbs = Verbs::get();
  ibv_qp_init_attr granted = init;
  *qp = verbs->create_qp(dev_.pd, &granted);
  if (!*qp) return errno;
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = 1;
  // For writes of no bytes: the keep-alive and the flush. No memory is registered for others.
  attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
  return verbs->modify_qp(*qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

int Connection::connect_pair(ibv_qp* qp, const Gid& gid, std::uint32_t qpn, const EndAttributes& peer) {
  const Verbs* verbs = Verbs::get();
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RTR;
  attr.path_mtu = static_cast<ibv_mtu>(std::min(own_.mtu, peer.mtu));
  attr.dest_qp_num = qpn;
  attr.rq_psn = peer.psn;
  attr.max_dest_rd_atomic = 1;
  attr.min_rnr_timer = 1;
  attr.ah_attr.is_global = 1;
  attr.ah_attr.port_num = 1;
  attr.ah_attr.grh.hop_limit = 64;
  std::copy(gid.begin(), gid.end(), attr.ah_attr.grh.dgid.raw);
  const int error = verbs->modify_qp(qp, &attr,
                                     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                         IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  if (error != 0) return error;
  // 134 ms, eight times: a dead peer is noticed within 1.4 seconds of a keep-alive at most 0.3 seconds after its death.
  attr.qp_state = IBV_QPS_RTS;
  attr.timeout = 15;
  attr.retry_cnt = 7;
  attr.rnr_retry = 7;
  attr.sq_psn = own_.psn;
  attr.max_rd_atomic = 1;
  return verbs->modify_qp(
      qp, &attr,
      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

doca_error_t Connection::establish(const Gid& gid, const EndAttributes& peer) {
  if (peer.max_msg_size == 0 || peer.recv_queue_size == 0) return DOCA_ERROR_INVALID_VALUE;
  int error = connect_pair(data_, gid, peer.data_qpn, peer);
  if (error == 0) error = connect_pair(control_, gid, peer.control_qpn, peer);
  if (error != 0) return error_of(error, DOCA_ERROR_INITIALIZATION);
  max_message_ = std::min(sizes_.message, peer.max_msg_size);
  peer_queue_ = peer.recv_queue_size;
  established_ = true;
  return DOCA_SUCCESS;
}

Connection::~Connection() { close(); }

int Connection::close() {
  const Verbs* verbs = Verbs::get();
  int result = 0;
  for (ibv_qp** qp : {&data_, &control_}) {
    if (!*qp) continue;
    const int error = verbs->destroy_qp(*qp);
    if (result == 0) result = error;
    *qp = nullptr;
  }
  if (quiet_cq_) verbs->destroy_cq(std::exchange(quiet_cq_, nullptr));
  if (send_cq_) sends_.release(send_cq_, sends_reserved());
  if (recv_cq_) receives_.release(recv_cq_, sizes_.recv_queue + 1);
  send_cq_ = recv_cq_ = nullptr;
  if (mr_) verbs->dereg_mr(std::exchange(mr_, nullptr));
  if (memory_) munmap(std::exchange(memory_, nullptr), size_);
  return result;
}

}  // namespace verbs::doca_comm::model
