// What a connection sends and receives.
#include "model/channel/connection.h"

#include <algorithm>
#include <cstring>

#include "model/nic/verbs.h"

namespace verbs::doca_comm::model {

Frame* Connection::receive_slot(std::uint32_t slot) const { return reinterpret_cast<Frame*>(memory_ + slot * stride_); }
Frame* Connection::send_slot(std::uint32_t slot) const { return receive_slot(sizes_.recv_queue + 1 + slot); }
Control* Connection::control_slot(std::uint32_t slot) const {
  return reinterpret_cast<Control*>(memory_ + (sent_.slots() + sizes_.recv_queue + 1) * stride_) + slot;
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

int Connection::post_frame(FrameKind kind, const void* message, std::size_t size, bool asks) {
  const std::uint32_t slot = sent_.next_slot();
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
  if (asks) request.send_flags = IBV_SEND_SIGNALED;
  const int error = Verbs::post_send(data_, &request);
  if (error == 0) sent_.post(asks);
  return error;
}

int Connection::send(const void* message, std::size_t size) {
  return post_frame(FrameKind::kData, message, size, sent_.due());
}

void Connection::flush() {
  if (flushing_ || !sent_.open()) return;
  ibv_send_wr request{};
  request.wr_id = WorkId{number_, Work::kFlush, sent_.last_slot()}.pack();
  request.opcode = IBV_WR_RDMA_WRITE;
  request.send_flags = IBV_SEND_SIGNALED;
  if (Verbs::post_send(data_, &request) != 0) return;
  sent_.ask();
  flushing_ = true;
}

Connection::Arrival Connection::read(const ibv_wc& completion, std::uint32_t slot, Message* message) const {
  if (completion.status != IBV_WC_SUCCESS || slot > sizes_.recv_queue) return Arrival::kBroken;
  const Frame* frame = receive_slot(slot);
  // The peer wrote all of it, so none of it is trusted.
  if (completion.byte_len < sizeof(Frame) || frame->size != completion.byte_len - sizeof(Frame))
    return Arrival::kBroken;
  if (frame->kind == FrameKind::kFarewell) return Arrival::kFarewell;
  if (frame->kind != FrameKind::kData) return Arrival::kBroken;
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
  if (post_control(FrameKind::kConsumed, static_cast<std::uint32_t>(consumed_)) == 0) told_ = consumed_;
}

int Connection::post_control(FrameKind kind, std::uint32_t value) {
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
  if (id.work == Work::kFlush) flushing_ = false;
  sent_.complete(id.slot);
  return true;
}

bool Connection::take_control(const ibv_wc& completion, std::uint32_t slot) {
  if (completion.byte_len != sizeof(Control) || slot >= kControlReceives) return false;
  const Control control = *control_slot(slot);
  if (post_control_receive(slot) != 0) return false;
  // After the farewell there is nothing to say.
  if (left_) return false;
  if (control.kind == FrameKind::kFarewell) {
    left_ = true;
    return true;
  }
  // The count is the lower half of one that only grows, and nobody consumes what was not sent. So a peer can send no
  // more of these than it was sent messages.
  const std::uint64_t more = static_cast<std::uint32_t>(control.value - static_cast<std::uint32_t>(consumed_by_peer_));
  if (control.kind != FrameKind::kConsumed || more == 0 || more > sent_.posted() - consumed_by_peer_) return false;
  consumed_by_peer_ += more;
  return true;
}

bool Connection::keep_alive() {
  if (!reap_control()) return false;
  if (consumed_ != told_) tell_consumed();
  flush();
  if (control_posted_ != control_completed_) return true;  // what is on its way tells as much
  ibv_send_wr request{};
  request.opcode = IBV_WR_RDMA_WRITE;
  if (Verbs::post_send(control_, &request) == 0) ++control_posted_;
  return true;
}

void Connection::say_farewell() {
  if (in_flight() <= sizes_.send_queue) post_frame(FrameKind::kFarewell, nullptr, 0, true);
  parted_ = true;
  post_control(FrameKind::kFarewell, 0);
}

bool Connection::quiet() {
  // A failure is an answer too.
  return !reap_control() || (control_posted_ == control_completed_ && in_flight() == 0);
}

}  // namespace verbs::doca_comm::model
