// A peer address: one end of a connection, as the user knows it.
#pragma once

#include <cstdint>
#include <memory>

#include "doca_comm_channel.h"
#include "model/base/clock.h"
#include "model/base/handles.h"
#include "model/channel/connection.h"
#include "model/setup/handshake.h"

namespace verbs::doca_comm::model {

class Transport;

struct Statistics {
  std::uint64_t send_messages = 0;
  std::uint64_t send_bytes = 0;
  std::uint64_t recv_messages = 0;
  std::uint64_t recv_bytes = 0;
  std::uint64_t in_flight = 0;
};

// What Comch has behind a peer. The handshakes' thread calls it under the transport's mutex.
class PeerOwner {
 public:
  virtual ~PeerOwner() = default;
  virtual void on_pair(const HandshakeMessage& message) = 0;
  // Returns the time by which it wants the next call.
  virtual Nanos on_timer(Nanos now) = 0;
};

struct Peer {
  Transport* transport = nullptr;
  std::uint32_t number = 0;
  std::unique_ptr<Connection> connection;
  UdAddress remote;  // the other end of the handshake
  std::uint64_t client_id = 0;
  std::uint64_t user_data = 0;
  PeerOwner* owner = nullptr;
  HandshakeMessage envelope;  // what its end of the handshakes knows this connection by
  Statistics current;
  Statistics updated;     // as of the last update
  Nanos asked_at = 0;     // by a keep-alive
  bool known = false;     // the user has its address
  bool blocked = false;   // a send failed for lack of a slot or a credit
  bool lost = false;      // the connection failed or ended
  bool leaving = false;   // the user disconnects it: it is reported no more
  bool draining = false;  // then: not everything that was sent is acknowledged yet
  bool detached = false;  // then: nobody waits for it, drain() releases it
  Nanos left_at = 0;
  Nanos ask_at = 0;             // when the other end is asked next
  bool gone = false;            // the other end says that it does not have the connection any more
  bool receive_closed = false;  // frames after the disconnect message, or after an invalid frame, are ignored
};

}  // namespace verbs::doca_comm::model

struct doca_comm_channel_addr_t : verbs::doca_comm::model::Handle<verbs::doca_comm::model::Peer> {};

namespace verbs::doca_comm::model {
using AddressPool = HandlePool<doca_comm_channel_addr_t, Peer>;

// The peer of a pointer that the user has; nullptr if it is none, or no longer.
Peer* find_peer(const doca_comm_channel_addr_t* address);
}  // namespace verbs::doca_comm::model
