// Bytes for tests: from hexadecimal text, and in a buffer of exactly a frame's size, so that a sanitizer detects
// accesses beyond.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "steering/headers/parser.h"

namespace verbs::mlx5::steering::test {

using Bytes = std::vector<std::uint8_t>;

// Blanks are ignored.
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
