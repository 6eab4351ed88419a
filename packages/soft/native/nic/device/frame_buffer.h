// Room for one raw packet, with headroom and tailroom for the steering. Allocated at the first use: few devices have
// raw packets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "verbs_soft_extension.h"

namespace verbs::soft::nic {

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
