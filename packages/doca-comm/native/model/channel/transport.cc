#include "model/channel/transport.h"

#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "model/base/error.h"
#include "model/nic/verbs.h"

namespace verbs::doca_comm::model {

namespace {

constexpr std::uint32_t kIndexBits = 16;
std::atomic<std::uint32_t> generation{0};

// More than the 1.1 seconds after which the NIC gives a connection up.
constexpr Nanos kFarewellLimit = 1500 * kMillisecond;

void nap(Nanos time) {
  const timespec pause{0, static_cast<long>(time)};
  nanosleep(&pause, nullptr);
}

}  // namespace

std::uint32_t process_generation() {
  [[maybe_unused]] static const int registered = pthread_atfork(nullptr, nullptr, [] { ++generation; });
  return generation.load(std::memory_order_relaxed);
}

doca_error_t Transport::open() {
  if (const int error = send_events_.open(dev_.context)) return error_of(error, DOCA_ERROR_INITIALIZATION);
  if (const int error = recv_events_.open(dev_.context)) return error_of(error, DOCA_ERROR_INITIALIZATION);
  sends_.open(dev_.context, send_events_.channel());
  receives_.open(dev_.context, recv_events_.channel());
  return DOCA_SUCCESS;
}

void Transport::close() {
  for (Entry& entry : peers_) {
    if (entry.peer) remove(*entry.peer);
  }
  sends_.close();
  receives_.close();
  send_events_.close();
  recv_events_.close();
}

doca_error_t Transport::add(Peer** peer) {
  std::size_t index = 0;
  while (index < peers_.size() && peers_[index].peer) ++index;
  if (index == peers_.size()) peers_.emplace_back();
  Entry& entry = peers_[index];
  auto made = std::make_shared<Peer>();
  made->traffic = this;
  made->number = (++entry.generation << kIndexBits) | static_cast<std::uint32_t>(index);
  if (const doca_error_t error = Connection::create(dev_, sends_, receives_, sizes_, made->number, &made->connection)) {
    return error;
  }
  *peer = made.get();
  entry.peer = made;
  entry.address = AddressPool::get().add(std::move(made));
  return DOCA_SUCCESS;
}

void Transport::remove(Peer& peer) {
  Entry& entry = peers_[peer.number & ((1u << kIndexBits) - 1)];
  peer.connection.reset();
  peer.traffic = nullptr;
  std::erase_if(lost_, [&](const Loss& loss) { return loss.number == peer.number; });
  AddressPool::get().remove(entry.address);
  entry.address = nullptr;
  entry.peer.reset();
}

Peer* Transport::find(std::uint32_t number) {
  const std::size_t index = number & ((1u << kIndexBits) - 1);
  if (index >= peers_.size() || !peers_[index].peer || peers_[index].peer->number != number) return nullptr;
  return peers_[index].peer.get();
}

doca_comm_channel_addr_t* Transport::address_of(const Peer& peer) {
  return peers_[peer.number & ((1u << kIndexBits) - 1)].address;
}

std::size_t Transport::living() const {
  return static_cast<std::size_t>(std::count_if(peers_.begin(), peers_.end(),
                                                [](const Entry& entry) { return entry.peer && !entry.peer->broken; }));
}

std::size_t Transport::count() const {
  return static_cast<std::size_t>(
      std::count_if(peers_.begin(), peers_.end(), [](const Entry& entry) { return entry.peer != nullptr; }));
}

void Transport::take_completions() {
  ibv_wc completions[kBatch];
  int count = 0;
  while ((count = sends_.poll(completions, kBatch)) > 0) {
    for (int i = 0; i < count; ++i) {
      const WorkId id = WorkId::unpack(completions[i].wr_id);
      Peer* peer = find(id.connection);
      if (!peer || (peer->broken && id.work == Work::kControlReceive)) continue;
      if (!peer->connection->complete(completions[i], id)) lose(*peer);
    }
  }
}

doca_error_t Transport::send(Peer& peer, const void* message, std::size_t size) {
  if (peer.broken || peer.connection->left()) return DOCA_ERROR_CONNECTION_RESET;
  Connection& connection = *peer.connection;
  if (!connection.established()) return DOCA_ERROR_NOT_CONNECTED;
  if (size > connection.max_message()) return DOCA_ERROR_INVALID_VALUE;
  // Completions are fetched before the queue is full, so that a sender hears of errors, but not with every message.
  if (connection.in_flight() * 2 >= sizes_.send_queue || !connection.has_credit()) take_completions();
  if (peer.broken || connection.left()) return DOCA_ERROR_CONNECTION_RESET;
  if (!has_room(peer)) {
    peer.blocked = true;
    return DOCA_ERROR_AGAIN;
  }
  if (const int error = connection.send(message, size)) {
    // EINVAL is the NIC's word for a queue pair that is not ready to send.
    return error_of(error, error == EINVAL ? DOCA_ERROR_INITIALIZATION : DOCA_ERROR_UNKNOWN);
  }
  ++peer.now.send_messages;
  peer.now.send_bytes += size;
  return DOCA_SUCCESS;
}

bool Transport::fetch() {
  if (batch_next_ < batch_size_) return true;
  if (receives_.quiet() && !receives_.take_events()) return false;
  batch_next_ = 0;
  batch_size_ = receives_.poll(batch_, kBatch);
  poll_failed_ = batch_size_ < 0;
  if (poll_failed_) batch_size_ = 0;
  return batch_size_ > 0;
}

void Transport::take() {
  ++batch_next_;
  ++taken_;
}

doca_error_t Transport::deliver(Peer& peer, const Connection::Message& found, void* message, std::size_t* size) {
  if (*size < found.size) {
    *size = found.size;  // the message stays, for a larger buffer
    return DOCA_ERROR_INVALID_VALUE;
  }
  take();
  std::memcpy(message, found.data, found.size);
  *size = found.size;
  ++peer.now.recv_messages;
  peer.now.recv_bytes += found.size;
  peer.known = true;
  // The message has arrived; that the next one cannot is the connection's end. A lost peer gets no more room.
  if (!peer.broken && peer.connection->consume(found.slot) != 0) lose(peer);
  return DOCA_SUCCESS;
}

doca_error_t Transport::receive(void* message, std::size_t* size, doca_comm_channel_addr_t** from) {
  for (;;) {
    if (!lost_.empty() && taken_ >= lost_.front().due && report_loss(from)) return DOCA_ERROR_CONNECTION_RESET;
    if (!fetch()) break;
    const ibv_wc& completion = batch_[batch_next_];
    const WorkId id = WorkId::unpack(completion.wr_id);
    Peer* peer = find(id.connection);
    if (!peer || peer->silent) {  // of a connection that is gone, or has ended
      take();
      continue;
    }
    Connection::Message found;
    if (peer->connection->read(completion, id.slot, &found) == Connection::Arrival::kMessage) {
      *from = address_of(*peer);
      return deliver(*peer, found, message, size);
    }
    take();
    peer->silent = true;
    lose(*peer);
  }
  if (poll_failed_) return DOCA_ERROR_UNKNOWN;
  return report_loss(from) ? DOCA_ERROR_CONNECTION_RESET : DOCA_ERROR_AGAIN;
}

bool Transport::report_loss(doca_comm_channel_addr_t** from) {
  while (!lost_.empty()) {
    Peer* peer = find(lost_.front().number);
    if (peer && service_ && !peer->known) {
      remove(*peer);  // takes it off the list
      continue;
    }
    // A client has no other peer: it hears of it until it disconnects.
    if (service_ || !peer) lost_.pop_front();
    if (!peer) continue;
    *from = address_of(*peer);
    return true;
  }
  return false;
}

doca_error_t Transport::update(Peer& peer) {
  take_completions();
  if (peer.connection->left()) lose(peer);
  if (!peer.broken) peer.connection->flush();
  peer.now.in_flight = peer.connection->in_flight();
  peer.shown = peer.now;
  if (peer.broken) return DOCA_ERROR_CONNECTION_ABORTED;
  return peer.connection->established() ? DOCA_SUCCESS : DOCA_ERROR_CONNECTION_INPROGRESS;
}

void Transport::lose(Peer& peer) {
  if (peer.broken) return;
  peer.broken = true;
  ++changes_;
  lost_.push_back({peer.number, taken_ + kBatch + receives_.backlog(kBatch)});
  notify_recv();
  notify_send();
}

void Transport::keep_alive() {
  take_completions();
  each([this](Peer& peer) {
    if (peer.broken || !peer.connection->established()) return;
    if (!peer.connection->keep_alive()) lose(peer);
  });
}

void Transport::arm_send() {
  send_events_.clear();
  send_armed_ = true;
  sends_.take_events();
  sends_.arm();
  take_completions();
  bool ready = false;
  each([&](Peer& peer) {
    if (!peer.broken && peer.connection->silent()) peer.connection->flush();
    if (!peer.blocked || !(peer.broken || peer.connection->left() || has_room(peer))) return;
    peer.blocked = false;
    ready = true;
  });
  if (ready) notify_send();
}

void Transport::arm_recv(bool more) {
  recv_events_.clear();
  recv_armed_ = true;
  receives_.take_events();
  receives_.arm();
  if (more || fetch() || !lost_.empty()) notify_recv();
}

void Transport::notify_recv() {
  if (recv_armed_) recv_events_.signal();
  recv_armed_ = false;
}

void Transport::notify_send() {
  if (send_armed_) send_events_.signal();
  send_armed_ = false;
}

bool Transport::settled(const std::vector<Peer*>& peers) {
  take_completions();
  return std::all_of(peers.begin(), peers.end(), [](Peer* peer) { return peer->broken || peer->connection->quiet(); });
}

void Transport::wait_until_settled(const std::vector<Peer*>& peers, Nanos limit) {
  Nanos pause = 20'000;
  while (now() < limit) {
    {
      const std::lock_guard guard(mutex_);
      if (settled(peers)) return;
    }
    nap(pause);
    pause = std::min<Nanos>(pause * 2, kMillisecond);
  }
}

doca_error_t Transport::disconnect(const std::vector<Peer*>& peers) {
  std::vector<Peer*> farewells;
  {
    const std::lock_guard guard(mutex_);
    take_completions();
    for (Peer* peer : peers) {
      if (!peer->broken && peer->connection->established() && !peer->connection->left()) farewells.push_back(peer);
    }
    for (Peer* peer : farewells) peer->connection->say_farewell();
  }
  // What was sent before is ahead of the farewell.
  wait_until_settled(farewells, now() + kFarewellLimit);
  const std::lock_guard guard(mutex_);
  int error = 0;
  for (Peer* peer : peers) {
    const int failure = peer->connection->close();
    if (error == 0) error = failure;
    remove(*peer);
    ++changes_;
  }
  return error == 0 ? DOCA_SUCCESS : error_of(error, DOCA_ERROR_UNKNOWN);
}

}  // namespace verbs::doca_comm::model
