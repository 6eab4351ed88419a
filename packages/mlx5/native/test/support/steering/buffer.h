// Bytes for tests: from hexadecimal text, and in a buffer of exactly the room that a frame is to have, so that a
// sanitizer sees whoever goes beyond.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "steering/headers/frame.h"

namespace verbs::mlx5::steering::test {

using Bytes = std::vector<std::uint8_t>;

// Blanks may stand anywhere.
Bytes from_hex(std::string_view text);
std::string to_hex(const Bytes& bytes);
Bytes operator+(Bytes first, const Bytes& second);
inline Bytes bytes_of(const Frame& frame) { return {frame.data, frame.data + frame.size}; }

class FrameBuffer {
 public:
  explicit FrameBuffer(const Bytes& frame, std::uint32_t headroom = 128);
  Frame frame() const { return frame_; }

 private:
  std::unique_ptr<std::uint8_t[]> memory_;
  Frame frame_;
};

}  // namespace verbs::mlx5::steering::test
