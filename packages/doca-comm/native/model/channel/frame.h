// The frames that the two ends of a connection exchange.
#pragma once

#include <cstdint>

namespace verbs::doca_comm::model {

enum class FrameKind : std::uint8_t { kData = 1, kDisconnect, kConsumed };

// On the data queue pair: a message, or the disconnect message behind the last one.
struct Frame {
  FrameKind kind;
  std::uint8_t reserved[3];
  std::uint32_t size;
  std::uint8_t message[];
};

// On the control queue pair: the count of consumed messages (the sender's credits), or the disconnect message.
struct Control {
  FrameKind kind;
  std::uint8_t reserved[3];
  std::uint32_t value;
};

}  // namespace verbs::doca_comm::model
