// A heap of deadlines. Re-arming to a later time is free: the heap keeps the earlier entry, and puts the slot back with
// its real deadline when that entry expires.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "nic/shared/time.h"

namespace verbs::soft::nic {

// The base of an object with a timer.
struct TimerSlot {
  Nanos deadline = kNever;       // the real one
  Nanos queued = kNever;         // the one in the heap
  std::uint32_t heap_index = 0;  // 1-based; 0 when it is not in the heap
};

class TimerHeap {
 public:
  // `slot` stays where it is until remove().
  void arm(TimerSlot& slot, Nanos deadline) {
    slot.deadline = deadline;
    if (deadline == kNever || (slot.heap_index != 0 && slot.queued <= deadline)) return;
    if (slot.heap_index == 0) {
      heap_.push_back(&slot);
      slot.heap_index = static_cast<std::uint32_t>(heap_.size());
    }
    slot.queued = deadline;
    up(slot.heap_index - 1);
  }

  void cancel(TimerSlot& slot) { slot.deadline = kNever; }

  void remove(TimerSlot& slot) {
    slot.deadline = kNever;
    if (slot.heap_index == 0) return;
    const std::size_t at = slot.heap_index - 1;
    TimerSlot* last = heap_.back();
    heap_.pop_back();
    slot.heap_index = 0;
    if (last == &slot) return;
    heap_[at] = last;
    last->heap_index = static_cast<std::uint32_t>(at + 1);
    up(at);
    down(last->heap_index - 1);
  }

  Nanos next() const { return heap_.empty() ? kNever : heap_.front()->queued; }

  // Removes and disarms the next slot that is due by `now`; nullptr when there is none.
  TimerSlot* expire(Nanos now) {
    while (!heap_.empty() && heap_.front()->queued <= now) {
      TimerSlot& slot = *heap_.front();
      const Nanos deadline = slot.deadline;
      remove(slot);
      if (deadline <= now) return &slot;
      if (deadline != kNever) arm(slot, deadline);
    }
    return nullptr;
  }

 private:
  void swap(std::size_t a, std::size_t b) {
    std::swap(heap_[a], heap_[b]);
    heap_[a]->heap_index = static_cast<std::uint32_t>(a + 1);
    heap_[b]->heap_index = static_cast<std::uint32_t>(b + 1);
  }

  void up(std::size_t at) {
    while (at > 0 && heap_[at]->queued < heap_[(at - 1) / 2]->queued) {
      swap(at, (at - 1) / 2);
      at = (at - 1) / 2;
    }
  }

  void down(std::size_t at) {
    for (;;) {
      std::size_t least = at;
      for (std::size_t child = 2 * at + 1; child <= 2 * at + 2 && child < heap_.size(); ++child) {
        if (heap_[child]->queued < heap_[least]->queued) least = child;
      }
      if (least == at) return;
      swap(at, least);
      at = least;
    }
  }

  std::vector<TimerSlot*> heap_;
};

}  // namespace verbs::soft::nic
