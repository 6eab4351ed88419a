// The fields of a frame that the rules of a fault plan refer to.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "link/faults/fault_plan.h"

namespace verbs::soft::link {

struct FrameFields {
  std::size_t network = 0;  // size of the IP and UDP headers; 0 if this is not a packet for a NIC
  std::uint8_t opcode = 0;
  std::uint32_t qpn = 0;
  std::uint32_t psn = 0;
  std::optional<AethKind> aeth;
};

FrameFields parse_fields(std::span<const std::uint8_t> frame);

// Whether the frame meets the conditions of `rule`, except for the direction.
bool matches(const FaultRule& rule, const FrameFields& fields);

}  // namespace verbs::soft::link
