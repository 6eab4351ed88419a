// The frames that the two ends of a connection exchange.
#pragma once

#include <cstdint>

namespace verbs::doca_comm::model {

enum class FrameKind : std::uint8_t { kData = 1, kDisconnect, kConsumed, kConsumer, kConsumerExpired, kDelivered };

// On the data queue pair: a message, the disconnect message behind the last one, or between ends that know the fast
// path, that a consumer has come or gone, and before it goes, what it has received from each producer.
struct Frame {
  FrameKind kind;
  std::uint8_t consumer[3];  // its number, the lowest byte first
  std::uint32_t size;
  std::uint8_t message[];
};

// The message of kDelivered: of the queue pair of a producer, how many messages the consumer has received. It
// acknowledges those whose acknowledgement was lost: a consumer that has gone gives no other.
struct Delivery {
  std::uint32_t producer;
  std::uint32_t qpn;
  std::uint32_t count;
};

// On the control queue pair: the count of consumed messages (the sender's credits), or the disconnect message.
struct Control {
  FrameKind kind;
  std::uint8_t reserved[3];
  std::uint32_t value;
};

}  // namespace verbs::doca_comm::model
