// What passes between the two ends of a connection.
#pragma once

#include <cstdint>

namespace verbs::doca_comm::model {

enum class FrameKind : std::uint8_t { kData = 1, kFarewell, kConsumed };

// By the data pair.
struct Frame {
  FrameKind kind;
  std::uint8_t reserved[3];
  std::uint32_t size;
  std::uint8_t message[];
};

// By the control pair.
struct Control {
  FrameKind kind;
  std::uint8_t reserved[3];
  std::uint32_t value;
};

}  // namespace verbs::doca_comm::model
