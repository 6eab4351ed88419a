// The bytes of one execution, read piece by piece. Bytes beyond the end are zero, so that every input means
// something and a longer one continues a shorter one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace verbs::soft::fuzz {

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : rest_(data, size) {}

  bool empty() const { return rest_.empty(); }

  template <typename T>
  T take() {
    T value{};
    const std::size_t size = std::min(sizeof value, rest_.size());
    if (size > 0) std::memcpy(&value, rest_.data(), size);
    rest_ = rest_.subspan(size);
    return value;
  }

  std::uint8_t byte() { return take<std::uint8_t>(); }
  // A number from 0 to `count` - 1.
  std::size_t below(std::size_t count) { return byte() % count; }
  // True about once in `count` times.
  bool one_in(std::size_t count) { return below(count) == count - 1; }

  std::span<const std::uint8_t> bytes(std::size_t count) {
    const std::span<const std::uint8_t> taken = rest_.first(std::min(count, rest_.size()));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }
  std::span<const std::uint8_t> all() { return bytes(rest_.size()); }
  std::string_view text() {
    const auto taken = all();
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }

 private:
  std::span<const std::uint8_t> rest_;
};

}  // namespace verbs::soft::fuzz

// What a fuzzer calls for each input.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
