// Ranges of memory whose faults belong to somebody: a model's pages of registers, for example.
#pragma once

#include <signal.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace verbs::soft::guard {

// Called in the signal handler of the thread that faulted, with the program's signals blocked. It changes `context` and
// answers other than 0, or the fault is passed on.
using RangeHandler = int (*)(void* data, void* info, void* context);

class WatchedRanges {
 public:
  static constexpr std::size_t kCapacity = 64;

  // 0, EINVAL (an empty range, one that wraps around, no handler), EEXIST (it overlaps another one) or ENOMEM.
  int add(void* address, std::size_t size, RangeHandler handler, void* data);
  // The range that begins there; ENOENT without one. No call of its handler is in progress on return.
  int remove(const void* address);

  // Async-signal-safe. Whether the fault was in a range and its handler took it.
  bool handle(siginfo_t* info, void* context);

 private:
  struct Range {
    std::uintptr_t begin;
    std::size_t size;
    RangeHandler handler;
    void* data;
  };
  struct Slot {
    std::atomic<const Range*> range{nullptr};
    std::atomic<unsigned> inside{0};
  };

  bool overlaps(std::uintptr_t begin, std::size_t size) const;

  Slot slots_[kCapacity];
};

WatchedRanges& watched_ranges();

}  // namespace verbs::soft::guard
