// Containers of the NIC: tables by number, arrays that grow on use, a queue of what lingers, a heap of timers.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "nic/base/limits.h"

namespace verbs::soft::nic {

// A table of objects by a small integer: a QPN, or the index part of a key. An integer from the wire is looked up here
// and never used as an address.
template <typename T>
class Table {
 public:
  Table(std::uint32_t first, std::uint32_t limit) : first_(first), limit_(limit) {}

  // Returns the index, or 0 when the table holds `limit` objects: then `object` is destroyed.
  std::uint32_t insert(std::unique_ptr<T> object) {
    if (count_ >= limit_) return 0;
    std::uint32_t slot;
    // A freed index is not used again at once, so that a late packet does not reach a new object.
    if (free_.size() > kRest || (slots_.size() >= limit_ && !free_.empty())) {
      slot = free_.front();
      free_.pop_front();
      slots_[slot] = std::move(object);
    } else {
      while (chosen_.contains(next_new())) slots_.push_back(nullptr);
      slot = next_new() - first_;
      slots_.push_back(std::move(object));
    }
    ++count_;
    return first_ + slot;
  }

  T* find(std::uint32_t index) const {
    // Of an index below the first one, the difference is larger than any size.
    const std::size_t slot = static_cast<std::size_t>(index) - first_;
    if (slot < slots_.size() && slots_[slot]) [[likely]]
      return slots_[slot].get();
    if (chosen_.empty()) return nullptr;
    const auto found = chosen_.find(index);
    return found == chosen_.end() ? nullptr : found->second.get();
  }

  std::uint32_t limit() const { return limit_; }
  // The index that insert() takes next where it gives none again.
  std::uint32_t next_new() const { return first_ + static_cast<std::uint32_t>(slots_.size()); }

  // Gives an object an index of the caller's choice. False if insert() has given out that index, or if it is in use.
  bool renumber(std::uint32_t from, std::uint32_t to) {
    if ((to >= first_ && to < next_new()) || find(to) != nullptr || find(from) == nullptr) return false;
    const std::size_t slot = static_cast<std::size_t>(from) - first_;
    if (slot >= slots_.size()) return false;
    chosen_[to] = std::move(slots_[slot]);
    free_.push_back(static_cast<std::uint32_t>(slot));
    return true;
  }

  void erase(std::uint32_t index) {
    if (find(index) == nullptr) return;
    --count_;
    if (chosen_.erase(index) != 0) return;
    slots_[index - first_].reset();
    free_.push_back(index - first_);
  }

  std::size_t size() const { return count_; }

  // `visit(object)` may not insert or erase.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (const auto& object : slots_) {
      if (object) visit(*object);
    }
    for (const auto& [index, object] : chosen_) visit(*object);
  }

 private:
  static constexpr std::size_t kRest = 1024;
  std::uint32_t first_;
  std::uint32_t limit_;
  std::size_t count_ = 0;
  std::vector<std::unique_ptr<T>> slots_;
  std::deque<std::uint32_t> free_;
  std::map<std::uint32_t, std::unique_ptr<T>> chosen_;
};

// Removing an object when there is no memory.

// As table.erase(). The list of free indexes may lack the memory for one more: then the index is not used again.
template <typename T>
void erase(Table<T>& table, std::uint32_t index) {
  try {
    table.erase(index);
  } catch (const std::bad_alloc&) {
    return;
  }
}

// A zero-initialised array of plain values that uses memory only for the pages that are written: a queue with room for
// thousands of requests costs only as much as is posted. The kernel's zero pages do that.

template <typename T>
class LazyArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  LazyArray() = default;
  LazyArray(LazyArray&& other) noexcept { *this = std::move(other); }
  LazyArray& operator=(LazyArray&& other) noexcept {
    std::swap(values_, other.values_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~LazyArray() { release(); }

  // Throws std::bad_alloc.
  void allocate(std::size_t size) {
    release();
    if (size == 0) return;
    const std::size_t bytes = size * sizeof(T);
    void* memory = bytes < kMapped ? std::calloc(size, sizeof(T))
                                   : mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == nullptr || memory == MAP_FAILED) throw std::bad_alloc();
    values_ = static_cast<T*>(memory);
    size_ = size;
  }

  std::size_t size() const { return size_; }
  T* data() { return values_; }
  T& operator[](std::size_t index) { return values_[index]; }
  const T& operator[](std::size_t index) const { return values_[index]; }

 private:
  // Arrays from this size on are mapped: the heap would reuse pages, and have to clear them.
  static constexpr std::size_t kMapped = 32768;

  void release() {
    if (size_ * sizeof(T) < kMapped) {
      std::free(values_);
    } else {
      munmap(values_, size_ * sizeof(T));
    }
    values_ = nullptr;
    size_ = 0;
  }

  T* values_ = nullptr;
  std::size_t size_ = 0;
};

// Memory of objects that programs hold pointers to, and that calls read before they take a lock. A call may be under
// way with an object that another thread destroys, which is the program's error; it must find an object that is gone,
// and not somebody else's memory. So the last kept ones of a type stay as they are, until as many others were
// destroyed.

// A base class. Without a lock, so that a fork cannot leave one behind.
template <typename T>
class Lingering {
 public:
  static constexpr std::size_t kKept = 1024;

  // Not inline: then compilers see a pair.
  [[gnu::noinline]] static void* operator new(std::size_t size) { return ::operator new(size); }
  [[gnu::noinline]] static void operator delete(void* at) {
    const std::size_t next = count.fetch_add(1, std::memory_order_relaxed) % kKept;
    ::operator delete(gone[next].exchange(at, std::memory_order_acq_rel));
  }

 private:
  static inline std::atomic<std::size_t> count{0};
  static inline std::array<std::atomic<void*>, kKept> gone{};
};

// A heap of deadlines. Re-arming to a later time is free: the heap keeps the earlier entry, and puts the slot back with
// its real deadline when that entry expires.

// The base of an object with a timer.
struct TimerSlot {
  Nanos deadline = kNever;       // the real one
  Nanos queued = kNever;         // the one in the heap
  std::uint32_t heap_index = 0;  // 1-based; 0 when it is not in the heap
};

class TimerHeap {
 public:
  // For so many slots: arm() needs no memory then. A timer that has none would never be due.
  void make_room(std::size_t slots) {
    if (slots > heap_.capacity()) heap_.reserve(std::max(slots, 2 * heap_.capacity()));
  }

  // `slot` stays where it is until remove(). Without memory (std::bad_alloc) it has no deadline.
  void arm(TimerSlot& slot, Nanos deadline) {
    if (slot.heap_index == 0) {
      if (deadline == kNever) return;
      heap_.push_back(&slot);
      slot.heap_index = static_cast<std::uint32_t>(heap_.size());
      slot.queued = kNever;
    }
    slot.deadline = deadline;
    if (slot.queued <= deadline) return;
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
