// An Ethernet frame, without its FCS, in a buffer of the caller's with room before and behind it, so that headers come
// and go in place.
#pragma once

#include <cstdint>

namespace verbs::mlx5::steering {

struct Frame {
  std::uint8_t* data = nullptr;
  std::uint32_t size = 0;
  std::uint32_t headroom = 0;  // bytes before `data` that may be written
  std::uint32_t tailroom = 0;  // bytes behind the frame that may be written

  // Takes `bytes` from the front; there must be so many.
  void strip(std::uint32_t bytes) {
    data += bytes;
    size -= bytes;
    headroom += bytes;
  }
  // Puts `bytes` of undefined content to the front; false, and nothing done, without the headroom.
  bool extend(std::uint32_t bytes) {
    if (bytes > headroom) return false;
    data -= bytes;
    size += bytes;
    headroom -= bytes;
    return true;
  }
};

}  // namespace verbs::mlx5::steering
