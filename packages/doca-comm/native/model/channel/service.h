// The listening side: clients that ask, those that recvfrom accepted, and what a service can be asked about them.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "model/channel/transport.h"
#include "model/setup/handshake_channel.h"
#include "model/setup/registry.h"

namespace verbs::doca_comm::model {

class Service final : public HandshakeHandler {
 public:
  Service(doca_dev& dev, const doca_devinfo_rep& representor, const Sizes& sizes)
      : dev_(dev), representor_(representor), traffic_(dev, sizes, true) {}

  static doca_error_t listen(doca_dev& dev, const doca_devinfo_rep& representor, const Sizes& sizes,
                             const std::string& name, std::shared_ptr<Service>* service);
  // Takes leave of everybody. The last call.
  void close();

  Transport& traffic() { return traffic_; }
  int fd() const { return events_.fd(); }

  // Like the traffic's, but they see to those who wait for being accepted first.
  doca_error_t receive(void* message, std::size_t* size, doca_comm_channel_addr_t** from);
  void arm_recv();

  doca_error_t update_state();
  // As of the last update. The array lives until the next.
  const std::vector<doca_comm_channel_addr_t*>& peers() const { return listed_; }
  std::uint32_t pending() const { return listed_pending_; }

  void on_datagram(const HandshakeMessage& datagram, const UdAddress& sender) override;
  Nanos on_tick(Nanos now) override;

 private:
  struct Request {
    HandshakeMessage datagram;
    UdAddress sender;
    Nanos heard = 0;
  };

  doca_error_t open(const std::string& name);
  bool admits(const HandshakeMessage& datagram, const UdAddress& sender) const;
  void answer(HandshakeMessage::Type type, const HandshakeMessage& request, const UdAddress& sender,
              const EndAttributes* end);
  bool repeat_answer(const HandshakeMessage& datagram, const UdAddress& sender);
  void enqueue(const HandshakeMessage& datagram, const UdAddress& sender);
  bool has_place_for(const UdAddress& sender);
  doca_error_t accept_some();
  doca_error_t accept(const Request& request);

  doca_dev& dev_;
  const doca_devinfo_rep& representor_;
  Transport traffic_;  // its lock guards everything below
  std::unique_ptr<ServiceEntry> entry_;
  Key key_{};
  EventChannel events_;
  bool closed_ = false;
  std::deque<Request> requests_;
  std::uint64_t changes_seen_ = 0;
  std::vector<doca_comm_channel_addr_t*> listed_;
  std::uint32_t listed_pending_ = 0;
  std::vector<std::uint32_t> shown_;  // the numbers of the listed
};

}  // namespace verbs::doca_comm::model
