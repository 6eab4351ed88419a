// The match parameters of a packet: each field of match_layout.h as the packet has it, 0 where it has no such header.
#pragma once

#include <cstdint>

#include "steering/packet/match_layout.h"

namespace verbs::mlx5::steering {

class Packet;

// Which GENEVE option geneve_tlv_option_0 of the match parameters means: hardware can be told of one.
struct GeneveOption {
  bool configured = false;
  std::uint16_t option_class = 0;
  std::uint8_t type = 0;
};

// Sections are made only when a matcher asks for them: zeroing and filling all of them costs more than most frames'
// whole way.
class MatchKey {
 public:
  SectionMask valid() const { return valid_; }
  void forget() { valid_ = 0; }
  void forget(SectionMask sections) { valid_ = static_cast<SectionMask>(valid_ & ~sections); }
  void encode(const Packet& packet, SectionMask sections, const GeneveOption& option);
  const std::uint8_t* bytes() const { return bytes_; }

 private:
  alignas(8) std::uint8_t bytes_[kMatchSize];  // undefined where not valid
  SectionMask valid_ = 0;
};

}  // namespace verbs::mlx5::steering
