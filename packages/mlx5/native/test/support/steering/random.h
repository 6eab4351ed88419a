// Random headers of every kind, from a seed.
#pragma once

#include <random>

#include "test/support/steering/tunnel_model.h"

namespace verbs::mlx5::steering::test {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t bits() { return engine_(); }
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(engine_() % limit); }
  bool one_in(std::uint32_t count) { return below(count) == 0; }
  template <typename T>
  T any() {
    return static_cast<T>(engine_());
  }
  Bytes bytes(std::size_t count);

  Tag tag();
  IpHeader ip();
  FrameModel frame();
  TunnelModel tunnel();

 private:
  std::mt19937_64 engine_;
};

}  // namespace verbs::mlx5::steering::test
