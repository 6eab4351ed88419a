// A frame on its way through the tables, with its metadata: origin, registers, flow tag.
#pragma once

#include <array>
#include <cstdint>

#include "steering/headers/parser.h"
#include "steering/packet/match_key.h"

namespace verbs::mlx5::steering {

// The origin of a frame: match fields that are in no header.
struct Origin {
  std::uint32_t source_sqn = 0;            // 24 bits: the send queue (the queue pair's number) on the transmit side
  std::uint16_t source_port = 0;           // the vport
  std::uint16_t source_eswitch_owner = 0;  // vhca id
  std::uint8_t source_vhca_port = 0;       // 4 bits: the physical port
};

struct Registers {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::array<std::uint32_t, 8> c = {};
};

class Packet {
 public:
  // `now_ns` is the time of any monotonic clock; meters use it.
  explicit Packet(const Frame& frame, const Origin& origin = {}, std::uint64_t now_ns = 0)
      : frame_(frame), origin_(origin), now_ns_(now_ns) {}

  const Frame& frame() const { return frame_; }
  const Origin& origin() const { return origin_; }
  std::uint64_t now_ns() const { return now_ns_; }

  // The headers, parsed at first use after a change.
  const Layers& layers() const {
    if (!parsed_) {
      layers_ = parse(frame_.data, frame_.size);
      parsed_ = true;
    }
    return layers_;
  }
  // The frame for writing; its headers will be parsed again.
  Frame& change() {
    parsed_ = false;
    key_.invalidate();
    return frame_;
  }
  // The frame for writing fields that do not move headers (addresses, ports, time to live); only the key is encoded
  // again.
  std::uint8_t* change_fields() {
    key_.invalidate();
    return frame_.data;
  }
  const Registers& registers() const { return registers_; }
  Registers& change_registers() {
    key_.invalidate(kMisc2);
    return registers_;
  }
  // The packet's match parameters, with at least these sections filled in.
  const MatchKey& key(SectionMask sections, const GeneveOption& option) {
    const SectionMask missing = static_cast<SectionMask>(sections & ~key_.valid());
    if (missing != 0) key_.encode(*this, missing, option);
    return key_;
  }

  // Reported in the completion: 24 bits, 0 if no rule set it.
  std::uint32_t flow_tag = 0;
  // After a decapsulation, the virtual network of the removed tunnel (VXLAN, GENEVE, NVGRE), otherwise 0.
  std::uint32_t tunnel_vni = 0;
  bool decapsulated = false;

 private:
  Frame frame_;
  Origin origin_;
  std::uint64_t now_ns_;
  Registers registers_;
  mutable Layers layers_;
  mutable bool parsed_ = false;
  MatchKey key_;
};

}  // namespace verbs::mlx5::steering
