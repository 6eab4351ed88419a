// The NIC's time: CLOCK_MONOTONIC in nanoseconds.
//
// Each call of the data path needs it once or twice. The C library's reading takes 27 ns, a tenth of all that a small
// message costs. So between two readings, of which one comes in each millisecond, the time is what the processor's
// counter adds, where the kernel itself keeps the time by that (the clock source "tsc").
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>

#include "guard/fault_signals.h"
#include "link/link.h"

namespace verbs::soft::host {

using link::Nanos;

inline constexpr Nanos kMillisecond = 1'000'000;

inline Nanos read_clock(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<Nanos>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

// The last reading of the kernel's clock, and how fast the counter goes. Any thread reads it; one that finds it too old
// renews it. The time is right to a microsecond. It may go back, by less than that, and seldom does.
class CounterClock {
 public:
  Nanos now() {
    const std::uint32_t version = version_.load(std::memory_order_acquire);
    const std::uint64_t elapsed = guard::ticks() - ticks_.load(std::memory_order_relaxed);
    const std::uint64_t lasts = lasts_.load(std::memory_order_relaxed);
    const std::uint64_t added = elapsed * scale_.load(std::memory_order_relaxed) >> kScaleBits;
    const Nanos time = time_.load(std::memory_order_relaxed) + static_cast<Nanos>(added);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (elapsed < lasts && version % 2 == 0 && version_.load(std::memory_order_relaxed) == version) return time;
    return renew();
  }

  // Nanoseconds a tick, times 2^32, of a counter that made `ticks` in `time`. 0 if no processor's is so fast or so
  // slow: it was reset, or went on alone while the machine was suspended.
  static std::uint64_t scale_of(std::uint64_t ticks, Nanos time);

 private:
  static constexpr unsigned kScaleBits = 32;

  Nanos renew();
  void learn(std::uint64_t ticks, Nanos time);

  // Odd while a thread writes the others. In the child of a fork that came just then it stays so, and each time is
  // read.
  std::atomic<std::uint32_t> version_{0};
  std::atomic<std::uint64_t> lasts_{0};  // ticks in a millisecond; 0 until they are known, and where they are no time
  std::atomic<std::uint64_t> scale_{0};  // nanoseconds a tick
  std::atomic<std::uint64_t> ticks_{0};
  std::atomic<Nanos> time_{0};
  // From here on the speed is measured.
  std::uint64_t first_ticks_ = 0;
  Nanos first_time_ = 0;
};

extern constinit CounterClock counter_clock;

inline Nanos now() { return counter_clock.now(); }

// The difference of the wall clock (CLOCK_REALTIME, nanoseconds since 1970) and now().
inline Nanos wall_clock_offset() { return read_clock(CLOCK_REALTIME) - now(); }

}  // namespace verbs::soft::host
