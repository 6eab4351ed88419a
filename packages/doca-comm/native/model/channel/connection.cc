#include "connection.h"

#include <sys/mman.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "../error.h"
#include "../nic/verbs.h"

namespace verbs::doca {

namespace {

enum Kind : std::uint8_t { kData = 1, kFarewell, kConsumed };

}  // namespace

struct Connection::Frame {
  std::uint8_t kind;
  std::uint8_t reserved[3];
  std::uint32_t size;
  std::uint8_t message[];
};

struct Connection::Control {
  std::uint8_t kind;
  std::uint8_t reserved[3];
  std::uint32_t value;
};

Connection::Connection(doca_dev& dev, CompletionQueues& sends, CompletionQueues& receives, const Sizes& sizes,
                       std::uint32_t number)
    : dev_(dev), sends_(sends), receives_(receives), sizes_(sizes), number_(number) {
  constexpr std::size_t kAlign = 64;
  stride_ = (sizeof(Frame) + sizes.message + kAlign - 1) / kAlign * kAlign;
  // One more of each than the user asked for: the farewell's.
  size_ =
      (sizes.send_queue + 1 + sizes.recv_queue + 1) * stride_ + (kControlReceives + kControlSends) * sizeof(Control);
}

Connection::Frame* Connection::receive_slot(std::uint32_t slot) const {
  return reinterpret_cast<Frame*>(memory_ + slot * stride_);
}
Connection::Frame* Connection::send_slot(std::uint32_t slot) const {
  return receive_slot(sizes_.recv_queue + 1 + slot);
}
Connection::Control* Connection::control_slot(std::uint32_t slot) const {
  return reinterpret_cast<Control*>(memory_ + (sizes_.send_queue + 1 + sizes_.recv_queue + 1) * stride_) + slot;
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
  send_cq_ = sends_.reserve(sizes_.send_queue + 1 + static_cast<int>(kControlReceives));
  if (!send_cq_) return errno;
  recv_cq_ = receives_.reserve(sizes_.recv_queue + 1);
  if (!recv_cq_) return errno;
  quiet_cq_ = verbs->create_cq(dev_.context, kControlSends, nullptr);
  if (!quiet_cq_) return errno;
  if (const int error = make_pair(&data_, sizes_.send_queue + 1u, sizes_.recv_queue + 1u, send_cq_, recv_cq_)) {
    return error;
  }
  if (const int error = make_pair(&control_, kControlSends, kControlReceives, quiet_cq_, send_cq_)) return error;
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

int Connection::make_pair(ibv_qp** qp, std::uint32_t sends, std::uint32_t receives, ibv_cq* send_cq, ibv_cq* recv_cq) {
  const Verbs* verbs = Verbs::get();
  ibv_qp_init_attr init{};
  init.send_cq = send_cq;
  init.recv_cq = recv_cq;
  init.qp_type = IBV_QPT_RC;
  init.sq_sig_all = 1;
  init.cap = {
      .max_send_wr = sends, .max_recv_wr = receives, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
  *qp = verbs->create_qp(dev_.pd, &init);
  if (!*qp) return errno;
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = 1;
  attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;  // for the keep-alive; no memory is registered for writes
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
  if (send_cq_) sends_.release(send_cq_, sizes_.send_queue + 1 + static_cast<int>(kControlReceives));
  if (recv_cq_) receives_.release(recv_cq_, sizes_.recv_queue + 1);
  send_cq_ = recv_cq_ = nullptr;
  if (mr_) verbs->dereg_mr(std::exchange(mr_, nullptr));
  if (memory_) munmap(std::exchange(memory_, nullptr), size_);
  return result;
}

int Connection::post_receive(std::uint32_t slot) {
  ibv_sge sge{reinterpret_cast<std::uintptr_t>(receive_slot(slot)),
              static_cast<std::uint32_t>(sizeof(Frame) + sizes_.message), mr_->lkey};
  ibv_recv_wr request{};
  request.wr_id = WorkId{number_, Work::kReceive, slot}.pack();
  request.sg_list = &sge;
  request.num_sge = 1;
  return Verbs::post_recv(data_, &request);
}

int Connection::post_control_receive(std::uint32_t slot) {
  ibv_sge sge{reinterpret_cast<std::uintptr_t>(control_slot(slot)), sizeof(Control), mr_->lkey};
  ibv_recv_wr request{};
  request.wr_id = WorkId{number_, Work::kControlReceive, slot}.pack();
  request.sg_list = &sge;
  request.num_sge = 1;
  return Verbs::post_recv(control_, &request);
}

int Connection::post_frame(std::uint8_t kind, const void* message, std::size_t size) {
  const auto slot = static_cast<std::uint32_t>(posted_ % (sizes_.send_queue + 1u));
  Frame* frame = send_slot(slot);
  *reinterpret_cast<std::uint64_t*>(frame) = 0;
  frame->kind = kind;
  frame->size = static_cast<std::uint32_t>(size);
  if (size != 0) std::memcpy(frame->message, message, size);
  ibv_sge sge{reinterpret_cast<std::uintptr_t>(frame), static_cast<std::uint32_t>(sizeof(Frame) + size), mr_->lkey};
  ibv_send_wr request{};
  request.wr_id = WorkId{number_, Work::kSend, slot}.pack();
  request.sg_list = &sge;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  const int error = Verbs::post_send(data_, &request);
  if (error == 0) ++posted_;
  return error;
}

int Connection::send(const void* message, std::size_t size) { return post_frame(kData, message, size); }

Connection::Arrival Connection::read(const ibv_wc& completion, std::uint32_t slot, Message* message) const {
  if (completion.status != IBV_WC_SUCCESS || slot > sizes_.recv_queue) return Arrival::kBroken;
  const Frame* frame = receive_slot(slot);
  // The peer wrote all of it, so none of it is trusted.
  if (completion.byte_len < sizeof(Frame) || frame->size != completion.byte_len - sizeof(Frame))
    return Arrival::kBroken;
  if (frame->kind == kFarewell) return Arrival::kFarewell;
  if (frame->kind != kData) return Arrival::kBroken;
  *message = {frame->message, frame->size, slot};
  return Arrival::kMessage;
}

int Connection::consume(std::uint32_t slot) {
  if (const int error = post_receive(slot)) return error;
  ++consumed_;
  const std::uint64_t often = std::max<std::uint64_t>(1, sizes_.recv_queue / 4);
  if (consumed_ - told_ < often) return 0;
  if (reap_control()) tell_consumed();
  return 0;
}

// If too many are on their way already, the next message or the next tick says it.
void Connection::tell_consumed() {
  if (parted_ || control_posted_ - control_completed_ >= kControlSends - 2) return;
  if (post_control(kConsumed, static_cast<std::uint32_t>(consumed_)) == 0) told_ = consumed_;
}

int Connection::post_control(std::uint8_t kind, std::uint32_t value) {
  Control* control = control_slot(kControlReceives + control_posted_ % kControlSends);
  *control = {.kind = kind, .reserved = {}, .value = value};
  ibv_sge sge{reinterpret_cast<std::uintptr_t>(control), sizeof(Control), mr_->lkey};
  ibv_send_wr request{};
  request.sg_list = &sge;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  const int error = Verbs::post_send(control_, &request);
  if (error == 0) ++control_posted_;
  return error;
}

bool Connection::reap_control() {
  ibv_wc completions[kControlSends];
  if (failed_ || control_posted_ == control_completed_) return !failed_;
  const int count = ibv_poll_cq(quiet_cq_, kControlSends, completions);
  for (int i = 0; i < count; ++i) {
    ++control_completed_;
    failed_ |= completions[i].status != IBV_WC_SUCCESS;
  }
  return !failed_;
}

bool Connection::complete(const ibv_wc& completion, const WorkId& id) {
  if (completion.status != IBV_WC_SUCCESS) return false;
  if (id.work == Work::kControlReceive) return take_control(completion, id.slot);
  ++completed_;
  return true;
}

bool Connection::take_control(const ibv_wc& completion, std::uint32_t slot) {
  if (completion.byte_len != sizeof(Control) || slot >= kControlReceives) return false;
  const Control control = *control_slot(slot);
  if (post_control_receive(slot) != 0) return false;
  // After the farewell there is nothing to say.
  if (left_) return false;
  if (control.kind == kFarewell) {
    left_ = true;
    return true;
  }
  // The count is the lower half of one that only grows, and nobody consumes what was not sent. So a peer can send no
  // more of these than it was sent messages.
  const std::uint64_t more = static_cast<std::uint32_t>(control.value - static_cast<std::uint32_t>(consumed_by_peer_));
  if (control.kind != kConsumed || more == 0 || more > posted_ - consumed_by_peer_) return false;
  consumed_by_peer_ += more;
  return true;
}

bool Connection::keep_alive() {
  if (!reap_control()) return false;
  if (consumed_ != told_) tell_consumed();
  if (control_posted_ != control_completed_) return true;  // what is on its way tells as much
  ibv_send_wr request{};
  request.opcode = IBV_WR_RDMA_WRITE;
  if (Verbs::post_send(control_, &request) == 0) ++control_posted_;
  return true;
}

void Connection::say_farewell() {
  if (in_flight() <= sizes_.send_queue) post_frame(kFarewell, nullptr, 0);
  parted_ = true;
  post_control(kFarewell, 0);
}

bool Connection::quiet() {
  // A failure is an answer too.
  return !reap_control() || (control_posted_ == control_completed_ && in_flight() == 0);
}

}  // namespace verbs::doca
