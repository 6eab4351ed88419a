// The congestion window of an RC requester: how many packets may be unacknowledged. A lost packet takes an eighth of
// it, acknowledged packets grow it (additive increase, multiplicative decrease). Nothing else slows the requester down,
// and the receiver's socket buffer is finite. On a path that loses one packet in a hundred, which the kernel's buffers
// do not, a window that halves stays near its minimum, and a stream has half of the rate.
#pragma once

#include <algorithm>
#include <cstdint>

namespace verbs::soft::nic {

class CongestionWindow {
 public:
  static constexpr std::uint32_t kInitial = 32;
  static constexpr std::uint32_t kMinimum = 8;
  static constexpr std::uint32_t kMaximum = 128;

  // Packets that a window of acknowledged ones adds.
  static constexpr std::uint32_t kGrowth = 2;

  std::uint32_t packets() const { return packets_; }

  void acknowledged(std::uint32_t count) {
    credit_ += count;
    while (credit_ >= packets_ / kGrowth && packets_ < kMaximum) {
      credit_ -= packets_ / kGrowth;
      ++packets_;
    }
    credit_ = std::min(credit_, packets_);
  }

  void lost() {
    packets_ = std::max(packets_ - packets_ / 8, kMinimum);
    credit_ = 0;
  }

 private:
  std::uint32_t packets_ = kInitial;
  std::uint32_t credit_ = 0;
};

}  // namespace verbs::soft::nic
