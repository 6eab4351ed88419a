// Waiting for a descriptor.
#pragma once

#include <poll.h>

namespace verbs::soft::test {

inline constexpr int kLong = 30'000;  // only a hang takes that many milliseconds

inline bool readable(int fd, int timeout) {
  pollfd entry{fd, POLLIN, 0};
  return poll(&entry, 1, timeout) == 1;
}

}  // namespace verbs::soft::test
