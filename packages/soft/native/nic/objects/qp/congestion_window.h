// The congestion window of an RC requester: how many packets may be unacknowledged. A lost packet halves it,
// acknowledged packets grow it (additive increase, multiplicative decrease). Nothing else slows the requester down, and
// the receiver's socket buffer is finite.
#pragma once

#include <algorithm>
#include <cstdint>

namespace verbs::soft::nic {

class CongestionWindow {
 public:
  static constexpr std::uint32_t kInitial = 32;
  static constexpr std::uint32_t kMinimum = 8;
  static constexpr std::uint32_t kMaximum = 128;

  std::uint32_t packets() const { return packets_; }

  void acknowledged(std::uint32_t count) {
    credit_ += count;
    while (credit_ >= packets_ && packets_ < kMaximum) {
      credit_ -= packets_;
      ++packets_;
    }
    credit_ = std::min(credit_, packets_);
  }

  void lost() {
    packets_ = std::max(packets_ / 2, kMinimum);
    credit_ = 0;
  }

 private:
  std::uint32_t packets_ = kInitial;
  std::uint32_t credit_ = 0;
};

}  // namespace verbs::soft::nic
