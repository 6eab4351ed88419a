#include "model/channel/queue_pairs.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "model/nic/reliable.h"
#include "model/nic/verbs.h"

namespace verbs::doca_comm::model {

QueuePairs::QueuePairs(doca_dev& dev, CompletionQueues& sends, CompletionQueues& receives, const Sizes& sizes,
                       std::uint32_t number, std::uint32_t send_slots)
    : dev_(dev), sends_(sends), receives_(receives), sizes_(sizes), number_(number), send_slots_(send_slots) {
  constexpr std::size_t kAlign = 64;
  stride_ = (sizeof(Frame) + sizes.message + kAlign - 1) / kAlign * kAlign;
  size_ = (receive_slots() + send_slots) * stride_ + (kControlReceives + kControlSends) * sizeof(Control);
}

Frame* QueuePairs::receive_slot(std::uint32_t slot) const { return reinterpret_cast<Frame*>(memory_ + slot * stride_); }
Frame* QueuePairs::send_slot(std::uint32_t slot) const { return receive_slot(receive_slots() + slot); }
Control* QueuePairs::control_slots() const {
  return reinterpret_cast<Control*>(memory_ + (receive_slots() + send_slots_) * stride_);
}
Control* QueuePairs::control_receive_slot(std::uint32_t slot) const { return control_slots() + slot; }
Control* QueuePairs::control_send_slot(std::uint32_t slot) const { return control_slots() + kControlReceives + slot; }

// Whole pages only: others belong to slots beside them, too.
void QueuePairs::discard(const Frame* first, const Frame* end) {
  static const auto kPage = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t from = (reinterpret_cast<std::uintptr_t>(first) + kPage - 1) / kPage * kPage;
  const std::uintptr_t to = reinterpret_cast<std::uintptr_t>(end) / kPage * kPage;
  if (from < to) madvise(reinterpret_cast<void*>(from), to - from, MADV_DONTNEED);
}
void QueuePairs::discard_receive_slots(std::uint32_t first, std::uint32_t end) {
  discard(receive_slot(first), receive_slot(end));
}
void QueuePairs::discard_send_slots(std::uint32_t first, std::uint32_t end) {
  discard(send_slot(first), send_slot(end));
}

int QueuePairs::open() {
  const Verbs* verbs = Verbs::get();
  if (const int error = Faults::get().next(Fault::kAllocate)) return error;
  void* memory = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return errno;
  memory_ = static_cast<std::uint8_t*>(memory);
  mr_ = verbs->reg_mr(dev_.pd, memory_, size_, IBV_ACCESS_LOCAL_WRITE);
  if (!mr_) return errno;
  verbs->keep_mapped(mr_);
  send_cq_ = sends_.reserve(sends_reserved());
  if (!send_cq_) return errno;
  recv_cq_ = receives_.reserve(static_cast<int>(receive_slots()));
  if (!recv_cq_) return errno;
  control_send_cq_ = verbs->create_cq(dev_.context, kControlSends, nullptr);
  if (!control_send_cq_) return errno;
  ibv_qp_init_attr init{};
  init.send_cq = send_cq_;
  init.recv_cq = recv_cq_;
  init.cap = {data_sends(), receive_slots(), 1, 1, 0};
  if (const int error = create_reliable(dev_.pd, init, &data_)) return error;
  init.send_cq = control_send_cq_;
  init.recv_cq = send_cq_;
  init.cap = {kControlSends, kControlReceives, 1, 1, 0};
  init.sq_sig_all = 1;
  if (const int error = create_reliable(dev_.pd, init, &control_)) return error;
  if (const int error = post_receives(0, receive_slots())) return error;
  for (std::uint32_t slot = 0; slot < kControlReceives; ++slot) {
    if (const int error = post_control_receive(slot)) return error;
  }
  ibv_port_attr port;
  if (const int error = verbs->query_port(dev_.context, 1, &port)) return error;
  own_.data_qpn = data_->qp_num;
  own_.control_qpn = control_->qp_num;
  if (const int error = random_psn(&own_.psn)) return error;
  own_.max_msg_size = sizes_.message;
  own_.recv_queue_size = sizes_.recv_queue;
  own_.mtu = static_cast<std::uint8_t>(port.active_mtu);
  own_.features = sizes_.features;
  return 0;
}

int QueuePairs::connect(const Gid& gid, const EndAttributes& peer) {
  ReliablePath path{
      .gid = gid, .qpn = peer.data_qpn, .own_psn = own_.psn, .psn = peer.psn, .mtu = std::min(own_.mtu, peer.mtu)};
  if (const int error = connect_reliable(data_, path)) return error;
  path.qpn = peer.control_qpn;
  return connect_reliable(control_, path);
}

int QueuePairs::close() {
  const Verbs* verbs = Verbs::get();
  int result = 0;
  for (ibv_qp** qp : {&data_, &control_}) {
    if (!*qp) continue;
    const int error = verbs->destroy_qp(*qp);
    if (result == 0) result = error;
    *qp = nullptr;
  }
  if (control_send_cq_) verbs->destroy_cq(std::exchange(control_send_cq_, nullptr));
  if (send_cq_) sends_.release(send_cq_, sends_reserved());
  if (recv_cq_) receives_.release(recv_cq_, static_cast<int>(receive_slots()));
  send_cq_ = recv_cq_ = nullptr;
  if (mr_) verbs->dereg_mr(std::exchange(mr_, nullptr));
  if (memory_) munmap(std::exchange(memory_, nullptr), size_);
  return result;
}

int QueuePairs::post_receives(std::uint32_t first, std::uint32_t end) {
  constexpr std::uint32_t kMost = 16;
  std::array<ibv_recv_wr, kMost> requests;
  std::array<ibv_sge, kMost> sges;
  const auto size = static_cast<std::uint32_t>(sizeof(Frame) + sizes_.message);
  while (first < end) {
    const std::uint32_t count = std::min(end - first, kMost);
    for (std::uint32_t i = 0; i < count; ++i) {
      sges[i] = {reinterpret_cast<std::uintptr_t>(receive_slot(first + i)), size, mr_->lkey};
      requests[i] = {.wr_id = WorkId{number_, Work::kReceive, first + i}.pack(),
                     .next = i + 1 < count ? &requests[i + 1] : nullptr,
                     .sg_list = &sges[i],
                     .num_sge = 1};
    }
    if (const int error = Verbs::post_recv(data_, requests.data())) return error;
    first += count;
  }
  return 0;
}

int QueuePairs::post_control_receive(std::uint32_t slot) {
  ibv_sge sge{reinterpret_cast<std::uintptr_t>(control_receive_slot(slot)), sizeof(Control), mr_->lkey};
  ibv_recv_wr request{};
  request.wr_id = WorkId{number_, Work::kControlReceive, slot}.pack();
  request.sg_list = &sge;
  request.num_sge = 1;
  return Verbs::post_recv(control_, &request);
}

int QueuePairs::post_frame(std::uint32_t slot, std::size_t message_size, bool signaled) {
  ibv_sge sge{reinterpret_cast<std::uintptr_t>(send_slot(slot)),
              static_cast<std::uint32_t>(sizeof(Frame) + message_size), mr_->lkey};
  ibv_send_wr request{};
  request.wr_id = WorkId{number_, Work::kSend, slot}.pack();
  request.sg_list = &sge;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  if (signaled) request.send_flags = IBV_SEND_SIGNALED;
  return Verbs::post_send(data_, &request);
}

int QueuePairs::post_flush(std::uint32_t slot) {
  ibv_send_wr request{};
  request.wr_id = WorkId{number_, Work::kFlush, slot}.pack();
  request.opcode = IBV_WR_RDMA_WRITE;
  request.send_flags = IBV_SEND_SIGNALED;
  return Verbs::post_send(data_, &request);
}

int QueuePairs::post_control(std::uint32_t slot) {
  ibv_sge sge{reinterpret_cast<std::uintptr_t>(control_send_slot(slot)), sizeof(Control), mr_->lkey};
  ibv_send_wr request{};
  request.sg_list = &sge;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  request.send_flags = IBV_SEND_SOLICITED;
  return Verbs::post_send(control_, &request);
}

int QueuePairs::post_keep_alive() {
  ibv_send_wr request{};
  request.opcode = IBV_WR_RDMA_WRITE;
  return Verbs::post_send(control_, &request);
}

std::uint32_t QueuePairs::poll_control_sends(bool* failed) {
  ibv_wc completions[kControlSends];
  const int count = std::max(0, ibv_poll_cq(control_send_cq_, kControlSends, completions));
  for (int i = 0; i < count; ++i) *failed |= completions[i].status != IBV_WC_SUCCESS;
  return static_cast<std::uint32_t>(count);
}

}  // namespace verbs::doca_comm::model
