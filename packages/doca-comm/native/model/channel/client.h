// The connecting end of a channel.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <string>

#include "model/channel/transport.h"
#include "model/setup/handshake_channel.h"
#include "model/setup/registry.h"

namespace verbs::doca_comm::model {

class Client final : public HandshakeHandler {
 public:
  Client(doca_dev& dev, const Sizes& sizes) : dev_(dev), transport_(dev, sizes, false) {}

  doca_error_t open(int set = -1);  // as of Transport::open()
  // Sends the request and waits for the service's first response. The handshake goes on until the service accepts.
  // `self` keeps the client alive while the handshake channel calls it.
  doca_error_t connect(const std::shared_ptr<Client>& self, const std::string& name,
                       doca_comm_channel_addr_t** address);
  // Sends the request only.
  doca_error_t request(const std::shared_ptr<Client>& self, const std::string& name);
  doca_error_t disconnect();
  // The same without waiting. close() may be called when drained() is true. Under the transport's mutex.
  void begin_disconnect();
  bool drained();
  // The last call.
  void close();

  Transport& transport() { return transport_; }

  // The caller holds the transport's mutex.
  bool connected() const { return peer_ != nullptr; }
  // The peer from the time when the service has accepted.
  Peer* established() const { return phase_ == Phase::kEstablished ? peer_ : nullptr; }
  bool handshaking() const { return phase_ == Phase::kRequested || phase_ == Phase::kPending; }
  // As the transport. NOT_CONNECTED when nothing can come any more, since the loss of the service was reported: a
  // program that calls until there is something else than AGAIN ends.
  doca_error_t receive(void* message, std::size_t* size, doca_comm_channel_addr_t** from);
  void arm_recv() { transport_.arm_recv(!peer_ || peer_->lost); }

  void on_handshake(const HandshakeMessage& message, const UdAddress& from) override;
  Nanos on_timer(Nanos now) override;

 private:
  enum class Phase : std::uint8_t { kNone, kRequested, kPending, kEstablished, kRejected, kLeaving };

  int find(const std::string& name, ServiceAddress* service) const;
  doca_error_t begin(const std::string& name, const ServiceAddress& service);
  void send_request(Nanos time);
  void receive_accept(const HandshakeMessage& message);
  void receive_dismiss(const HandshakeMessage& message);
  void reject();
  void begin_leave();

  doca_dev& dev_;
  Transport transport_;  // its mutex guards all members below
  std::condition_variable responded_;
  Peer* peer_ = nullptr;
  Phase phase_ = Phase::kNone;
  HandshakeMessage request_;
  UdAddress service_;
  Nanos response_time_ = 0;
  Nanos request_time_ = 0;
};

}  // namespace verbs::doca_comm::model
