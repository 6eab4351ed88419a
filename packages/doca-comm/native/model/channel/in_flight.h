// The messages that were sent and are not acknowledged yet. Only some of the sends are signaled: the completion of one
// stands for all before it. A signaled send each would cost as much as the message.
#pragma once

#include <algorithm>
#include <cstdint>

namespace verbs::doca_comm::model {

class InFlight {
 public:
  // Each message has a slot of memory. `queue` is the number of messages that the user may have in flight; one more
  // slot is for the disconnect message.
  // `prompt`: the user waits for each acknowledgement, so that one is always on its way.
  InFlight(std::uint32_t queue, bool prompt)
      : slots_(queue + 1), interval_(std::clamp(queue / 4, 1u, kMaxInterval)), prompt_(prompt) {}

  std::uint32_t slots() const { return slots_; }
  std::uint64_t completed() const { return completed_; }
  // Whether a sender should look for acknowledgements before it sends: before the queue is full, so that it learns of
  // errors and memory becomes free, but not for every message.
  bool poll_due() const { return count() >= std::min<std::uint64_t>(slots_ / 2, 4 * kMaxInterval); }
  std::uint64_t posted() const { return posted_; }
  std::uint64_t count() const { return posted_ - completed_; }
  std::uint32_t next_slot() const { return static_cast<std::uint32_t>(posted_ % slots_); }
  std::uint32_t last_slot() const { return static_cast<std::uint32_t>((posted_ + slots_ - 1) % slots_); }

  // Whether the next send should be signaled.
  bool signal_due() const { return posted_ + 1 - signaled_ >= interval_ || (prompt_ && signaled_ <= completed_); }
  // Whether no completion is requested for the last message.
  bool last_unsignaled() const { return signaled_ != posted_; }
  // Whether there are messages in flight, and no completion is requested for any of them.
  bool all_unsignaled() const { return count() > 0 && signaled_ <= completed_; }
  void post(bool signaled) {
    ++posted_;
    if (signaled) signaled_ = posted_;
  }
  // A signaled work request was posted behind all messages.
  void flush() { signaled_ = posted_; }
  // Completes the messages up to the one in this slot.
  void complete(std::uint32_t slot) { completed_ += (slot + slots_ - completed_ % slots_) % slots_ + 1; }

 private:
  // However long the queue is: the memory of a message is free only when it is known to be acknowledged.
  static constexpr std::uint32_t kMaxInterval = 64;
  std::uint32_t slots_;
  std::uint32_t interval_;
  bool prompt_;
  std::uint64_t posted_ = 0;
  std::uint64_t completed_ = 0;
  std::uint64_t signaled_ = 0;  // the value of posted_ after the last signaled send
};

}  // namespace verbs::doca_comm::model
