// A peer address: one end of a connection as the user knows it.
#pragma once

#include <cstdint>
#include <memory>

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

struct Peer {
  Transport* traffic = nullptr;
  std::uint32_t number = 0;
  std::unique_ptr<Connection> connection;
  UdAddress sender;             // whom the handshake was with
  std::uint64_t client_id = 0;  // of the handshake
  std::uint64_t user_data = 0;
  Statistics now;
  Statistics shown;      // as of the last update
  bool known = false;    // the user has its address
  bool blocked = false;  // a message was refused for lack of room
  bool broken = false;
  bool silent = false;  // nothing that comes after its farewell, or what broke the connection, is a message
};

}  // namespace verbs::doca_comm::model
