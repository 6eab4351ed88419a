// Completion timestamps on the wall clock. They never run backwards from one completion to a later one, although the
// wall clock may be set back, and two readings of it and of the monotonic clock are never taken at once: one difference
// of the clocks serves a whole poll, and it shrinks at most half as fast as time passes.
#pragma once

#include <algorithm>

#include "host/progress/clock.h"

namespace verbs::soft::abi {

class WallTime {
 public:
  // Before the completions of a poll are read, of which the first is from `at`: the clocks differ by `offset` now.
  void synchronize(host::Nanos at, host::Nanos offset) {
    offset_ = started_ ? std::max(offset, offset_ - (at - last_) / 2) : offset;
    started_ = true;
  }
  // Nanoseconds since 1970 of a completion from `at`.
  host::Nanos read(host::Nanos at) {
    last_ = std::max(last_, at);
    return at + offset_;
  }

 private:
  bool started_ = false;
  host::Nanos offset_ = 0;
  host::Nanos last_ = 0;  // of the completions that were read
};

}  // namespace verbs::soft::abi
