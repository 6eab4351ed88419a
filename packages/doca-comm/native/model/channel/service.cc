#include "model/channel/service.h"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>

#include "model/base/boundary.h"
#include "model/base/error.h"
#include "model/nic/verbs.h"

namespace verbs::doca_comm::model {

namespace {

using Type = HandshakeMessage::Type;

// A client sends its request again more often than this. One that does not has given up.
constexpr Nanos kRequestTimeout = 2 * kSecond;
// The clients that one call of receive() accepts, and the new ones that one call of update_state() lists.
constexpr std::size_t kMaxAccepted = 16;
constexpr std::size_t kMaxNewListed = 64;
// The pending requests of one address: this number, or a quarter of the service's connections if that is more.
constexpr std::size_t kMinPending = 4;

}  // namespace

doca_error_t Service::listen(doca_dev& dev, const doca_devinfo_rep& representor, const Sizes& sizes,
                             const std::string& name, std::shared_ptr<Service>* service, int set) {
  auto created = std::make_shared<Service>(dev, representor, sizes);
  if (const doca_error_t error = created->open(name, set)) return error;
  if (!dev.handshakes->add_service(representor.pci, name, created)) return DOCA_ERROR_CONNECTION_ABORTED;
  *service = std::move(created);
  return DOCA_SUCCESS;
}

doca_error_t Service::open(const std::string& name, int set) {
  ibv_device_attr attributes;
  if (Verbs::get()->query_device(dev_.context, &attributes) != 0) return DOCA_ERROR_DRIVER;
  if (const doca_error_t error = transport_.open(set)) return error;
  if (const int error = events_.open(nullptr)) return error_of(error, DOCA_ERROR_INITIALIZATION);
  if (getrandom(key_.data(), key_.size(), 0) != static_cast<ssize_t>(key_.size())) return DOCA_ERROR_INITIALIZATION;
  name_ = name;
  const int error = ServiceEntry::add(representor_.pci, name, {dev_.gid, dev_.handshakes->qpn(), key_}, &entry_);
  return error == 0 ? DOCA_SUCCESS : error_of(error, DOCA_ERROR_CONNECTION_ABORTED);
}

// Needs no memory: peers that nobody can tell find out by themselves.
void Service::close() {
  {
    const std::lock_guard guard(transport_.mutex());
    refuse_requests();
  }
  leave(std::nullopt);
  dev_.handshakes->remove(this);
  const std::lock_guard guard(transport_.mutex());
  transport_.close();
  events_.close();
}

void Service::refuse_requests() {
  closed_ = true;
  entry_.reset();
  for (const Request& request : requests_) respond(Type::kReject, request.message, request.from);
  requests_.clear();
}

void Service::detach(Peer& peer) {
  transport_.detach(peer);
  dev_.handshakes->wake();
}

void Service::begin_close() {
  refuse_requests();
  transport_.peers().each([this](Peer& peer) {
    if (!peer.detached) transport_.detach(peer);
  });
  dev_.handshakes->wake();
}

bool Service::drained() {
  transport_.drain(now(), [this](const Peer& peer) { dismiss(peer); });
  return transport_.peers().count() == 0;
}

void Service::leave(std::optional<std::uint32_t> peer) {
  const auto tell = [this](const Peer& each) { contained([&] { return dismiss(each), DOCA_SUCCESS; }); };
  transport_.leave(peer, tell);
}

doca_error_t Service::disconnect(std::uint32_t peer) {
  leave(peer);
  const std::lock_guard guard(transport_.mutex());
  return transport_.release(peer);
}

void Service::dismiss(const Peer& peer) {
  HandshakeMessage message;
  message.type = Type::kDismiss;
  message.client_id = peer.client_id;
  message.representor = representor_.pci;
  message.name = name_;
  message.end.mtu = IBV_MTU_256;
  dev_.handshakes->send(message, peer.remote);
}

// Authorized are processes of this user, which can read the key, and the host that the representor stands for.
bool Service::authorizes(const HandshakeMessage& message, const UdAddress& from) const {
  return message.key == key_ || (representor_.host && *representor_.host == from.gid);
}

void Service::respond(Type type, const HandshakeMessage& request, const UdAddress& to, const EndAttributes* end) {
  HandshakeMessage response;
  response.type = type;
  response.client_id = request.client_id;
  if (end) {
    response.end = *end;
  } else {
    response.end.mtu = IBV_MTU_256;
  }
  dev_.handshakes->send(response, to);
}

void Service::on_handshake(const HandshakeMessage& message, const UdAddress& from) {
  const std::lock_guard guard(transport_.mutex());
  if (message.pairs()) {
    Peer* peer = authorizes(message, from) ? find(message, from) : nullptr;
    if (peer && peer->owner) peer->owner->on_pair(message);
    return;
  }
  // Only the client itself knows its ID.
  if (message.type == Type::kDismissed) {
    if (Peer* peer = find(message, from)) peer->gone = true;
    return;
  }
  if (!authorizes(message, from) || (closed_ && message.type == Type::kConnect)) {
    if (message.type == Type::kConnect) respond(Type::kReject, message, from);
    return;
  }
  switch (message.type) {
    case Type::kCancel:
      cancel(message, from);
      break;
    case Type::kLeave:
      // No answer while the queue pairs of the connection are there: they acknowledge what the client sent.
      if (!find(message, from)) respond(Type::kGone, message, from);
      break;
    default:
      if (!repeat_response(message, from)) enqueue(message, from);
  }
}

// The connected client of that ID.
Peer* Service::find(const HandshakeMessage& message, const UdAddress& from) {
  Peer* found = nullptr;
  transport_.peers().each([&](Peer& peer) {
    if (!peer.lost && peer.remote == from && peer.client_id == message.client_id) found = &peer;
  });
  return found;
}

// The client gave up before it learned that it was accepted: its queue pairs are gone.
void Service::cancel(const HandshakeMessage& message, const UdAddress& from) {
  std::erase_if(requests_, [&](const Request& request) {
    return request.from == from && request.message.client_id == message.client_id;
  });
  if (Peer* peer = find(message, from)) {
    peer->gone = true;
    transport_.mark_lost(*peer);
  }
}

// A request that was received before: the client has not received the response to it.
bool Service::repeat_response(const HandshakeMessage& request, const UdAddress& from) {
  for (Request& pending : requests_) {
    if (!(pending.from == from) || pending.message.client_id != request.client_id) continue;
    pending.received = now();
    respond(Type::kPending, request, from);
    return true;
  }
  const Peer* peer = find(request, from);
  if (peer) respond(Type::kAccept, request, from, &peer->connection->own());
  return peer != nullptr;
}

void Service::enqueue(const HandshakeMessage& request, const UdAddress& from) {
  const bool invalid = request.end.max_msg_size == 0 || request.end.recv_queue_size == 0;
  if (invalid || !has_capacity_for(from)) {
    respond(Type::kReject, request, from);
    return;
  }
  requests_.push_back({request, from, now()});
  respond(Type::kPending, request, from);
  transport_.notify_recv();
  events_.signal();
}

bool Service::has_capacity_for(const UdAddress& from) {
  const PeerTable& peers = transport_.peers();
  const std::size_t most = dev_.info->options.max_connections;
  // Lost peers that the user has not disconnected have a limit of their own, because they still use memory.
  if (peers.count_connected() + requests_.size() >= most || peers.count() + requests_.size() >= 2 * most) return false;
  // One host cannot take all connections, and even fewer of the pending requests.
  const auto pending = static_cast<std::size_t>(std::count_if(
      requests_.begin(), requests_.end(), [&](const Request& request) { return request.from.gid == from.gid; }));
  std::size_t all = pending;
  peers.each([&](const Peer& peer) { all += !peer.lost && peer.remote.gid == from.gid ? 1 : 0; });
  return pending < std::max(kMinPending, most / 4) && all < dev_.info->options.max_per_client;
}

doca_error_t Service::accept(const Request& request, Peer** accepted) {
  Peer* peer = nullptr;
  const doca_error_t error = contained([&] {
    const doca_error_t failed = transport_.add(&peer);
    if (failed != DOCA_SUCCESS) return failed;
    peer->remote = request.from;
    peer->client_id = request.message.client_id;
    peer->envelope.client_id = peer->client_id;
    peer->envelope.end.mtu = IBV_MTU_256;
    return peer->connection->establish(request.from.gid, request.message.end);
  });
  if (error != DOCA_SUCCESS) {
    if (peer) transport_.remove(*peer);
    return error == DOCA_ERROR_NO_MEMORY ? error : DOCA_ERROR_INITIALIZATION;
  }
  respond(Type::kAccept, request.message, request.from, &peer->connection->own());
  events_.signal();
  *accepted = peer;
  return DOCA_SUCCESS;
}

bool Service::accept_next(Peer** peer) {
  if (requests_.empty()) return false;
  const doca_error_t error = accept(requests_.front(), peer);
  if (error == DOCA_ERROR_NO_MEMORY) return false;
  if (error == DOCA_SUCCESS) {
    (*peer)->known = true;
  } else {
    respond(Type::kReject, requests_.front().message, requests_.front().from);
  }
  requests_.pop_front();
  return error == DOCA_SUCCESS;
}

doca_error_t Service::accept_pending() {
  for (std::size_t i = 0; i < kMaxAccepted && !requests_.empty(); ++i) {
    const Request request = std::move(requests_.front());
    requests_.pop_front();
    Peer* peer = nullptr;
    if (const doca_error_t error = accept(request, &peer)) {
      respond(Type::kReject, request.message, request.from);
      return error;
    }
  }
  return DOCA_SUCCESS;
}

doca_error_t Service::receive(void* message, std::size_t* size, doca_comm_channel_addr_t** from) {
  if (!requests_.empty()) {
    if (const doca_error_t error = accept_pending()) return error;
  }
  return transport_.receive(message, size, from);
}

void Service::arm_recv() { transport_.arm_recv(!requests_.empty()); }

doca_error_t Service::update_state() {
  ibv_device_attr attributes;
  if (Verbs::get()->query_device(dev_.context, &attributes) != 0) return DOCA_ERROR_DRIVER;
  // The entry was removed by someone else: clients no longer find the service.
  if (!entry_->intact()) return DOCA_ERROR_CONNECTION_RESET;
  events_.clear();
  listed_.clear();
  std::vector<std::uint32_t> numbers;
  std::size_t added = 0;
  bool all = true;
  transport_.peers().each([&](Peer& peer) {
    if (peer.lost || peer.leaving) return;
    const bool known = std::find(listed_numbers_.begin(), listed_numbers_.end(), peer.number) != listed_numbers_.end();
    if (!known && ++added > kMaxNewListed) {
      all = false;
      return;
    }
    peer.known = true;
    numbers.push_back(peer.number);
    listed_.push_back(transport_.peers().address_of(peer));
  });
  listed_numbers_ = std::move(numbers);
  listed_pending_ = static_cast<std::uint32_t>(requests_.size());
  if (!all) events_.signal();
  return all ? DOCA_SUCCESS : DOCA_ERROR_AGAIN;
}

Nanos Service::on_timer(Nanos time) {
  const std::lock_guard guard(transport_.mutex());
  const Nanos drained = transport_.drain(time, [this](const Peer& peer) { dismiss(peer); });
  if (closed_) {
    if (drained == kNever) transport_.notify_recv();
    return drained;
  }
  std::erase_if(requests_, [&](const Request& request) { return time - request.received > kRequestTimeout; });
  Nanos next = transport_.keep_alive(dev_.handshakes->liveness(), time);
  transport_.peers().each([&](Peer& peer) {
    if (peer.owner) next = std::min(next, peer.owner->on_timer(time) - time);
  });
  if (transport_.changes() != changes_seen_ || !entry_->intact()) events_.signal();
  changes_seen_ = transport_.changes();
  return std::min(time + next, drained);
}

}  // namespace verbs::doca_comm::model
