// The connecting side.
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
  Client(doca_dev& dev, const Sizes& sizes) : dev_(dev), traffic_(dev, sizes, false) {}

  doca_error_t open();
  // Asks the service, and returns once it answered; the handshake ends when the service accepts.
  doca_error_t connect(const std::shared_ptr<Client>& self, const std::string& name,
                       doca_comm_channel_addr_t** address);
  doca_error_t disconnect();
  // The last call.
  void close();

  Transport& traffic() { return traffic_; }
  bool connected() const { return peer_ != nullptr; }

  void on_datagram(const HandshakeMessage& datagram, const UdAddress& sender) override;
  Nanos on_tick(Nanos now) override;

 private:
  enum class Phase : std::uint8_t { kNone, kAsking, kWaiting, kEstablished, kRefused };

  int find(const std::string& name, ServiceAddress* service) const;
  doca_error_t begin(const std::string& name, const ServiceAddress& service);
  void ask(Nanos time);
  void accepted(const HandshakeMessage& datagram);

  doca_dev& dev_;
  Transport traffic_;  // its lock guards everything below
  std::condition_variable answered_;
  Peer* peer_ = nullptr;
  Phase phase_ = Phase::kNone;
  HandshakeMessage request_;
  UdAddress service_;
  Nanos heard_ = 0;
  Nanos asked_ = 0;
};

}  // namespace verbs::doca_comm::model
