// Numbers that a seed decides on every machine, which those of <random>'s distributions are not.
#pragma once

#include <cstdint>

namespace verbs::soft::test::faults {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  // SplitMix64
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }

 private:
  std::uint64_t state_;
};

}  // namespace verbs::soft::test::faults
