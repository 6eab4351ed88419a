// What was sent and is not known to have arrived. Only some sends ask the NIC for a completion, which stands for all
// before it: an acknowledgement of each would cost as much as the message.
#pragma once

#include <algorithm>
#include <cstdint>

namespace verbs::doca_comm::model {

class InFlight {
 public:
  // Each is in a slot of its own; `queue` is what the user may have on its way, and one slot is the farewell's.
  explicit InFlight(std::uint32_t queue) : slots_(queue + 1), often_(std::max(1u, queue / 4)) {}

  std::uint32_t slots() const { return slots_; }
  std::uint64_t posted() const { return posted_; }
  std::uint64_t count() const { return posted_ - completed_; }
  std::uint32_t next_slot() const { return static_cast<std::uint32_t>(posted_ % slots_); }
  std::uint32_t last_slot() const { return static_cast<std::uint32_t>((posted_ + slots_ - 1) % slots_); }

  // Whether it is time that one asks for a completion.
  bool due() const { return posted_ + 1 - asked_ >= often_; }
  // Whether the last of them would complete only with later ones.
  bool open() const { return asked_ != posted_; }
  // Whether all of them would.
  bool silent() const { return count() > 0 && asked_ <= completed_; }
  void post(bool asks) {
    ++posted_;
    if (asks) asked_ = posted_;
  }
  // Something behind all of them has asked.
  void ask() { asked_ = posted_; }
  // Those up to the one in this slot.
  void complete(std::uint32_t slot) { completed_ += (slot + slots_ - completed_ % slots_) % slots_ + 1; }

 private:
  std::uint32_t slots_;
  std::uint32_t often_;
  std::uint64_t posted_ = 0;
  std::uint64_t completed_ = 0;
  std::uint64_t asked_ = 0;  // as `posted_` was when one asked last
};

}  // namespace verbs::doca_comm::model
