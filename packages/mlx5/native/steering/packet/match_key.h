// The match parameters of a packet: the value of each field of match_layout.h, 0 without the header.
#pragma once

#include <cstdint>

#include "steering/packet/match_layout.h"

namespace verbs::mlx5::steering {

class Packet;

// The GENEVE option that is geneve_tlv_option_0 of the match parameters. Hardware can be configured for one.
struct GeneveOption {
  bool configured = false;
  std::uint16_t option_class = 0;
  std::uint8_t type = 0;
};

// Sections are filled only when a matcher needs them: filling all of them costs more than the rest of the pipeline for
// most frames.
class MatchKey {
 public:
  SectionMask valid() const { return valid_; }
  void invalidate() { valid_ = 0; }
  void invalidate(SectionMask sections) { valid_ = static_cast<SectionMask>(valid_ & ~sections); }
  void encode(const Packet& packet, SectionMask sections, const GeneveOption& option);
  const std::uint8_t* bytes() const { return bytes_; }

 private:
  alignas(8) std::uint8_t bytes_[kMatchSize];  // undefined where not valid
  SectionMask valid_ = 0;
};

}  // namespace verbs::mlx5::steering
