// The handshake between a client and a service: datagrams of one fixed form, in network byte order.
//
//   client                       service's process
//   CONNECT (repeated)       →   the service is unknown, full, or refuses: REJECT
//                            ←   PENDING, until the service receives
//                            ←   ACCEPT, once recvfrom accepted
//   CANCEL                   →   the client gave up before that
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "model/bluefield/options.h"

namespace verbs::doca_comm::model {

// Where datagrams for any service of an address go: far above the numbers that a NIC hands out in turn.
inline constexpr std::uint32_t kHandshakeQpn = 0xd0ca00;
inline constexpr std::uint32_t kHandshakeQkey = 0x00d0ca01;
// With its NUL. In hexadecimal digits behind a PCI address it fits into a file's name.
inline constexpr std::size_t kMaxNameLength = 120;

// Whoever reads the service's entry in the registry of the user knows it.
using Key = std::array<std::uint8_t, 16>;

// What one end tells of its half of a connection.
struct EndAttributes {
  std::uint32_t data_qpn = 0;
  std::uint32_t control_qpn = 0;
  std::uint32_t psn = 0;  // of both queue pairs
  std::uint16_t max_msg_size = 0;
  std::uint16_t recv_queue_size = 0;
  std::uint8_t mtu = 0;  // enum ibv_mtu
};

struct HandshakeMessage {
  enum class Type : std::uint8_t { kConnect = 1, kPending, kAccept, kReject, kCancel };
  static constexpr std::size_t kSize = 200;

  Type type = Type::kConnect;
  std::uint64_t client_id = 0;  // chosen at random by the client, in every answer
  Key key{};
  std::string representor;
  std::string name;
  EndAttributes end;

  void write(std::span<std::uint8_t, kSize> bytes) const;
  // False for anything that is no datagram of this form.
  bool read(std::span<const std::uint8_t> bytes);
};

// Whom a datagram came from, by the NIC and not by its own words.
struct UdAddress {
  Gid gid{};
  std::uint32_t qpn = 0;
  bool operator==(const UdAddress&) const = default;
};

}  // namespace verbs::doca_comm::model
