#include "model/channel/transport.h"

#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "model/base/error.h"
#include "model/nic/verbs.h"

namespace verbs::doca_comm::model {

namespace {

// More than the time after which the NIC reports a peer that does not acknowledge.
constexpr Nanos kDisconnectTimeout = 1500 * kMillisecond;
// How long an end that leaves waits for acknowledgements before it asks whether the other end has left, too. Asked
// again after twice that time, and so on.
constexpr Nanos kFirstAsk = 2 * kMillisecond;
constexpr Nanos kLastAsk = 32 * kMillisecond;

void sleep_for(Nanos time) {
  const timespec pause{0, static_cast<long>(time)};
  nanosleep(&pause, nullptr);
}

}  // namespace

doca_error_t Transport::open(int set) {
  shared_ = set >= 0;
  const int error = shared_ ? recv_events_.open_in(set, dev_.context) : recv_events_.open(dev_.context);
  if (error != 0) return error_of(error, DOCA_ERROR_INITIALIZATION);
  receives_.open(dev_.context, recv_events_.completion_channel());
  if (shared_) {
    sends_.open(dev_.context, recv_events_.completion_channel());
    sends_.share(receives_);
    receives_.share(sends_);
  } else {
    if (const int failed = send_events_.open(dev_.context)) return error_of(failed, DOCA_ERROR_INITIALIZATION);
    sends_.open(dev_.context, send_events_.completion_channel());
  }
  return DOCA_SUCCESS;
}

void Transport::close() {
  peers_.each([this](Peer& peer) { remove(peer); });
  sends_.close();
  receives_.close();
  send_events_.close();
  recv_events_.close();
}

doca_error_t Transport::add(Peer** peer) {
  losses_.reserve(peers_.count() + 1);
  auto created = std::make_shared<Peer>();
  created->transport = this;
  created->number = peers_.next_number();
  if (const doca_error_t error =
          Connection::create(dev_, sends_, receives_, sizes_, created->number, &created->connection)) {
    return error;
  }
  *peer = peers_.add(std::move(created));
  return DOCA_SUCCESS;
}

void Transport::remove(Peer& peer) {
  std::erase_if(losses_, [&](const Loss& loss) { return loss.number == peer.number; });
  peers_.remove(peer);
}

void Transport::poll_sends() {
  ibv_wc completions[kBatch];
  int count = 0;
  while ((count = sends_.poll(completions, kBatch)) > 0) {
    for (int i = 0; i < count; ++i) {
      const WorkId id = WorkId::unpack(completions[i].wr_id);
      Peer* peer = peers_.find(id.connection);
      if (!peer || (peer->lost && id.work == Work::kControlReceive)) continue;
      if (!peer->connection->complete(completions[i], id)) mark_lost(*peer);
    }
  }
}

doca_error_t Transport::sendable(Peer& peer) {
  if (peer.lost || peer.connection->peer_disconnected()) return DOCA_ERROR_CONNECTION_RESET;
  Connection& connection = *peer.connection;
  if (!connection.established()) return DOCA_ERROR_NOT_CONNECTED;
  if (connection.poll_due() || !connection.has_credit()) poll_sends();
  if (peer.lost || connection.peer_disconnected()) return DOCA_ERROR_CONNECTION_RESET;
  peer.blocked = !has_room(peer);
  return peer.blocked ? DOCA_ERROR_AGAIN : DOCA_SUCCESS;
}

doca_error_t Transport::announce(Peer& peer, FrameKind kind, std::uint32_t consumer, const Delivery& delivery) {
  if (const doca_error_t error = sendable(peer)) return error;
  return peer.connection->announce(kind, consumer, delivery) == 0 ? DOCA_SUCCESS : DOCA_ERROR_INITIALIZATION;
}

doca_error_t Transport::send(Peer& peer, const void* message, std::size_t size) {
  const doca_error_t error = sendable(peer);
  const bool full = error == DOCA_ERROR_AGAIN;
  if (error != DOCA_SUCCESS && !full) return error;
  // A message that never fits is not to be tried again. (In the shorter form of these lines, GCC 14 inverts the
  // condition.)
  if (size > peer.connection->max_message()) return DOCA_ERROR_INVALID_VALUE;
  if (full) return error;
  if (const int failed = peer.connection->send(message, size)) {
    // post_send gives EINVAL for a queue pair that is not in a state to send.
    return error_of(failed, failed == EINVAL ? DOCA_ERROR_INITIALIZATION : DOCA_ERROR_UNKNOWN);
  }
  ++peer.current.send_messages;
  peer.current.send_bytes += size;
  return DOCA_SUCCESS;
}

bool Transport::fetch() {
  if (batch_next_ < batch_size_) return true;
  if (receives_.idle()) {
    const bool some = receives_.drain_events();
    // It took the event of a send with it, which the program may be about to wait for.
    if (shared_ && send_armed_ && !sends_.armed()) notify_send();
    if (!some) return false;
  }
  batch_next_ = 0;
  batch_size_ = receives_.poll(batch_, kBatch);
  poll_failed_ = batch_size_ < 0;
  if (poll_failed_) batch_size_ = 0;
  return batch_size_ > 0;
}

bool Transport::rearm() {
  if (!recv_armed_ || poll_failed_ || receives_.armed()) return false;
  if (rearmed_ == kMostRearmed) {
    notify_recv();
    return false;
  }
  ++rearmed_;
  return receives_.arm();
}

void Transport::advance() {
  ++batch_next_;
  ++handled_;
}

void Transport::take(Peer& peer, const Connection::Message& found) {
  advance();
  if (found.kind == FrameKind::kData) {
    ++peer.current.recv_messages;
    peer.current.recv_bytes += found.size;
  }
  peer.known = true;
  // The message is delivered even if its receive cannot be posted again, which ends the connection. A lost peer gets no
  // more credits.
  if (!peer.lost && peer.connection->consume(found.slot) != 0) mark_lost(peer);
}

doca_error_t Transport::deliver(Peer& peer, const Connection::Message& found, void* message, std::size_t* size) {
  const bool fits = found.size <= *size;
  *size = found.size;
  if (!fits) return DOCA_ERROR_INVALID_VALUE;  // the message stays, for a larger buffer
  std::memcpy(message, found.data, found.size);
  take(peer, found);
  return DOCA_SUCCESS;
}

Transport::Next Transport::next(Peer** peer, Connection::Message* found) {
  for (;;) {
    if (!losses_.empty() && handled_ >= losses_.front().due && (*peer = next_loss())) return Next::kLoss;
    if (!fetch() && !(rearm() && fetch())) break;
    const ibv_wc& completion = batch_[batch_next_];
    const WorkId id = WorkId::unpack(completion.wr_id);
    *peer = peers_.find(id.connection);
    if (!*peer || (*peer)->receive_closed) {
      advance();
      continue;
    }
    const Connection::Received received = (*peer)->connection->read(completion, id.slot, found);
    if (received == Connection::Received::kMessage) return Next::kMessage;
    if (received == Connection::Received::kDisconnect) (*peer)->connection->read_disconnect(id.slot);
    advance();
    (*peer)->receive_closed = true;
    mark_lost(**peer);
  }
  if (poll_failed_) return Next::kFailed;
  return (*peer = next_loss()) ? Next::kLoss : Next::kNone;
}

doca_error_t Transport::receive(void* message, std::size_t* size, doca_comm_channel_addr_t** from) {
  Peer* peer = nullptr;
  Connection::Message found;
  switch (next(&peer, &found)) {
    case Next::kMessage:
      *from = peers_.address_of(*peer);
      return deliver(*peer, found, message, size);
    case Next::kLoss:
      *from = peers_.address_of(*peer);
      return DOCA_ERROR_CONNECTION_RESET;
    case Next::kFailed:
      return DOCA_ERROR_UNKNOWN;
    default:
      return DOCA_ERROR_AGAIN;
  }
}

// nullptr if no loss is to be reported.
Peer* Transport::next_loss() {
  while (!losses_.empty()) {
    Peer* peer = peers_.find(losses_.front().number);
    if (peer && peer->leaving) peer = nullptr;
    if (peer && service_ && !peer->known) {
      remove(*peer);  // with its entry in losses_
      continue;
    }
    losses_.erase(losses_.begin());
    if (peer) return peer;
  }
  return nullptr;
}

doca_error_t Transport::update(Peer& peer) {
  poll_sends();
  if (peer.connection->peer_disconnected()) mark_lost(peer);
  if (!peer.lost) peer.connection->flush();
  peer.current.in_flight = peer.connection->in_flight();
  peer.updated = peer.current;
  if (peer.lost) return DOCA_ERROR_CONNECTION_ABORTED;
  return peer.connection->established() ? DOCA_SUCCESS : DOCA_ERROR_CONNECTION_INPROGRESS;
}

void Transport::mark_lost(Peer& peer) {
  if (peer.lost) return;
  peer.lost = true;
  ++changes_;
  losses_.push_back({peer.number, handled_ + kBatch + receives_.backlog(kBatch)});
  notify_recv();
  notify_send();
}

Nanos Transport::keep_alive(Liveness& liveness, Nanos time) {
  poll_sends();
  bool waits = false;
  peers_.each([&](Peer& peer) {
    if (peer.lost || !peer.connection->established()) return;
    const bool waited = peer.connection->awaits_keep_alive();
    if (!peer.connection->tend()) return mark_lost(peer);
    if (peer.connection->awaits_keep_alive()) {
      waits = true;
      return;
    }
    if (waited) liveness.answered(peer.remote, time);
    if (time - peer.asked_at < Liveness::kOwnInterval && !liveness.claims(peer.remote, time)) return;
    peer.asked_at = time;
    peer.connection->keep_alive();
    waits = true;
  });
  return waits ? Liveness::kAnswerTime : Liveness::kInterval - Liveness::kAnswerTime;
}

bool Transport::awaits_report() {
  bool report = false;
  bool slot = false;
  peers_.each([&](const Peer& peer) {
    if (peer.blocked) (peer.connection->has_credit() ? slot : report) = true;
  });
  return report && !slot;
}

void Transport::arm_send() {
  using Awaits = CompletionQueues::Awaits;
  send_events_.clear();
  send_armed_ = true;
  sends_.drain_events();
  poll_sends();
  // While the queue of a peer is full, acknowledgements of what is in it would be events for nothing.
  const bool report = awaits_report();
  sends_.arm(report ? Awaits::kSolicited : Awaits::kAny);
  poll_sends();
  if (report && !awaits_report()) {
    sends_.arm(Awaits::kAny);
    poll_sends();
  }
  bool room = false;
  peers_.each([&](Peer& peer) {
    if (!peer.lost && peer.connection->all_unsignaled()) peer.connection->flush();
    if (!peer.blocked || !(peer.lost || peer.connection->peer_disconnected() || has_room(peer))) return;
    peer.blocked = false;
    room = true;
  });
  if (room) notify_send();
}

void Transport::arm_recv(bool ready) {
  recv_events_.clear();
  recv_armed_ = true;
  rearmed_ = 0;
  receives_.drain_events();
  receives_.arm();
  if (ready || fetch() || !losses_.empty()) notify_recv();
}

void Transport::arm() {
  recv_events_.clear();
  send_armed_ = recv_armed_ = true;
  rearmed_ = 0;
  receives_.drain_events();
  sends_.arm();
  receives_.arm();
  poll_sends();
  peers_.each([&](Peer& peer) {
    if (!peer.lost && peer.connection->all_unsignaled()) peer.connection->flush();
  });
  if (fetch() || !losses_.empty()) notify_recv();
}

void Transport::disarm() {
  send_armed_ = recv_armed_ = false;
  send_events_.clear();
  recv_events_.clear();
  sends_.drain_events();
  receives_.drain_events();
}

void Transport::notify_recv() {
  if (recv_armed_) recv_events_.signal();
  recv_armed_ = false;
}

void Transport::notify_send() {
  if (send_armed_) (shared_ ? recv_events_ : send_events_).signal();
  send_armed_ = false;
}

void Transport::send_disconnect(Peer& peer) {
  peer.leaving = peer.receive_closed = true;
  if (!peer.connection->established()) return;
  // A peer that left first is told, too: it may wait for an acknowledgement that this end can give no more.
  const bool receives = !peer.lost && !peer.connection->peer_disconnected();
  peer.connection->send_disconnect(receives);
  peer.draining = receives;
}

void Transport::leave(std::optional<std::uint32_t> number, const Ask& ask) {
  {
    const std::lock_guard guard(mutex_);
    poll_sends();
    each(number, [this](Peer& peer) { send_disconnect(peer); });
  }
  // The disconnect message follows all messages, so that they are acknowledged before it.
  const Nanos start = now();
  Nanos pause = 20'000;
  Nanos ask_pause = kFirstAsk;
  Nanos ask_at = start + ask_pause;
  for (Nanos time = start; time - start < kDisconnectTimeout; time = now()) {
    {
      const std::lock_guard guard(mutex_);
      poll_sends();
      const bool asks = time >= ask_at;
      bool any = false;
      each(number, [&](Peer& peer) {
        peer.draining = peer.draining && !peer.lost && !peer.gone && !peer.connection->drained();
        any |= peer.draining;
        if (peer.draining && asks) ask(peer);
      });
      if (!any) return;
      if (asks) {
        ask_at = time + ask_pause;
        ask_pause = std::min(ask_pause * 2, kLastAsk);
      }
    }
    sleep_for(pause);
    pause = std::min<Nanos>(pause * 2, kMillisecond);
  }
}

void Transport::detach(Peer& peer) {
  poll_sends();
  send_disconnect(peer);
  peer.detached = true;
  peer.left_at = now();
  peer.ask_at = peer.left_at + kFirstAsk;
}

Nanos Transport::drain(Nanos time, const Ask& ask) {
  poll_sends();
  Nanos next = kNever;
  peers_.each([&](Peer& peer) {
    if (!peer.detached) return;
    const bool waits = peer.draining && !peer.lost && !peer.gone && time - peer.left_at < kDisconnectTimeout;
    if (!waits || peer.connection->drained()) {
      release(peer.number);
      return;
    }
    if (time >= peer.ask_at) {
      ask(peer);
      peer.ask_at = time + std::clamp(time - peer.left_at, kFirstAsk, kLastAsk);
    }
    next = std::min(next, peer.ask_at);
  });
  return next;
}

doca_error_t Transport::release(std::uint32_t number) {
  Peer* peer = peers_.find(number);
  if (!peer) return DOCA_SUCCESS;
  const int error = peer->connection->close();
  remove(*peer);
  ++changes_;
  return error == 0 ? DOCA_SUCCESS : error_of(error, DOCA_ERROR_UNKNOWN);
}

}  // namespace verbs::doca_comm::model
