// The time of the model: nanoseconds of the monotonic clock.
#pragma once

#include <time.h>

#include <cstdint>

namespace verbs::doca_comm::model {

using Nanos = std::int64_t;

inline constexpr Nanos kMillisecond = 1'000'000;
inline constexpr Nanos kSecond = 1'000'000'000;
inline constexpr Nanos kNever = INT64_MAX;

inline Nanos now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * kSecond + time.tv_nsec;
}

}  // namespace verbs::doca_comm::model
