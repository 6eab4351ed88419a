// The smoothed round-trip time of an RC requester, measured on one packet at a time.
#pragma once

#include <cstdint>

#include "nic/shared/psn.h"
#include "nic/shared/time.h"

namespace verbs::soft::nic {

class RoundTrip {
 public:
  // A packet that asks for an acknowledgement leaves.
  void sent(std::uint32_t psn, Nanos now) {
    if (measuring_) return;
    measuring_ = true;
    psn_ = psn;
    sent_at_ = now;
  }

  void acknowledged(std::uint32_t una, Nanos now) {
    if (!measuring_ || !psn_before(psn_, una)) return;
    measuring_ = false;
    const Nanos sample = now - sent_at_;
    smoothed_ = smoothed_ == 0 ? sample : smoothed_ + (sample - smoothed_) / 8;
  }

  // The packet is retransmitted: its acknowledgement may belong to either copy (Karn's algorithm).
  void discard() { measuring_ = false; }

  // 0 until a first sample.
  Nanos smoothed() const { return smoothed_; }

 private:
  bool measuring_ = false;
  std::uint32_t psn_ = 0;
  Nanos sent_at_ = 0;
  Nanos smoothed_ = 0;
};

}  // namespace verbs::soft::nic
