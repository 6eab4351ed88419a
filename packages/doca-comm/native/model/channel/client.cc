#include "model/channel/client.h"

#include <sys/random.h>

#include <cerrno>
#include <chrono>

#include "model/base/boundary.h"
#include "model/base/error.h"
#include "model/nic/verbs.h"

namespace verbs::doca_comm::model {

namespace {

constexpr Nanos kRetransmitInterval = 40 * kMillisecond;
// A service that does not respond for this time is dead.
constexpr Nanos kServiceTimeout = 1800 * kMillisecond;

}  // namespace

doca_error_t Client::open(int set) { return transport_.open(set); }

int Client::find(const std::string& name, ServiceAddress* service) const {
  const Options& options = dev_.info->options;
  if (!options.dpu_address) return ServiceEntry::find(options.pci, name, service);
  *service = {.gid = *options.dpu_address, .qpn = kHandshakeQpn, .key = {}};
  return 0;
}

doca_error_t Client::begin(const std::string& name, const ServiceAddress& service) {
  if (const doca_error_t error = transport_.add(&peer_)) return error;
  request_ = {};
  if (getrandom(&request_.client_id, sizeof request_.client_id, 0) != sizeof request_.client_id) {
    return DOCA_ERROR_INITIALIZATION;
  }
  request_.type = HandshakeMessage::Type::kConnect;
  request_.key = service.key;
  request_.representor = dev_.info->options.pci;
  request_.name = name;
  request_.end = peer_->connection->own();
  service_ = {.gid = service.gid, .qpn = service.qpn};
  peer_->known = true;
  peer_->remote = service_;
  peer_->envelope = request_;
  response_time_ = request_time_ = now();
  return DOCA_SUCCESS;
}

doca_error_t Client::request(const std::shared_ptr<Client>& self, const std::string& name) {
  ibv_device_attr attributes;
  if (Verbs::get()->query_device(dev_.context, &attributes) != 0) return DOCA_ERROR_DRIVER;
  ServiceAddress service;
  if (const int error = find(name, &service)) return error_of(error, DOCA_ERROR_CONNECTION_ABORTED);
  const std::lock_guard guard(transport_.mutex());
  // Before the request: a response without a known client is dropped.
  const doca_error_t error = contained([&] {
    const doca_error_t failed = begin(name, service);
    if (failed == DOCA_SUCCESS) dev_.handshakes->add_client(request_.client_id, self);
    return failed;
  });
  if (error != DOCA_SUCCESS) {
    if (peer_) transport_.remove(*peer_);
    peer_ = nullptr;
    return error;
  }
  phase_ = Phase::kRequested;
  send_request(now());
  return DOCA_SUCCESS;
}

doca_error_t Client::connect(const std::shared_ptr<Client>& self, const std::string& name,
                             doca_comm_channel_addr_t** address) {
  if (const doca_error_t error = request(self, name)) return error;
  std::unique_lock lock(transport_.mutex());
  responded_.wait_for(lock, std::chrono::nanoseconds(kServiceTimeout), [&] { return phase_ != Phase::kRequested; });
  if (phase_ == Phase::kPending || phase_ == Phase::kEstablished) {
    *address = transport_.peers().address_of(*peer_);
    return DOCA_SUCCESS;
  }
  lock.unlock();
  disconnect();
  return DOCA_ERROR_CONNECTION_ABORTED;
}

void Client::send_request(Nanos time) {
  request_time_ = time;
  dev_.handshakes->send(request_, service_);
}

void Client::on_handshake(const HandshakeMessage& message, const UdAddress& from) {
  const std::lock_guard guard(transport_.mutex());
  if (!peer_ || message.client_id != request_.client_id || !(from == service_)) return;
  if (message.pairs()) {
    if (!peer_->lost && peer_->owner) peer_->owner->on_pair(message);
    return;
  }
  response_time_ = now();
  if (message.type == HandshakeMessage::Type::kGone) peer_->gone = true;
  if (message.type == HandshakeMessage::Type::kDismiss) receive_dismiss(message);
  if (phase_ != Phase::kRequested && phase_ != Phase::kPending) return;
  if (message.type == HandshakeMessage::Type::kPending) {
    phase_ = Phase::kPending;
  } else if (message.type == HandshakeMessage::Type::kAccept) {
    receive_accept(message);
  } else if (message.type == HandshakeMessage::Type::kReject) {
    reject();
  } else {
    return;
  }
  responded_.notify_all();
}

void Client::receive_accept(const HandshakeMessage& message) {
  if (peer_->connection->establish(service_.gid, message.end) == DOCA_SUCCESS) {
    phase_ = Phase::kEstablished;
    transport_.notify_send();
    transport_.notify_recv();
  } else {
    reject();
  }
}

// The service leaves. There is no answer while the queue pairs of the connection are there: they acknowledge what it
// sent.
void Client::receive_dismiss(const HandshakeMessage& message) {
  if (phase_ == Phase::kRequested || phase_ == Phase::kPending) {
    reject();
    responded_.notify_all();
  }
  if (peer_->lost) dev_.handshakes->send(message.answer(HandshakeMessage::Type::kDismissed), service_);
}

void Client::reject() {
  phase_ = Phase::kRejected;
  transport_.mark_lost(*peer_);
}

doca_error_t Client::receive(void* message, std::size_t* size, doca_comm_channel_addr_t** from) {
  // A client that has disconnected receives nothing any more.
  if (!peer_) return DOCA_ERROR_NOT_CONNECTED;
  const doca_error_t error = transport_.receive(message, size, from);
  return error == DOCA_ERROR_AGAIN && peer_->lost ? DOCA_ERROR_NOT_CONNECTED : error;
}

Nanos Client::on_timer(Nanos time) {
  const std::lock_guard guard(transport_.mutex());
  if (!peer_) return kNever;
  if (phase_ == Phase::kRequested || phase_ == Phase::kPending) {
    if (time - response_time_ > kServiceTimeout) {
      reject();
      responded_.notify_all();
      return kNever;
    }
    if (time - request_time_ >= kRetransmitInterval) send_request(time);
    return request_time_ + kRetransmitInterval;
  }
  if (phase_ == Phase::kLeaving) {
    const Nanos next = transport_.drain(time, [this](const Peer&) { dev_.handshakes->send(request_, service_); });
    if (transport_.peers().count() == 0) {
      peer_ = nullptr;
      transport_.notify_recv();
    }
    return next;
  }
  if (phase_ != Phase::kEstablished) return kNever;
  const Nanos next = time + transport_.keep_alive(dev_.handshakes->liveness(), time);
  return peer_->owner ? std::min(next, peer_->owner->on_timer(time)) : next;
}

void Client::close() {
  disconnect();
  dev_.handshakes->remove(this);
  const std::lock_guard guard(transport_.mutex());
  transport_.close();
}

doca_error_t Client::disconnect() {
  std::uint32_t number = 0;
  {
    const std::lock_guard guard(transport_.mutex());
    if (!peer_ || phase_ == Phase::kLeaving) return DOCA_ERROR_NOT_CONNECTED;
    number = peer_->number;
    begin_leave();
  }
  transport_.leave(number, [this](const Peer&) { dev_.handshakes->send(request_, service_); });
  dev_.handshakes->remove(this);
  const std::lock_guard guard(transport_.mutex());
  peer_ = nullptr;
  phase_ = Phase::kNone;
  return transport_.release(number);
}

void Client::begin_leave() {
  if (phase_ == Phase::kRequested || phase_ == Phase::kPending) {
    request_.type = HandshakeMessage::Type::kCancel;
    dev_.handshakes->send(request_, service_);
  }
  request_.type = HandshakeMessage::Type::kLeave;
  phase_ = Phase::kLeaving;
}

void Client::begin_disconnect() {
  if (!peer_ || phase_ == Phase::kLeaving) return;
  begin_leave();
  transport_.detach(*peer_);
  dev_.handshakes->wake();
}

bool Client::drained() {
  transport_.drain(now(), [this](const Peer&) { dev_.handshakes->send(request_, service_); });
  if (transport_.peers().count() != 0) return false;
  peer_ = nullptr;
  return true;
}

}  // namespace verbs::doca_comm::model
