#include "model/channel/connection.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "model/base/error.h"

namespace verbs::doca_comm::model {

namespace {

constexpr std::uint16_t kLongQueue = 1024;
constexpr std::uint32_t kMostHeld = 64;

}  // namespace

// A slot more of each than the user asked for: the disconnect message's.
Connection::Connection(doca_dev& dev, CompletionQueues& sends, CompletionQueues& receives, const Sizes& sizes,
                       std::uint32_t number)
    : sizes_(sizes),
      sent_(sizes.send_queue, sizes.prompt),
      pairs_(dev, sends, receives, sizes, number, sent_.slots()),
      long_queues_(std::max(sizes.send_queue, sizes.recv_queue) >= kLongQueue) {}

doca_error_t Connection::create(doca_dev& dev, CompletionQueues& sends, CompletionQueues& receives, const Sizes& sizes,
                                std::uint32_t number, std::unique_ptr<Connection>* connection) {
  std::unique_ptr<Connection> created(new Connection(dev, sends, receives, sizes, number));
  if (const int error = created->pairs_.open()) return error_of(error, DOCA_ERROR_INITIALIZATION);
  *connection = std::move(created);
  return DOCA_SUCCESS;
}

doca_error_t Connection::establish(const Gid& gid, const EndAttributes& peer) {
  if (peer.max_msg_size == 0 || peer.recv_queue_size == 0) return DOCA_ERROR_INVALID_VALUE;
  if (const int error = pairs_.connect(gid, peer)) return error_of(error, DOCA_ERROR_INITIALIZATION);
  max_message_ = std::min(sizes_.message, peer.max_msg_size);
  peer_queue_ = peer.recv_queue_size;
  fast_path_ = (sizes_.features & peer.features & kFastPath) != 0;
  established_ = true;
  return DOCA_SUCCESS;
}

int Connection::post_frame(FrameKind kind, const void* message, std::size_t size, bool signaled,
                           std::uint32_t consumer) {
  const std::uint32_t slot = sent_.next_slot();
  Frame* frame = pairs_.send_slot(slot);
  *reinterpret_cast<std::uint64_t*>(frame) = 0;
  frame->kind = kind;
  for (int i = 0; i < 3; ++i) frame->consumer[i] = static_cast<std::uint8_t>(consumer >> 8 * i);
  frame->size = static_cast<std::uint32_t>(size);
  if (size != 0) std::memcpy(frame->message, message, size);
  const int error = pairs_.post_frame(slot, size, signaled);
  if (error == 0) sent_.post(signaled);
  return error;
}

int Connection::send(const void* message, std::size_t size) {
  return post_frame(FrameKind::kData, message, size, sent_.signal_due());
}

int Connection::announce(FrameKind kind, std::uint32_t consumer, const Delivery& delivery) {
  const std::size_t size = kind == FrameKind::kDelivered ? sizeof delivery : 0;
  return post_frame(kind, &delivery, size, sent_.signal_due(), consumer);
}

void Connection::flush() {
  if (flushing_ || !sent_.last_unsignaled() || pairs_.post_flush(sent_.last_slot()) != 0) return;
  sent_.flush();
  flushing_ = true;
}

Connection::Received Connection::read(const ibv_wc& completion, std::uint32_t slot, Message* message) const {
  if (completion.status != IBV_WC_SUCCESS || slot >= pairs_.receive_slots()) return Received::kInvalid;
  const Frame* frame = pairs_.receive_slot(slot);
  if (completion.byte_len < sizeof(Frame) || frame->size != completion.byte_len - sizeof(Frame))
    return Received::kInvalid;
  if (frame->kind == FrameKind::kDisconnect) return Received::kDisconnect;
  const bool delivered = frame->kind == FrameKind::kDelivered;
  const bool consumer = delivered || frame->kind == FrameKind::kConsumer || frame->kind == FrameKind::kConsumerExpired;
  const bool fits = fast_path_ && frame->size == (delivered ? sizeof(Delivery) : 0);
  if (consumer ? !fits : frame->kind != FrameKind::kData) return Received::kInvalid;
  *message = {
      .data = frame->message, .size = frame->size, .slot = slot, .kind = frame->kind, .consumer = consumer_of(*frame)};
  if (delivered) std::memcpy(&message->delivery, frame->message, sizeof message->delivery);
  return Received::kMessage;
}

std::uint32_t Connection::consumer_of(const Frame& frame) {
  std::uint32_t number = 0;
  for (int i = 0; i < 3; ++i) number |= static_cast<std::uint32_t>(frame.consumer[i]) << 8 * i;
  return number;
}

// An end of the Comm Channel does not say it.
void Connection::confirm(std::uint32_t count, std::uint32_t mask) {
  const std::uint64_t more = (count - static_cast<std::uint32_t>(consumed_by_peer_)) & mask;
  if (fast_path_ && more <= sent_.posted() - consumed_by_peer_) {
    confirmed_ = std::max(confirmed_, consumed_by_peer_ + more);
  }
}

// The slots of a queue pair's receives are used in their order.
int Connection::consume(std::uint32_t slot) {
  if (held_ > 0 && slot != first_held_ + held_) {
    if (const int error = return_held()) return error;
  }
  if (held_ == 0) first_held_ = slot;
  ++held_;
  // Of a short queue, receives are posted together, with the report to the peer. The peer sees no difference.
  const bool due = long_queues_ ? held_ >= kMostHeld : consumed_ + held_ - reported_ >= report_interval();
  return due || slot + 1 >= pairs_.receive_slots() ? return_held() : 0;
}

int Connection::return_held() {
  if (long_queues_) pairs_.discard_receive_slots(first_held_, first_held_ + held_);
  if (const int error = pairs_.post_receives(first_held_, first_held_ + held_)) return error;
  consumed_ += held_;
  held_ = 0;
  if (consumed_ - reported_ >= report_interval() && poll_control()) report_consumed();
  return 0;
}

// With a full control queue the report waits for the next message or the next keep-alive.
void Connection::report_consumed() {
  if (disconnected_ || control_posted_ - control_completed_ >= QueuePairs::kControlSends - 2) return;
  if (post_control(FrameKind::kConsumed, static_cast<std::uint32_t>(consumed_)) == 0) reported_ = consumed_;
}

int Connection::post_control(FrameKind kind, std::uint32_t value) {
  const std::uint32_t slot = control_posted_ % QueuePairs::kControlSends;
  *pairs_.control_send_slot(slot) = {.kind = kind, .reserved = {}, .value = value};
  const int error = pairs_.post_control(slot);
  if (error == 0) ++control_posted_;
  return error;
}

bool Connection::poll_control() {
  if (!control_failed_ && !control_drained()) control_completed_ += pairs_.poll_control_sends(&control_failed_);
  return !control_failed_;
}

bool Connection::complete(const ibv_wc& completion, const WorkId& id) {
  if (completion.status != IBV_WC_SUCCESS) return false;
  if (id.work == Work::kControlReceive) return receive_control(completion, id.slot);
  if (id.work == Work::kFlush) flushing_ = false;
  sent_.complete(id.slot);
  if (long_queues_) discard_sent();
  if (sizes_.prompt && sent_.all_unsignaled()) flush();
  return true;
}

void Connection::discard_sent() {
  // A slot that was used again is not free.
  if (sent_.posted() > discarded_ + sent_.slots()) discarded_ = sent_.posted() - sent_.slots();
  while (sent_.completed() >= discarded_ + kMostHeld) {
    const auto first = static_cast<std::uint32_t>(discarded_ % sent_.slots());
    const std::uint32_t end = std::min(first + kMostHeld, sent_.slots());
    pairs_.discard_send_slots(first, end);
    discarded_ += end - first;
  }
}

bool Connection::receive_control(const ibv_wc& completion, std::uint32_t slot) {
  if (completion.byte_len != sizeof(Control) || slot >= QueuePairs::kControlReceives) return false;
  const Control control = *pairs_.control_receive_slot(slot);
  if (pairs_.post_control_receive(slot) != 0) return false;
  // Nothing may follow the disconnect message.
  if (peer_disconnected_) return false;
  if (control.kind == FrameKind::kDisconnect) {
    peer_disconnected_ = true;
    confirm(control.value, 0xffffffff);
    return true;
  }
  // The value is the lower half of a count that only grows and never exceeds the number of sent messages. So a peer can
  // send no more reports than it received messages.
  const std::uint64_t more = static_cast<std::uint32_t>(control.value - static_cast<std::uint32_t>(consumed_by_peer_));
  if (control.kind != FrameKind::kConsumed || more == 0 || more > sent_.posted() - consumed_by_peer_) return false;
  consumed_by_peer_ += more;
  return true;
}

bool Connection::tend() {
  if (!poll_control()) return false;
  if (!long_queues_ && held_ > 0 && return_held() != 0) return false;
  if (consumed_ != reported_) report_consumed();
  flush();
  return true;
}

void Connection::keep_alive() {
  if (control_drained() && pairs_.post_keep_alive() == 0) ++control_posted_;
}

void Connection::send_disconnect(bool last) {
  if (disconnected_) return;
  const auto count = static_cast<std::uint32_t>(consumed_ + held_);
  if (last && in_flight() <= sizes_.send_queue) post_frame(FrameKind::kDisconnect, nullptr, 0, true, count);
  disconnected_ = true;
  post_control(FrameKind::kDisconnect, count);
}

bool Connection::drained() { return !poll_control() || peer_disconnected_ || (control_drained() && in_flight() == 0); }

}  // namespace verbs::doca_comm::model
