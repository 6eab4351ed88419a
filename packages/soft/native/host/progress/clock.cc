#include "host/progress/clock.h"

#include <fcntl.h>
#include <unistd.h>

#include <string_view>

namespace verbs::soft::host {
namespace {

constexpr Nanos kLeast = 10 * kMillisecond;   // of a measurement of the speed
constexpr Nanos kMost = 1000 * kMillisecond;  // … and then it begins anew, since a virtual machine may move
// A reading that took longer was interrupted, and is no measurement.
constexpr std::uint64_t kMostTicks = 400;
// The speeds of counters: in a nanosecond at most so many ticks, and one in so many nanoseconds at least.
constexpr std::uint64_t kFastest = 8;
constexpr std::uint64_t kSlowest = 10;
// The time of the counter is ahead of the kernel's by less, and waits for it.
constexpr Nanos kAhead = 1000;

bool kernel_counts_ticks() {
#if defined(__x86_64__)
  const int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char text[16];
  const ssize_t size = read(fd, text, sizeof text);
  close(fd);
  return size > 0 && std::string_view(text, static_cast<std::size_t>(size)) == "tsc\n";
#else
  return false;
#endif
}

}  // namespace

constinit CounterClock counter_clock;

Nanos CounterClock::renew() {
  static const bool kUsable = kernel_counts_ticks();
  const std::uint64_t ticks = guard::ticks();
  const Nanos time = read_clock(CLOCK_MONOTONIC);
  if (!kUsable || guard::ticks() - ticks > kMostTicks) return time;
  std::uint32_t version = version_.load(std::memory_order_relaxed);
  if (version % 2 != 0 || !version_.compare_exchange_strong(version, version + 1, std::memory_order_acquire))
    return time;
  std::atomic_thread_fence(std::memory_order_release);
  learn(ticks, time);
  version_.store(version + 2, std::memory_order_release);
  return time_.load(std::memory_order_relaxed);
}

std::uint64_t CounterClock::scale_of(std::uint64_t ticks, Nanos time) {
  const auto nanos = static_cast<std::uint64_t>(time);
  if (time <= 0 || ticks == 0 || ticks / kFastest > nanos || nanos / kSlowest > ticks) return 0;
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(nanos) << kScaleBits) / ticks);
}

void CounterClock::learn(std::uint64_t ticks, Nanos time) {
  const std::uint64_t elapsed = ticks - ticks_.load(std::memory_order_relaxed);
  const std::uint64_t added = elapsed * scale_.load(std::memory_order_relaxed) >> kScaleBits;
  const Nanos counted = time_.load(std::memory_order_relaxed) + static_cast<Nanos>(added);
  const bool ahead = counted > time && counted - time < kAhead;
  ticks_.store(ticks, std::memory_order_relaxed);
  time_.store(ahead && elapsed < 2 * lasts_.load(std::memory_order_relaxed) ? counted : time,
              std::memory_order_relaxed);
  const Nanos measured = time - first_time_;
  bool anew = first_time_ == 0 || measured >= kMost;
  if (first_time_ != 0 && measured >= kLeast && measured <= 2 * kMost) {
    const std::uint64_t scale = scale_of(ticks - first_ticks_, measured);
    const std::uint64_t lasts = scale == 0 ? 0 : (static_cast<std::uint64_t>(kMillisecond) << kScaleBits) / scale;
    scale_.store(scale, std::memory_order_relaxed);
    lasts_.store(lasts, std::memory_order_relaxed);
    anew = anew || scale == 0;
  }
  if (!anew) return;
  first_ticks_ = ticks;
  first_time_ = time;
}

}  // namespace verbs::soft::host
