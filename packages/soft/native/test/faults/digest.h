// A hash over everything that a cell does (FNV-1a, 64 bits): equal runs have equal hashes.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace verbs::soft::test::faults {

class Digest {
 public:
  void add(const void* bytes, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) value_ = (value_ ^ static_cast<const std::uint8_t*>(bytes)[i]) * kPrime;
  }
  void add(std::uint64_t number) { add(&number, sizeof number); }
  void add(std::string_view text) { add(text.data(), text.size()); }
  std::uint64_t value() const { return value_; }

 private:
  static constexpr std::uint64_t kPrime = 0x100000001b3;
  std::uint64_t value_ = 0xcbf29ce484222325;
};

}  // namespace verbs::soft::test::faults
