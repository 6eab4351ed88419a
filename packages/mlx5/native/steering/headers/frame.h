// An Ethernet frame without FCS, in a buffer of the caller's with room before and after it, so that headers are added
// and removed in place.
#pragma once

#include <cstdint>

namespace verbs::mlx5::steering {

struct Frame {
  std::uint8_t* data = nullptr;
  std::uint32_t size = 0;
  std::uint32_t headroom = 0;  // bytes before `data` that may be written
  std::uint32_t tailroom = 0;  // bytes after the frame that may be written

  // Removes `bytes` <= size from the front.
  void strip(std::uint32_t bytes) {
    data += bytes;
    size -= bytes;
    headroom += bytes;
  }
  // Adds `bytes` of undefined content at the front; false without the headroom.
  bool extend(std::uint32_t bytes) {
    if (bytes > headroom) return false;
    data -= bytes;
    size += bytes;
    headroom -= bytes;
    return true;
  }
};

}  // namespace verbs::mlx5::steering
