// The NIC's time: CLOCK_MONOTONIC in nanoseconds.
#pragma once

#include <ctime>

#include "link/link.h"

namespace verbs::soft::host {

using link::Nanos;

inline constexpr Nanos kMillisecond = 1'000'000;

inline Nanos now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<Nanos>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

// The difference of the wall clock (CLOCK_REALTIME, nanoseconds since 1970) and now().
inline Nanos wall_clock_offset() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<Nanos>(time.tv_sec) * 1'000'000'000 + time.tv_nsec - now();
}

}  // namespace verbs::soft::host
