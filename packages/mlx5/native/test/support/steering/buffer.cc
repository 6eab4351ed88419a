#include "test/support/steering/buffer.h"

#include <algorithm>
#include <stdexcept>

namespace verbs::mlx5::steering::test {

namespace {

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  throw std::invalid_argument("not a hexadecimal digit");
}

}  // namespace

Bytes from_hex(std::string_view text) {
  std::string digits;
  std::copy_if(text.begin(), text.end(), std::back_inserter(digits), [](char c) { return c != ' ' && c != '\n'; });
  if (digits.size() % 2 != 0) throw std::invalid_argument("half a byte");
  Bytes bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    bytes.push_back(static_cast<std::uint8_t>(digit_of(digits[i]) * 16 + digit_of(digits[i + 1])));
  }
  return bytes;
}

std::string to_hex(const Bytes& bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

Bytes operator+(Bytes first, const Bytes& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

FrameBuffer::FrameBuffer(const Bytes& frame, std::uint32_t headroom)
    : memory_(std::make_unique<std::uint8_t[]>(headroom + frame.size())),
      frame_{memory_.get() + headroom, static_cast<std::uint32_t>(frame.size()), headroom, 0} {
  std::copy(frame.begin(), frame.end(), frame_.data);
}

}  // namespace verbs::mlx5::steering::test
