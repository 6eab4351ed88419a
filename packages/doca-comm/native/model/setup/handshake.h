// The handshake that sets up a connection: UD datagrams of a fixed format, in network byte order. The client
// retransmits its request until the service accepts.
//
//   client                service
//   CONNECT           →
//                     ←   REJECT: the service is unknown, has no capacity, or does not authorize the client
//                     ←   PENDING: the service has not called recvfrom since the request
//                     ←   ACCEPT: recvfrom accepted the request
//   CANCEL            →   the client gave up before ACCEPT
//
// It also ends what the connection itself cannot end: the queue pairs of an end that has gone acknowledge nothing any
// more. An end that leaves, and gets no acknowledgement, asks whether the other end still has the connection. The
// answer comes from the device, so that it comes when the endpoint is gone, too. There is no answer while the other end
// has the connection: then the acknowledgement will come.
//
//   LEAVE             →
//                     ←   GONE: the service does not have this client
//                     ←   DISMISS
//   DISMISSED         →   the client does not have this connection, or gives up the handshake
//
// And it connects the queue pairs of the fast path of Comch, one for each pair of a producer and a consumer of a
// connection. Either end may have the producer.
//
//   producer's end        consumer's end
//   PAIR              →
//                     ←   PAIRED, with the other queue pair
//                     ←   UNPAIRED: there is no such consumer
//   UNPAIR            →   the producer leaves
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "model/base/gid.h"

namespace verbs::doca_comm::model {

// The queue pair of a device that receives handshakes. Far above the numbers that the NIC assigns.
inline constexpr std::uint32_t kHandshakeQpn = 0xd0ca00;
inline constexpr std::uint32_t kHandshakeQkey = 0x00d0ca01;
// Of a service, in bytes, with its NUL. In hexadecimal digits behind a PCI address it fits into a file name.
inline constexpr std::size_t kMaxNameLength = 120;

// Authorizes a client: a random number in the service's registry entry, which only processes of its user can read.
using Key = std::array<std::uint8_t, 16>;

// The half of a connection that one end reports to the other.
struct EndAttributes {
  std::uint32_t data_qpn = 0;
  std::uint32_t control_qpn = 0;
  std::uint32_t psn = 0;  // of both queue pairs
  std::uint16_t max_msg_size = 0;
  std::uint16_t recv_queue_size = 0;
  std::uint8_t mtu = 0;  // enum ibv_mtu
  // What the end knows besides messages: an end of the Comm Channel nothing, one of Comch the fast path.
  std::uint8_t features = 0;
};
inline constexpr std::uint8_t kFastPath = 1;

struct HandshakeMessage {
  enum class Type : std::uint8_t {
    kConnect = 1,
    kPending,
    kAccept,
    kReject,
    kCancel,
    kLeave,
    kGone,
    kDismiss,
    kDismissed,
    kPair,
    kPaired,
    kUnpaired,
    kUnpair
  };
  static constexpr Type kLastType = Type::kUnpair;
  static constexpr std::size_t kSize = 200;

  Type type = Type::kConnect;
  std::uint64_t client_id = 0;  // random, chosen by the client; repeated in the responses
  Key key{};
  std::string representor;
  std::string name;
  EndAttributes end;
  // Of PAIR and its answers. The queue pair is end.data_qpn; `limit` is the longest immediate data of the consumer.
  std::uint32_t producer = 0;
  std::uint32_t consumer = 0;
  std::uint32_t limit = 0;
  bool pairs() const { return type >= Type::kPair; }

  void write(std::span<std::uint8_t, kSize> bytes) const;
  // An answer without a connection's half and without the key: to a service by its name, to a client by its ID.
  HandshakeMessage answer(Type kind) const;
  // False if the bytes have another format, or a value is out of range.
  bool read(std::span<const std::uint8_t> bytes);
};

// The address of a UD queue pair. That of a sender is from the work completion, not from the datagram.
struct UdAddress {
  Gid gid{};
  std::uint32_t qpn = 0;
  auto operator<=>(const UdAddress&) const = default;
};

}  // namespace verbs::doca_comm::model
