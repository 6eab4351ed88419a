// The listening end of a channel: pending requests, accepted clients, and the service's state.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/channel/transport.h"
#include "model/setup/handshake_channel.h"
#include "model/setup/registry.h"

namespace verbs::doca_comm::model {

class Service final : public HandshakeHandler {
 public:
  Service(doca_dev& dev, const doca_devinfo_rep& representor, const Sizes& sizes)
      : dev_(dev), representor_(representor), transport_(dev, sizes, true) {}

  // `set` as of Transport::open().
  static doca_error_t listen(doca_dev& dev, const doca_devinfo_rep& representor, const Sizes& sizes,
                             const std::string& name, std::shared_ptr<Service>* service, int set = -1);
  doca_error_t disconnect(std::uint32_t peer);
  // Disconnects all clients. The last call.
  void close();

  Transport& transport() { return transport_; }
  int fd() const { return events_.fd(); }

  // For Comch: accepts the oldest pending client. False if there is none, or if it could not be accepted: then it is
  // rejected, but for lack of memory, for which it goes on waiting.
  bool accept_next(Peer** peer);
  bool has_requests() const { return !requests_.empty(); }
  // Disconnects a client, without waiting for it.
  void detach(Peer& peer);
  // Disconnects all clients and accepts no more, without waiting. close() may be called when drained() is true.
  void begin_close();
  bool drained();

  // Accepts pending clients, then does as the transport.
  doca_error_t receive(void* message, std::size_t* size, doca_comm_channel_addr_t** from);
  void arm_recv();

  doca_error_t update_state();
  // As of the last update_state(). The array is valid until the next one.
  const std::vector<doca_comm_channel_addr_t*>& peers() const { return listed_; }
  std::uint32_t pending() const { return listed_pending_; }

  void on_handshake(const HandshakeMessage& message, const UdAddress& from) override;
  Nanos on_timer(Nanos now) override;

 private:
  struct Request {
    HandshakeMessage message;
    UdAddress from;
    Nanos received = 0;  // the last time
  };

  doca_error_t open(const std::string& name, int set);
  void leave(std::optional<std::uint32_t> peer);
  void dismiss(const Peer& peer);
  void cancel(const HandshakeMessage& message, const UdAddress& from);
  Peer* find(const HandshakeMessage& message, const UdAddress& from);
  bool authorizes(const HandshakeMessage& message, const UdAddress& from) const;
  void respond(HandshakeMessage::Type type, const HandshakeMessage& request, const UdAddress& to,
               const EndAttributes* end = nullptr);
  bool repeat_response(const HandshakeMessage& request, const UdAddress& from);
  void enqueue(const HandshakeMessage& request, const UdAddress& from);
  bool has_capacity_for(const UdAddress& from);
  doca_error_t accept_pending();
  doca_error_t accept(const Request& request, Peer** peer);
  void refuse_requests();

  doca_dev& dev_;
  const doca_devinfo_rep& representor_;
  Transport transport_;  // its mutex guards all members below
  std::unique_ptr<ServiceEntry> entry_;
  std::string name_;
  Key key_{};
  EventChannel events_;
  bool closed_ = false;
  std::deque<Request> requests_;
  std::uint64_t changes_seen_ = 0;
  std::vector<doca_comm_channel_addr_t*> listed_;
  std::uint32_t listed_pending_ = 0;
  std::vector<std::uint32_t> listed_numbers_;  // of the peers in listed_
};

}  // namespace verbs::doca_comm::model
