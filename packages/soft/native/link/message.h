// Messages of reliable connections in the form in which a ring between two processes carries them, where nobody looks
// at packets (docs/decisions/0019-messages-between-processes.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/frame.h"
#include "wire/gid.h"
#include "wire/opcode.h"

namespace verbs::soft::link {

// A SEND or a WRITE of one packet, or an answer, in the host's byte order; a payload may follow. It is all of its
// packet but for the addresses, which are those of the connection. From a peer, each field may be anything.
struct Message {
  // The fields of the network headers that the sender chooses.
  struct Route {
    std::uint32_t flow_label = 0;
    std::uint16_t source_port = 0;
    std::uint8_t traffic_class = 0;
    std::uint8_t hop_limit = 0;
  };

  // Bits of `flags`.
  static constexpr std::uint8_t kSolicited = 1, kAckReq = 2;

  std::uint8_t opcode;  // of the packet
  std::uint8_t flags;
  std::uint8_t syndrome;  // of an answer
  std::uint8_t reserved;
  std::uint32_t dest_qpn;
  std::uint32_t psn;
  std::uint32_t value;  // immediate data in network byte order, or the MSN of an answer
  std::uint64_t address;
  std::uint32_t rkey;
  std::uint32_t reserved_too;
  Route route;
};
static_assert(sizeof(Message) == 40);

inline Message::Route route_of(const wire::Path& path) {
  return {path.flow_label, path.source_port, path.traffic_class, path.hop_limit};
}

// Between which addresses a message passes.
struct MessageEnds {
  wire::Gid source;
  wire::Gid destination;
};

// Messages have these opcodes.
inline bool is_carried(std::uint8_t opcode) {
  constexpr std::uint32_t kOperations = 1u << wire::kSendOnly | 1u << wire::kSendOnlyImm | 1u << wire::kWriteOnly |
                                        1u << wire::kWriteOnlyImm | 1u << wire::kAcknowledge;
  return opcode < 32 && (kOperations >> opcode & 1) != 0;
}
static_assert(wire::make_opcode(wire::Transport::kRc, wire::kAcknowledge) == wire::kAcknowledge);

// Writes the packet of a message, without its ICRC, to `frame`, which has wire::kMaxFrame bytes. Returns its size; 0:
// no packet is like this.
std::size_t write_packet(const Message& message, std::span<const std::uint8_t> payload, const MessageEnds& ends,
                         std::uint8_t* frame);

// The way of messages to another process. Used under the lock of the device, as its Transmitter. It is there as long as
// the version of the neighbourhood (neighbour.h) stays.
class MessageWay {
 public:
  // Room for a message with a payload of `size` bytes, behind what was sent before: where the payload begins. It is the
  // peer's to read when the message is committed. nullptr: there is none now, and packets wait for it.
  virtual std::uint8_t* reserve(std::size_t size) = 0;
  // Sends what was reserved last, with its payload of that size, at flush(), here or of the Transmitter, at the latest.
  virtual void commit(const Message& message, std::size_t size) = 0;
  virtual void flush() = 0;
  // Whether the last reserve() found room, and nothing that waits has come between: so that one who begins need not ask
  // for room that he will ask for again.
  bool had_room() const { return had_room_; }

 protected:
  ~MessageWay() = default;

  bool had_room_ = false;
};

}  // namespace verbs::soft::link
