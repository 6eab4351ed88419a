#include "model/channel/client.h"

#include <sys/random.h>

#include <cerrno>
#include <chrono>

#include "model/base/error.h"
#include "model/nic/verbs.h"

namespace verbs::doca_comm::model {

namespace {

constexpr Nanos kTick = 300 * kMillisecond;
constexpr Nanos kRepeat = 40 * kMillisecond;
// A service that is silent for so long is dead.
constexpr Nanos kSilence = 1800 * kMillisecond;

}  // namespace

doca_error_t Client::open() { return traffic_.open(); }

int Client::find(const std::string& name, ServiceAddress* service) const {
  const Options& options = dev_.info->options;
  if (!options.dpu_address) return ServiceEntry::find(options.pci, name, service);
  *service = {.gid = *options.dpu_address, .qpn = kHandshakeQpn, .key = {}};
  return 0;
}

doca_error_t Client::begin(const std::string& name, const ServiceAddress& service) {
  if (const doca_error_t error = traffic_.add(&peer_)) return error;
  request_ = {};
  if (getrandom(&request_.client_id, sizeof request_.client_id, 0) != sizeof request_.client_id) {
    traffic_.remove(*peer_);
    peer_ = nullptr;
    return DOCA_ERROR_INITIALIZATION;
  }
  request_.type = HandshakeMessage::Type::kConnect;
  request_.key = service.key;
  request_.representor = dev_.info->options.pci;
  request_.name = name;
  request_.end = peer_->connection->own();
  service_ = {.gid = service.gid, .qpn = service.qpn};
  peer_->known = true;
  phase_ = Phase::kAsking;
  heard_ = asked_ = now();
  return DOCA_SUCCESS;
}

doca_error_t Client::connect(const std::shared_ptr<Client>& self, const std::string& name,
                             doca_comm_channel_addr_t** address) {
  ibv_device_attr attributes;
  if (Verbs::get()->query_device(dev_.context, &attributes) != 0) return DOCA_ERROR_DRIVER;
  ServiceAddress service;
  if (const int error = find(name, &service)) return error_of(error, DOCA_ERROR_CONNECTION_ABORTED);
  {
    const std::lock_guard guard(traffic_.mutex());
    if (const doca_error_t error = begin(name, service)) return error;
  }
  // Before it asks: an answer to nobody is dropped.
  dev_.meeting->add_client(request_.client_id, self);
  std::unique_lock lock(traffic_.mutex());
  if (phase_ == Phase::kAsking) ask(now());
  answered_.wait_for(lock, std::chrono::nanoseconds(kSilence), [&] { return phase_ != Phase::kAsking; });
  if (phase_ == Phase::kWaiting || phase_ == Phase::kEstablished) {
    *address = traffic_.address_of(*peer_);
    return DOCA_SUCCESS;
  }
  lock.unlock();
  disconnect();
  return DOCA_ERROR_CONNECTION_ABORTED;
}

void Client::ask(Nanos time) {
  asked_ = time;
  dev_.meeting->send(request_, service_);
}

void Client::on_datagram(const HandshakeMessage& datagram, const UdAddress& sender) {
  const std::lock_guard guard(traffic_.mutex());
  if (!peer_ || datagram.client_id != request_.client_id || !(sender == service_)) return;
  heard_ = now();
  if (phase_ != Phase::kAsking && phase_ != Phase::kWaiting) return;
  if (datagram.type == HandshakeMessage::Type::kPending) {
    phase_ = Phase::kWaiting;
  } else if (datagram.type == HandshakeMessage::Type::kAccept) {
    accepted(datagram);
  } else if (datagram.type == HandshakeMessage::Type::kReject) {
    phase_ = Phase::kRefused;
    traffic_.lose(*peer_);
  } else {
    return;
  }
  answered_.notify_all();
}

void Client::accepted(const HandshakeMessage& datagram) {
  if (peer_->connection->establish(service_.gid, datagram.end) == DOCA_SUCCESS) {
    phase_ = Phase::kEstablished;
    traffic_.notify_send();
    traffic_.notify_recv();
  } else {
    phase_ = Phase::kRefused;
    traffic_.lose(*peer_);
  }
}

Nanos Client::on_tick(Nanos time) {
  const std::lock_guard guard(traffic_.mutex());
  if (!peer_) return kNever;
  if (phase_ == Phase::kAsking || phase_ == Phase::kWaiting) {
    if (time - heard_ > kSilence) {
      phase_ = Phase::kRefused;
      traffic_.lose(*peer_);
      answered_.notify_all();
      return kNever;
    }
    if (time - asked_ >= kRepeat) ask(time);
    return asked_ + kRepeat;
  }
  if (phase_ != Phase::kEstablished) return kNever;
  traffic_.keep_alive();
  return time + kTick;
}

void Client::close() {
  disconnect();
  const std::lock_guard guard(traffic_.mutex());
  traffic_.close();
}

doca_error_t Client::disconnect() {
  dev_.meeting->remove(this);
  Peer* peer = nullptr;
  {
    const std::lock_guard guard(traffic_.mutex());
    peer = peer_;
    if (!peer) return DOCA_ERROR_NOT_CONNECTED;
    if (phase_ == Phase::kAsking || phase_ == Phase::kWaiting) {
      request_.type = HandshakeMessage::Type::kCancel;
      dev_.meeting->send(request_, service_);
      phase_ = Phase::kNone;
    }
  }
  const doca_error_t error = traffic_.disconnect({peer});
  const std::lock_guard guard(traffic_.mutex());
  peer_ = nullptr;
  phase_ = Phase::kNone;
  return error;
}

}  // namespace verbs::doca_comm::model
