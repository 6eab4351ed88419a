// The ranges of queue pair numbers that a device has. Devices that share addresses, in whatever processes, have
// different ranges: a range is claimed by the name of a socket, which the kernel gives to one process only and takes
// back when that dies. So there is no owner of the space, no list that a dead process leaves behind, and no lock that a
// stopped one holds.
//
// The first device of a user in a network namespace has range 0, whose numbers begin at 17. Later ones begin anywhere:
// a number that a dead process had is not soon another one's, for whom packets may still be under way.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "link/frame_range.h"

namespace verbs::soft::link {

class NumberRanges {
 public:
  // Of a device that shares no address: it has all numbers.
  static std::shared_ptr<NumberRanges> all();
  // 0 or errno; EADDRINUSE: every range is taken.
  static int claim(std::shared_ptr<NumberRanges>* ranges);
  ~NumberRanges();
  NumberRanges(const NumberRanges&) = delete;
  NumberRanges& operator=(const NumberRanges&) = delete;

  bool has_all() const { return all_; }
  // For any thread.
  bool owns(Range range) const {
    return all_ || (range < kRanges && (bits_[range / 64].load(std::memory_order_relaxed) >> range % 64 & 1) != 0);
  }
  Range first() const { return first_; }
  // The last one of those that follow the first.
  Range last() const { return last_; }
  // Claims the one behind it. 0 or errno; EADDRINUSE if another device has it.
  int claim_next();
  // One that was claimed at each address, for numbers that a program chooses.
  void add(Range range) { set(range); }

  // In a forked child, whose parent has them.
  void abandon();

 private:
  explicit NumberRanges(bool all) : all_(all) {}
  int lock(Range range);
  void set(Range range) { bits_[range / 64].fetch_or(std::uint64_t{1} << range % 64, std::memory_order_relaxed); }

  bool all_;
  Range first_ = 0;
  Range last_ = 0;
  std::array<std::atomic<std::uint64_t>, kRanges / 64> bits_{};
  std::vector<int> names_;
};

}  // namespace verbs::soft::link
