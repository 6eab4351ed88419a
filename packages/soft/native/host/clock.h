// The NIC's time: CLOCK_MONOTONIC in nanoseconds.
#pragma once

#include <ctime>

#include "../link/link.h"

namespace verbs::soft::host {

using link::Nanos;

inline constexpr Nanos kMillisecond = 1'000'000;

inline Nanos now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<Nanos>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

}  // namespace verbs::soft::host
