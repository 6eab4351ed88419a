// A received packet whose headers have passed the checks of the ingress.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "link/link.h"
#include "verbs_soft_extension.h"
#include "wire/frame.h"
#include "wire/headers.h"
#include "wire/opcode.h"

namespace verbs::soft::nic {

// The payload of a packet that refers to it.
struct ReferredPayload {
  link::SenderMemory& memory;
  std::span<const link::Reference> pieces;
  std::size_t size;  // of all pieces
};

struct Packet {
  const wire::FrameView& frame;
  const wire::Bth& bth;
  const wire::OpcodeInfo& info;
  std::span<const std::uint8_t> transport;  // BTH to the end of the payload, without pad and ICRC
  // Instead of a payload, in SENDs, WRITEs and READ responses of reliable connections. The packet stands for as many as
  // its bytes need.
  const ReferredPayload* referred = nullptr;

  bool has(std::uint32_t flag) const { return info.has(flag); }
  const std::uint8_t* header(std::uint8_t offset) const { return transport.data() + offset; }
  std::span<const std::uint8_t> payload() const { return transport.subspan(info.header_size); }
  std::size_t payload_size() const { return referred != nullptr ? referred->size : payload().size(); }
  // The PSNs that it takes.
  std::uint32_t psns(std::uint32_t mtu) const {
    return referred != nullptr ? static_cast<std::uint32_t>((referred->size + mtu - 1) / mtu) : 1;
  }

  // The immediate data in network byte order, or the key to invalidate in the host's: ibv_wc has them in a union.
  // 0 if the packet has neither.
  __be32 immediate() const {
    __be32 value = 0;
    if (has(wire::kHasImmDt)) std::memcpy(&value, header(info.imm_dt), sizeof value);
    if (has(wire::kHasIeth)) value = wire::load_be<std::uint32_t>(header(info.ieth));
    return value;
  }
};

// Room for one raw packet, with headroom and tailroom for the steering. Allocated at the first use: few devices have
// raw packets.

class FrameBuffer {
 public:
  // A frame of `size` bytes, at most VERBS_SOFT_FRAME_MAX. Valid until the next call.
  verbs_soft_frame frame(std::uint32_t size) {
    constexpr std::size_t kRoom = VERBS_SOFT_FRAME_MAX + kTailroom;
    if (!bytes_) bytes_ = std::make_unique_for_overwrite<std::uint8_t[]>(VERBS_SOFT_FRAME_HEADROOM + kRoom);
    return {.data = bytes_.get() + VERBS_SOFT_FRAME_HEADROOM,
            .size = size,
            .headroom = VERBS_SOFT_FRAME_HEADROOM,
            .tailroom = static_cast<std::uint32_t>(kRoom - size)};
  }

  bool looped = false;  // the frame comes back to the port that sent it

 private:
  static constexpr std::size_t kTailroom = 256;

  std::unique_ptr<std::uint8_t[]> bytes_;
};

}  // namespace verbs::soft::nic
