// Copies of frames that wait until they are due. All memory is allocated at construction.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "link/link.h"

namespace verbs::soft::link {

class DelayQueue {
 public:
  explicit DelayQueue(std::size_t capacity);

  // False if the queue is full.
  bool push(std::span<const std::uint8_t> frame, Nanos due);
  bool full() const { return free_.empty(); }
  bool empty() const { return heap_.empty(); }
  // When the first frame is due; INT64_MAX if there is none.
  Nanos next_due() const;
  // The frame that is due first; of frames that are due at the same time, the one that was pushed first. Valid until
  // pop() or push().
  std::span<const std::uint8_t> front() const;
  void pop();

 private:
  struct Entry {
    Nanos due;
    std::uint64_t sequence;
    std::uint32_t slot;
    std::uint32_t size;
  };
  static bool later(const Entry& a, const Entry& b);
  const std::uint8_t* slot(std::uint32_t index) const { return frames_.data() + index * wire::kMaxFrame; }

  std::uint64_t sequence_ = 0;
  std::vector<Entry> heap_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint8_t> frames_;
};

}  // namespace verbs::soft::link
