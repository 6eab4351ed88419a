#include "model/channel/service.h"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>

#include "model/base/error.h"
#include "model/nic/verbs.h"

namespace verbs::doca_comm::model {

namespace {

// A client that asks repeats itself more often than that.
constexpr Nanos kRequestLife = 2 * kSecond;
constexpr Nanos kTick = 300 * kMillisecond;
// How many clients one call accepts, and how many new ones one update can tell of.
constexpr std::size_t kAcceptedAtOnce = 16;
constexpr std::size_t kToldAtOnce = 64;
// So many clients of one address can wait for being accepted, or a quarter of those that a service takes.
constexpr std::size_t kWaitingAtLeast = 4;

}  // namespace

doca_error_t Service::listen(doca_dev& dev, const doca_devinfo_rep& representor, const Sizes& sizes,
                             const std::string& name, std::shared_ptr<Service>* service) {
  auto made = std::make_shared<Service>(dev, representor, sizes);
  if (const doca_error_t error = made->open(name)) return error;
  if (!dev.meeting->add_service(representor.pci, name, made)) return DOCA_ERROR_CONNECTION_ABORTED;
  *service = std::move(made);
  return DOCA_SUCCESS;
}

doca_error_t Service::open(const std::string& name) {
  ibv_device_attr attributes;
  if (Verbs::get()->query_device(dev_.context, &attributes) != 0) return DOCA_ERROR_DRIVER;
  if (const doca_error_t error = traffic_.open()) return error;
  if (const int error = events_.open(nullptr)) return error_of(error, DOCA_ERROR_INITIALIZATION);
  if (getrandom(key_.data(), key_.size(), 0) != static_cast<ssize_t>(key_.size())) return DOCA_ERROR_INITIALIZATION;
  const int error = ServiceEntry::add(representor_.pci, name, {dev_.gid, kHandshakeQpn, key_}, &entry_);
  return error == 0 ? DOCA_SUCCESS : error_of(error, DOCA_ERROR_CONNECTION_ABORTED);
}

void Service::close() {
  dev_.meeting->remove(this);
  std::vector<Peer*> peers;
  {
    const std::lock_guard guard(traffic_.mutex());
    closed_ = true;
    entry_.reset();
    for (const Request& request : requests_)
      answer(HandshakeMessage::Type::kReject, request.datagram, request.sender, nullptr);
    requests_.clear();
    traffic_.each([&](Peer& peer) { peers.push_back(&peer); });
  }
  traffic_.disconnect(peers);
  const std::lock_guard guard(traffic_.mutex());
  traffic_.close();
  events_.close();
}

bool Service::admits(const HandshakeMessage& datagram, const UdAddress& sender) const {
  // A process of this user, that could read the key; or the host that this representor stands for.
  return datagram.key == key_ || (representor_.host && *representor_.host == sender.gid);
}

void Service::answer(HandshakeMessage::Type type, const HandshakeMessage& request, const UdAddress& sender,
                     const EndAttributes* end) {
  HandshakeMessage datagram;
  datagram.type = type;
  datagram.client_id = request.client_id;
  if (end) {
    datagram.end = *end;
  } else {
    datagram.end.mtu = IBV_MTU_256;
  }
  dev_.meeting->send(datagram, sender);
}

void Service::on_datagram(const HandshakeMessage& datagram, const UdAddress& sender) {
  const std::lock_guard guard(traffic_.mutex());
  if (closed_) return;
  if (!admits(datagram, sender)) {
    if (datagram.type == HandshakeMessage::Type::kConnect)
      answer(HandshakeMessage::Type::kReject, datagram, sender, nullptr);
    return;
  }
  if (datagram.type == HandshakeMessage::Type::kCancel) {
    std::erase_if(requests_, [&](const Request& request) {
      return request.sender == sender && request.datagram.client_id == datagram.client_id;
    });
    return;
  }
  if (!repeat_answer(datagram, sender)) enqueue(datagram, sender);
}

// The client asks again for what it was told already: the answer was lost.
bool Service::repeat_answer(const HandshakeMessage& datagram, const UdAddress& sender) {
  for (Request& request : requests_) {
    if (!(request.sender == sender) || request.datagram.client_id != datagram.client_id) continue;
    request.heard = now();
    answer(HandshakeMessage::Type::kPending, datagram, sender, nullptr);
    return true;
  }
  bool accepted = false;
  traffic_.each([&](const Peer& peer) {
    if (peer.broken || !(peer.sender == sender) || peer.client_id != datagram.client_id) return;
    answer(HandshakeMessage::Type::kAccept, datagram, sender, &peer.connection->own());
    accepted = true;
  });
  return accepted;
}

void Service::enqueue(const HandshakeMessage& datagram, const UdAddress& sender) {
  const bool bad = datagram.end.max_msg_size == 0 || datagram.end.recv_queue_size == 0;
  if (bad || !has_place_for(sender)) {
    answer(HandshakeMessage::Type::kReject, datagram, sender, nullptr);
    return;
  }
  requests_.push_back({datagram, sender, now()});
  answer(HandshakeMessage::Type::kPending, datagram, sender, nullptr);
  traffic_.notify_recv();
  events_.signal();
}

bool Service::has_place_for(const UdAddress& sender) {
  const std::size_t most = dev_.info->options.max_connections;
  // Lost peers that the user has not freed count on their own: they have memory too.
  if (traffic_.living() + requests_.size() >= most || traffic_.count() + requests_.size() >= 2 * most) return false;
  // One host leaves places to others, and the more so while its handshakes are only half done.
  const auto waiting = static_cast<std::size_t>(std::count_if(
      requests_.begin(), requests_.end(), [&](const Request& request) { return request.sender.gid == sender.gid; }));
  std::size_t all = waiting;
  traffic_.each([&](const Peer& peer) { all += !peer.broken && peer.sender.gid == sender.gid ? 1 : 0; });
  return waiting < std::max(kWaitingAtLeast, most / 4) && all < dev_.info->options.max_per_client;
}

doca_error_t Service::accept(const Request& request) {
  Peer* peer = nullptr;
  doca_error_t error = traffic_.add(&peer);
  if (error == DOCA_SUCCESS) {
    peer->sender = request.sender;
    peer->client_id = request.datagram.client_id;
    error = peer->connection->establish(request.sender.gid, request.datagram.end);
    if (error != DOCA_SUCCESS) traffic_.remove(*peer);
  }
  if (error != DOCA_SUCCESS) {
    answer(HandshakeMessage::Type::kReject, request.datagram, request.sender, nullptr);
    return DOCA_ERROR_INITIALIZATION;
  }
  answer(HandshakeMessage::Type::kAccept, request.datagram, request.sender, &peer->connection->own());
  events_.signal();
  return DOCA_SUCCESS;
}

doca_error_t Service::accept_some() {
  for (std::size_t i = 0; i < kAcceptedAtOnce && !requests_.empty(); ++i) {
    const Request request = std::move(requests_.front());
    requests_.pop_front();
    if (const doca_error_t error = accept(request)) return error;
  }
  return DOCA_SUCCESS;
}

doca_error_t Service::receive(void* message, std::size_t* size, doca_comm_channel_addr_t** from) {
  if (!requests_.empty()) {
    if (const doca_error_t error = accept_some()) return error;
  }
  return traffic_.receive(message, size, from);
}

void Service::arm_recv() { traffic_.arm_recv(!requests_.empty()); }

doca_error_t Service::update_state() {
  ibv_device_attr attributes;
  if (Verbs::get()->query_device(dev_.context, &attributes) != 0) return DOCA_ERROR_DRIVER;
  // Nobody finds the service any more: its entry was removed from outside.
  if (!entry_->intact()) return DOCA_ERROR_CONNECTION_RESET;
  events_.clear();
  listed_.clear();
  std::vector<std::uint32_t> numbers;
  std::size_t fresh = 0;
  bool all = true;
  traffic_.each([&](Peer& peer) {
    if (peer.broken) return;
    const bool known = std::find(shown_.begin(), shown_.end(), peer.number) != shown_.end();
    if (!known && ++fresh > kToldAtOnce) {
      all = false;
      return;
    }
    peer.known = true;
    numbers.push_back(peer.number);
    listed_.push_back(traffic_.address_of(peer));
  });
  shown_ = std::move(numbers);
  listed_pending_ = static_cast<std::uint32_t>(requests_.size());
  if (!all) events_.signal();
  return all ? DOCA_SUCCESS : DOCA_ERROR_AGAIN;
}

Nanos Service::on_tick(Nanos time) {
  const std::lock_guard guard(traffic_.mutex());
  if (closed_) return kNever;
  std::erase_if(requests_, [&](const Request& request) { return time - request.heard > kRequestLife; });
  traffic_.keep_alive();
  if (traffic_.changes() != changes_seen_ || !entry_->intact()) events_.signal();
  changes_seen_ = traffic_.changes();
  return time + kTick;
}

}  // namespace verbs::doca_comm::model
